"""What was aimed at, and what became of it: aims are named as `report.figures` names what was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from reinfors.bench.plan import ENVPOOL, GYMNASIUM, OLD
from reinfors.bench.report import figures, table

if TYPE_CHECKING:
    from reinfors.bench.report import Record


class Aim(NamedTuple):
    """A figure, and what it was to be at least, or at most."""

    figure: str
    least: float | None = None
    most: float | None = None


AIMS = (
    Aim(f"exact frames, one thread, random driver, times {GYMNASIUM}", 100),
    Aim(f"exact frames, one thread, random driver, times {ENVPOOL}", 14),
    Aim(f"exact frames, one game in a plain loop, times {GYMNASIUM}", 80),
    Aim(f"exact frames, batches, one thread, times {GYMNASIUM}", 100),
    Aim(f"exact frames, batches, one thread, times {ENVPOOL}", 14),
    Aim(f"exact frames, batches, one thread, times {OLD}", 6),
    Aim(f"exact frames, batches, all threads, times {ENVPOOL}", 15),
    Aim(f"exact frames, batches, all threads, times {OLD}", 12),
    Aim(f"fast frames, one thread, random driver, times {GYMNASIUM}", 350),
    Aim(f"fast frames, one thread, random driver, times {ENVPOOL}", 48),
    Aim(f"fast frames, batches, one thread, times {GYMNASIUM}", 350),
    Aim(f"fast frames, batches, one thread, times {ENVPOOL}", 48),
    Aim(f"fast frames, batches, one thread, times {OLD}", 22),
    Aim(f"exact frames, baseline, one thread, random driver, times {GYMNASIUM}", 70),
    Aim(f"state, one thread, the reference without its drawing, times {GYMNASIUM}", 40),
    Aim("state, one thread, steps per CPU second", 600_000),
    Aim("state, baseline, one thread, steps per CPU second", 400_000),
    Aim("Engine.collect, 2 threads to one, exact frames", 1.9),
    Aim("Engine.collect, 2 threads to one, fast frames", 1.9),
    Aim("Engine.collect to VecEnv, one thread, exact frames", 0.95),
    Aim("Engine.collect to VecEnv, one thread, fast frames", 0.95),
    Aim("a step that resets, times the next one, exact frames", most=2),
    Aim("a step that resets, times the next one, fast frames", most=2),
    Aim("a step that resets, times the next one, state", most=2),
    Aim("collect_stream and training for as long, times the longer", most=1.1),
    Aim("collect_stream, memory at the peak, in batches held", most=1.1),
    Aim("collect_stream, new pages a batch in steady state", most=0),
    Aim("an infer that takes as long as stepping, one thread, times one after the other", 1.7),
    Aim("an infer that takes as long as stepping, all threads, times one after the other", 1.7),
)

NOT_MEASURED = ("", "not measured")  # figure and verdict

DIGITS = ((5, 2), (1000, 1), (float("inf"), 0))  # behind the point, of figures below the first number


def number(value: float) -> str:
    """A figure with as many digits as it is good for; it is judged as it is printed."""
    return next(f"{value:,.{digits}f}" for below, digits in DIGITS if value < below)


def verdicts(run: Record) -> dict[Aim, tuple[str, str]]:
    """Of every aim the figure that was measured, and whether the aim is met."""
    measured, told = figures(run), {}
    for aim in AIMS:
        if aim.figure not in measured:
            told[aim] = NOT_MEASURED
            continue
        printed = number(measured[aim.figure])
        value = float(printed.replace(",", ""))
        is_met = (aim.least is None or value >= aim.least) and (aim.most is None or value <= aim.most)
        told[aim] = (printed, "met" if is_met else "missed")
    return told


def table_of(run: Record, *, measured_only: bool = False) -> str:
    """What was aimed at beside what was measured; nothing where no line is left of what was."""
    rows = []
    for aim, told in verdicts(run).items():
        if measured_only and told == NOT_MEASURED:
            continue
        asked = f"at least {aim.least:,g}" if aim.least is not None else f"at most {aim.most:,g}"
        rows.append([aim.figure, asked, *told])
    return table(["", "aim", "measured", ""], rows) if rows else ""
