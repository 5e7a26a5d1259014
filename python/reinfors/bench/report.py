"""A run as a record that JSON can hold, and the record in words: what the terminal shows and the documentation has.

Every ratio is one of `times`: of trials that were taken in turns, the median.
"""

from __future__ import annotations

import statistics
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from reinfors.bench.contenders import OPENING
from reinfors.bench.plan import (
    BASELINE,
    DRIVERS,
    ENGINE,
    ENGINE_ALL,
    ENV,
    ENVPOOL,
    GYMNASIUM,
    HALVES,
    HERE,
    NETWORK,
    OLD,
    ONE_GAME,
    STATE_ONLY,
    STREAM,
    VECTOR,
    VECTOR_ALL,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reinfors.bench.race import Result

Record = dict[str, Any]
Row = dict[str, Any]

PEERS = (GYMNASIUM, ENVPOOL, OLD)
FRAMES = ("exact frames", "fast frames")
EPISODE = ENV.max_episode_steps or 1  # steps of one that nothing ends earlier

COLUMNS = [
    "contender",
    "steps/s",
    "lowest to highest",
    "steps per CPU second",
    "CPU us per decision",
    "steps of an episode, by trial",
]


def record(results: Sequence[Result], **about: Any) -> Record:  # noqa: ANN401 - whatever JSON can hold
    """Everything that was measured, beside what `about` says of the run."""
    frames = {result.about["first_frame"] for result in results if result.entry.peer == GYMNASIUM}
    rows = []
    for result in results:
        entry, frame = result.entry, result.about["first_frame"]
        rows.append(
            {
                "section": entry.section,
                "peer": entry.peer,
                "what": entry.what,
                "driver": entry.driver,
                "name": entry.name,
                "options": entry.options,
                "n_games": entry.n_games,
                "n_threads": entry.n_threads,
                "cpu_level": result.about.get("cpu_level"),
                "steps_per_decision": entry.steps_per_decision,
                "library": f"{result.about['library']} {result.about['version']}",
                "shows_the_reference": None if frame is None or not frames else frame in frames,
                "trials": [trial._asdict() for trial in result.trials],
                "report": result.report,
            }
        )
    return {**about, "rows": rows}


def sections(run: Record) -> list[str]:
    """The names of the sections that were measured, in order."""
    return list(dict.fromkeys(row["section"] for row in run["rows"]))


def rows_of(run: Record, section: str) -> list[Row]:
    """The contenders of a section."""
    return [row for row in run["rows"] if row["section"] == section]


def median(row: Row, figure: str) -> float:
    """The trial of a row that counts, by a figure of it."""
    return float(statistics.median(trial[figure] for trial in row["trials"]))


def times(ours: Row, ours_figure: str, theirs: Row, theirs_figure: str) -> float:
    """How many times the figure of one row is that of another: the median of the trials' ratios.

    The turns of a trial are near in time, for all rows: what slows the machine down for a while is in both figures.
    """
    pairs = zip(ours["trials"], theirs["trials"], strict=True)
    return float(statistics.median(one[ours_figure] / other[theirs_figure] for one, other in pairs))


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown, its columns aligned for those who read it as it is."""
    lines = [list(header), *map(list, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]

    def joined(line: Sequence[str]) -> str:
        return "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |"

    return "\n".join(
        [joined(lines[0]), "|" + "|".join("-" * (width + 2) for width in widths) + "|", *map(joined, lines[1:])]
    )


def covered(row: Row) -> str:
    """Which steps of an episode the trials were of, had each all of its steps; how many episodes, where they are whole.

    All games begin at once, play the opening before anything counts, and go on where the turn before left them. What
    overlaps plays some batches more between its turns: only how much it played is told of it.
    """
    steps = [trial["steps"] / row["n_games"] for trial in row["trials"]]
    whole = [taken / EPISODE for taken in steps]
    if min(whole) >= 1 or row["trials"][0]["against"]:
        return f"{min(whole):.1f} to {max(whole):.1f} episodes"
    ends = list(accumulate(steps, initial=OPENING))
    return ", ".join(f"{begin % EPISODE:.0f} to {end % EPISODE:.0f}" for begin, end in pairwise(ends))


def section_table(run: Record, section: str) -> str:
    """The figures of a section."""
    cells = []
    for row in rows_of(run, section):
        walls = [trial["wall"] for trial in row["trials"]]
        cells.append(
            [
                row["name"],
                f"{median(row, 'wall'):,.0f}",
                f"{min(walls):,.0f} to {max(walls):,.0f}",
                f"{median(row, 'cpu'):,.0f}",
                f"{1e6 * row['steps_per_decision'] / median(row, 'cpu'):,.1f}",
                covered(row),
            ]
        )
    return table(COLUMNS, cells)


def find(run: Record, section: str, **wanted: str) -> Row | None:
    """The row of a section that is what is wanted, if it was measured."""
    rows = [row for row in rows_of(run, section) if all(row[key] == value for key, value in wanted.items())]
    return rows[0] if rows else None


def comparisons(run: Record) -> dict[str, dict[str, float | None]]:
    """How many times faster than each of `PEERS` that did the same, on one core and on all; None if not measured."""
    compared: dict[str, dict[str, float | None]] = {}

    def compare(
        name: str, here: tuple[str, str], there: Sequence[str | None], clock: str = "cpu", driver: str = "random"
    ) -> None:
        """What ours is, and the section in which each peer did the same."""
        ours = find(run, here[0], peer=HERE, what=here[1], driver=driver)
        compared[f"{here[1]}, {name}"] = ratios = {}
        for section, peer in zip(there, PEERS, strict=True):
            if section:
                theirs = find(run, section, peer=peer, driver=driver)
                ratios[peer] = times(ours, clock, theirs, clock) if ours and theirs else None

    for what in FRAMES:
        for driver in DRIVERS:
            name = f"one thread, {driver} driver"
            compare(name, (VECTOR, what), (ONE_GAME, VECTOR, None), driver=driver)
        compare("one game in a plain loop", (ONE_GAME, what), (ONE_GAME, ONE_GAME, ONE_GAME))
        compare("batches, one thread", (ENGINE, what), (ONE_GAME, VECTOR, ENGINE))
        compare("batches, all threads", (ENGINE_ALL, what), (None, VECTOR_ALL, ENGINE_ALL), "wall")
    compare("one thread, random driver", (VECTOR, f"exact frames, {BASELINE}"), (ONE_GAME, VECTOR, None))
    for what in ("state", f"state, {BASELINE}"):
        compare("one thread, the reference without its drawing", (STATE_ONLY, what), (STATE_ONLY, None, None))
    return compared


def summary(run: Record, *, measured_only: bool = False) -> str:
    """The same as a table; nothing where no line is left of those of which something was measured."""
    rows = []
    for name, ratios in comparisons(run).items():
        if measured_only and all(ratio is None for ratio in ratios.values()):
            continue
        told = {peer: "not measured" if ratio is None else f"{ratio:.1f}" for peer, ratio in ratios.items()}
        rows.append([name, *(told.get(peer, "") for peer in PEERS)])
    return table(["", *(f"times {peer}" for peer in PEERS)], rows) if rows else ""


def openings(run: Record) -> str | None:
    """What is to be said beside the ratios of a run that was too short for whole episodes."""
    steps = [OPENING + sum(trial["steps"] for trial in row["trials"]) / row["n_games"] for row in run["rows"]]
    if min(steps, default=EPISODE) >= EPISODE:
        return None
    return (
        f"Some contenders played less than an episode of {EPISODE} steps. Its beginning is not like the rest: "
        "no ratio here is that of a whole run."
    )


def threads(run: Record) -> dict[str, float]:
    """All threads against one, by the clock, and batches against the steps of `VecEnv`, by the processors' time."""
    ratios = {}
    for name, section, other, clock in (
        ("VecEnv, {} threads to one", VECTOR_ALL, VECTOR, "wall"),
        ("Engine.collect, {} threads to one", ENGINE_ALL, ENGINE, "wall"),
        ("Engine.collect to VecEnv, one thread", ENGINE, VECTOR, "cpu"),
    ):
        for what in FRAMES:
            ours, theirs = (find(run, place, peer=HERE, what=what, driver="random") for place in (section, other))
            if ours and theirs:
                ratios[f"{name.format(ours['n_threads'])}, {what}"] = times(ours, clock, theirs, clock)
    return ratios


def resets(run: Record) -> dict[str, tuple[float, float]]:
    """What a step that resets every game takes: in times the next step, and in times the last of an opening."""
    told = {}
    for section, what in (*((VECTOR, what) for what in FRAMES), (STATE_ONLY, "state")):
        row = find(run, section, peer=HERE, what=what, driver="random")
        if row and "reset_to_next" in row["report"]:
            told[what] = (row["report"]["reset_to_next"], row["report"]["reset_to_last"])
    return told


def memory(run: Record) -> str | None:
    """What a record takes, where engines were measured."""
    engines = [row for row in rows_of(run, ENGINE_ALL) if "bytes_per_record" in row["report"]]
    if not engines:
        return None
    rows = [
        [row["name"]] + [f"{row['report'][key] / 1000:,.1f}" for key in ("bytes_per_record", "peak_bytes_per_record")]
        for row in engines
    ]
    return table(["contender", "kB of a record in a batch", "kB of the process at its peak, per record"], rows)


def streams(run: Record) -> list[Row]:
    """The streams whose overlap was measured."""
    return [row for row in rows_of(run, STREAM) if row["trials"][0].get("against")]


def overlapped(row: Row, ratio: float) -> list[str]:
    """The cells that tell of something that overlaps: how fast it is without that and with it, and a ratio of them."""
    return [row["name"], f"{median(row, 'against'):,.0f}", f"{median(row, 'wall'):,.0f}", f"{ratio:.2f}"]


def overlap(run: Record) -> str | None:
    """How near streams come to the longer of collecting and training."""
    rows = [
        overlapped(row, times(row, "against", row, "wall"))
        + [f"{row['report'][figure]:,.1f}" for figure in ("batches_at_peak", "new_pages")]
        for row in streams(run)
    ]
    header = ["contender", "records/s of the longer alone", "of both", "time, in times the longer"]
    header += ["batches in memory at the peak", "new pages a batch"]
    return table(header, rows) if rows else None


def halves(run: Record) -> str | None:
    """What is gained by asking about one half of the games while the other is stepped."""
    rows = [overlapped(row, times(row, "wall", row, "against")) for row in rows_of(run, HALVES)]
    return table(["contender", "records/s one after the other", "of both", "times as fast"], rows) if rows else None


def figures(run: Record) -> dict[str, float]:
    """Everything that something may be aimed at, by its name."""
    told = {
        f"{name}, times {peer}": ratio
        for name, ratios in comparisons(run).items()
        for peer, ratio in ratios.items()
        if ratio is not None
    } | threads(run)
    pool, reference = find(run, VECTOR, peer=ENVPOOL, driver="random"), find(run, ONE_GAME, peer=GYMNASIUM)
    if pool and reference:
        told[f"{ENVPOOL}, one thread, times {GYMNASIUM}"] = times(pool, "cpu", reference, "cpu")
    for what in ("state", f"state, {BASELINE}"):
        if row := find(run, STATE_ONLY, peer=HERE, what=what):
            told[f"{what}, one thread, steps per CPU second"] = median(row, "cpu")
    told |= {f"a step that resets, times the next one, {what}": ratio for what, (ratio, _) in resets(run).items()}
    for row in streams(run):
        if row["peer"] == HERE:
            told["collect_stream and training for as long, times the longer"] = times(row, "against", row, "wall")
            told["collect_stream, memory at the peak, in batches held"] = (
                row["report"]["batches_at_peak"] / row["report"]["batches_held"]
            )
            told["collect_stream, new pages a batch in steady state"] = row["report"]["new_pages"]
            told["collect_stream, pages of a batch"] = row["report"]["pages"]
    for row in rows_of(run, HALVES):
        on = row["what"].split(", ")[-1]
        told[f"an infer that takes as long as stepping, {on}, times one after the other"] = times(
            row, "wall", row, "against"
        )
    return told


def circumstances(run: Record) -> str:
    """Where, when and with what."""
    about, trials = run["machine"], f"{run['trials']} of {run['seconds']:g} seconds each"
    libraries = sorted({row["library"] for row in run["rows"]})
    rows = [
        ["processor", f"{about['cpu']}, {about['cores']} cores"],
        ["all threads", str(max(row["n_threads"] for row in run["rows"]))],
        ["load", f"{about['load_before']} before, {about['load_after']} after"],
        ["system", f"{about['system']}, Python {about['python']}, NumPy {about['numpy']}"],
        ["contenders", ", ".join(libraries)],
        ["reinfors", f"{about['build']['profile']} build, {about['build']['cpu_level']}, commit `{about['commit']}`"],
        ["trials", f"{trials}, turns in a trial: {run['turns']}, {about['when'][:16].replace('T', ' ')} UTC"],
        ["left out", "; ".join(run["left_out"]) or "nothing"],
        ["command", f"`{about['command']}`"],
    ]
    return table(["", ""], rows)


def shares(run: Record) -> str | None:
    """Where the time goes with a network on the same cores."""
    rows = [
        [row["name"], *(f"{row['report']['shares'][name]:.0%}" for name in ("step", "render", "infer"))]
        for row in rows_of(run, NETWORK)
        if "shares" in row["report"]
    ]
    return table(["share of the time", "stepping", "drawing", "infer"], rows) if rows else None


def extras(run: Record) -> dict[str, str]:
    """What was measured beside speed, by its heading."""
    ratios = [[name, f"{ratio:.2f}"] for name, ratio in threads(run).items()]
    restarts = [[name, *(f"{ratio:.2f}" for ratio in told)] for name, told in resets(run).items()]
    tables = {
        "Threads and batches": table(["", "times"], ratios) if ratios else None,
        "Memory of a record": memory(run),
        "Streams": overlap(run),
        "Halves": halves(run),
        "A step that resets every game": table(["", "times the next step", f"times step {OPENING}"], restarts)
        if restarts
        else None,
        "Where the time goes": shares(run),
    }
    return {name: table for name, table in tables.items() if table}


def text(run: Record) -> str:
    """The whole record, for the terminal: without lines of which nothing was measured."""
    short = summary(run, measured_only=True)
    parts = [part for part in (circumstances(run), short, short and openings(run)) if part]
    parts += [f"## {section}\n\n{section_table(run, section)}" for section in sections(run)]
    parts += [f"## {name}\n\n{extra}" for name, extra in extras(run).items()]
    return "\n\n".join(parts)
