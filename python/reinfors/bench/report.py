"""A run as a record that JSON can hold, and the record in words: what the terminal shows and the documentation has."""

from __future__ import annotations

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
                "median": result.median._asdict(),
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


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown, its columns aligned for those who read it as it is."""
    lines = [list(header), *map(list, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]

    def joined(line: Sequence[str]) -> str:
        return "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |"

    return "\n".join(
        [joined(lines[0]), "|" + "|".join("-" * (width + 2) for width in widths) + "|", *map(joined, lines[1:])]
    )


def covered(run: Record, row: Row) -> str:
    """Which steps of an episode the trials were of, had each all of its steps; how many episodes, where they are whole.

    All games begin at once, play the opening before anything counts, and go on where the trial before left them: each
    trial takes them further by steps/s x seconds / games.
    """
    steps = [trial["wall"] * run["seconds"] / row["n_games"] for trial in row["trials"]]
    whole = [taken / EPISODE for taken in steps]
    if min(whole) >= 1:
        return f"{min(whole):.1f} to {max(whole):.1f} episodes"
    ends = list(accumulate(steps, initial=OPENING))
    return ", ".join(f"{begin % EPISODE:.0f} to {end % EPISODE:.0f}" for begin, end in pairwise(ends))


def section_table(run: Record, section: str) -> str:
    """The figures of a section."""
    cells = []
    for row in rows_of(run, section):
        walls, median = [trial["wall"] for trial in row["trials"]], row["median"]
        cells.append(
            [
                row["name"],
                f"{median['wall']:,.0f}",
                f"{min(walls):,.0f} to {max(walls):,.0f}",
                f"{median['cpu']:,.0f}",
                f"{1e6 * row['steps_per_decision'] / median['cpu']:,.1f}",
                covered(run, row),
            ]
        )
    return table(COLUMNS, cells)


def _speed(run: Record, section: str, clock: str, **wanted: str) -> float | None:
    """Steps per second of the row of a section that is what is wanted, if it was measured."""
    rows = [row for row in rows_of(run, section) if all(row[key] == value for key, value in wanted.items())]
    return float(rows[0]["median"][clock]) if rows else None


def _ratio(run: Record, here: tuple[str, str], peer: tuple[str, str], clock: str, driver: str) -> str:
    """How many times faster a row of ours, named by section and what it is, is than a peer's."""
    ours = _speed(run, here[0], clock, peer=HERE, what=here[1], driver=driver)
    theirs = _speed(run, peer[0], clock, peer=peer[1], driver=driver)
    return f"{ours / theirs:.1f}" if ours and theirs else "not measured"


def comparisons(run: Record) -> list[list[str]]:
    """How many times faster than each of `PEERS`, on one core and on all: what is compared, and a ratio for each."""
    rows = []

    def compare(
        name: str, here: tuple[str, str], there: Sequence[str | None], clock: str = "cpu", driver: str = "random"
    ) -> None:
        """A row: what ours is, and the section in which each peer did the same."""
        pairs = zip(there, PEERS, strict=True)
        ratios = [_ratio(run, here, (section, peer), clock, driver) if section else "" for section, peer in pairs]
        rows.append([f"{here[1]}, {name}", *ratios])

    for what in ("exact frames", "fast frames"):
        for driver in DRIVERS:
            name = f"one thread, {driver} driver"
            compare(name, (VECTOR, what), (ONE_GAME, VECTOR, None), driver=driver)
        compare("one game in a plain loop", (ONE_GAME, what), (ONE_GAME, ONE_GAME, ONE_GAME))
        compare("batches, one thread", (ENGINE, what), (ONE_GAME, VECTOR, ENGINE))
        compare("batches, all threads", (ENGINE_ALL, what), (None, VECTOR_ALL, ENGINE_ALL), "wall")
    compare("one thread, random driver", (VECTOR, f"exact frames, {BASELINE}"), (ONE_GAME, VECTOR, None))
    for what in ("state", f"state, {BASELINE}"):
        compare("one thread, the reference without its drawing", (STATE_ONLY, what), (STATE_ONLY, None, None))
    return rows


def summary(run: Record) -> str:
    """The same as a table."""
    return table(["", *(f"times {peer}" for peer in PEERS)], comparisons(run))


def threads(run: Record) -> str | None:
    """All threads against one, by the clock, and batches against the steps of `VecEnv`, by the processors' time."""
    ratios = {
        "VecEnv, all threads to one": (VECTOR_ALL, VECTOR, "wall"),
        "Engine.collect, all threads to one": (ENGINE_ALL, ENGINE, "wall"),
        "Engine.collect to VecEnv, one thread": (ENGINE, VECTOR, "cpu"),
    }
    rows = []
    for name, (section, other, clock) in ratios.items():
        for what in ("exact frames", "fast frames"):
            ours, theirs = (
                _speed(run, place, clock, peer=HERE, what=what, driver="random") for place in (section, other)
            )
            if ours and theirs:
                rows.append([f"{name}, {what}", f"{ours / theirs:.2f}"])
    return table(["", "times"], rows) if rows else None


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


def overlap(run: Record) -> str | None:
    """How near streams come to the longer of collecting and training."""
    rows = [
        [
            row["name"],
            f"{row['report']['training_per_second']:,.0f}",
            f"{row['median']['wall']:,.0f}",
            f"{row['report']['training_per_second'] / row['median']['wall']:.2f}",
        ]
        for row in rows_of(run, STREAM)
        if "training_per_second" in row["report"]
    ]
    if not rows:
        return None
    return table(["contender", "records/s of either alone", "records/s of both", "time, in times the longer"], rows)


def circumstances(run: Record) -> str:
    """Where, when and with what."""
    about = run["machine"]
    libraries = sorted({row["library"] for row in run["rows"]})
    rows = [
        ["processor", f"{about['cpu']}, {about['cores']} cores"],
        ["load", f"{about['load_before']} before, {about['load_after']} after"],
        ["system", f"{about['system']}, Python {about['python']}, NumPy {about['numpy']}"],
        ["contenders", ", ".join(libraries)],
        ["reinfors", f"{about['build']['profile']} build, {about['build']['cpu_level']}, commit `{about['commit']}`"],
        ["trials", f"{run['trials']} of {run['seconds']:g} seconds each, {about['when'][:16].replace('T', ' ')} UTC"],
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
    tables = {
        "Threads and batches": threads(run),
        "Memory of a record": memory(run),
        "Overlap": overlap(run),
        "Where the time goes": shares(run),
    }
    return {name: table for name, table in tables.items() if table}


def text(run: Record) -> str:
    """The whole record, for the terminal."""
    parts = [circumstances(run), summary(run)]
    parts += [f"## {section}\n\n{section_table(run, section)}" for section in sections(run)]
    parts += [f"## {name}\n\n{extra}" for name, extra in extras(run).items()]
    return "\n\n".join(parts)
