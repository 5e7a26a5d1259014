"""The plot of a record: steps per CPU second, contender by contender, on a logarithmic axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reinfors.bench.plan import ENVPOOL, GYMNASIUM, HALVES, HERE, OLD, STREAM, WITH_TORCH
from reinfors.bench.report import Record, median, rows_of, sections

if TYPE_CHECKING:
    from pathlib import Path

COLOURS = {GYMNASIUM: "#9e9e9e", ENVPOOL: "#5c9ead", OLD: "#e0a458", HERE: "#326273", WITH_TORCH: "#326273"}


def refusal(path: Path) -> str | None:
    """Why no plot can be written to a path."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - only who asks for a plot needs it
    except ImportError:
        return "--plot needs matplotlib: pip install 'reinfors[plot]'"
    kinds = sorted(Figure().canvas.get_supported_filetypes())
    if path.suffix[1:].lower() in kinds:
        return None
    return f"--plot does not know the kind of file of {path.name}: its name must end in one of .{', .'.join(kinds)}"


def draw(run: Record, path: Path) -> None:
    """Writes the plot of a record to a path of which there is no `refusal`; its ending tells the kind of file."""
    import matplotlib as mpl  # noqa: PLC0415 - only who asks for a plot needs it
    from matplotlib.figure import Figure  # noqa: PLC0415

    # These wait by design: their processors' time says nothing.
    shown = [section for section in sections(run) if section not in {STREAM, HALVES}]
    heights = [len(rows_of(run, section)) for section in shown]
    with mpl.rc_context({"svg.hashsalt": "reinfors", "font.size": 9, "svg.fonttype": "none"}):
        figure = Figure(figsize=(8.5, 0.27 * sum(heights) + 0.5 * len(shown) + 0.5), layout="constrained")
        panels = figure.subplots(len(shown), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
        for panel, section in zip(panels, shown, strict=True):
            rows = rows_of(run, section)[::-1]
            speeds = [median(row, "cpu") for row in rows]
            bars = panel.barh([row["name"] for row in rows], speeds, color=[COLOURS[row["peer"]] for row in rows])
            panel.bar_label(bars, labels=[f"{speed:,.0f}" for speed in speeds], padding=3)
            panel.set_title(section, loc="left", fontsize=9, fontweight="bold")
            panel.set_xscale("log")
            panel.margins(x=0.15)
            panel.spines[["top", "right"]].set_visible(False)
        panels[-1].set_xlabel("steps per CPU second")
        when = run["machine"]["when"]
        figure.savefig(path, metadata={"Description": when, "Date": None} if path.suffix == ".svg" else None)
