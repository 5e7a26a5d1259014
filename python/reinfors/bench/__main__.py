"""`python -m reinfors.bench`: runs the race, prints it, and writes it where it is told to."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import reinfors as rf
from reinfors.bench import aims, peers, plot, report
from reinfors.bench.machine import circumstances, load
from reinfors.bench.plan import DRIVERS, entries
from reinfors.bench.race import duration, run, turns_of

if TYPE_CHECKING:
    from collections.abc import Sequence

TRIALS, SECONDS, QUICK_SECONDS = 3, 30.0, 0.4
OUTPUT = Path("-")  # standard output
INTERRUPTED = 130  # as a shell tells an end by SIGINT

ABOUT = """\
Steps per second of reinfors and of its peers, observations made and read, in one run.

Each contender runs in a process of its own; they take turns of a few seconds, in an order that turns round, and the
median of the trials counts. Steps are those of the simulator. A debug build is refused; a peer that is not installed is
left out, and so is a contender that ends before its time."""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser("python -m reinfors.bench", description=ABOUT)
    made.add_argument("--quick", action="store_true", help=f"trials of {QUICK_SECONDS} seconds, random driver only")
    made.add_argument("--trials", type=int, default=TRIALS, metavar="N", help=f"trials of each (default {TRIALS})")
    made.add_argument("--seconds", type=float, metavar="S", help=f"length of a trial (default {SECONDS:g})")
    made.add_argument("--only", default="", metavar="TEXT", help="only contenders whose section or name has this in it")
    made.add_argument(
        "--json",
        type=Path,
        nargs="?",
        const=OUTPUT,
        metavar="FILE",
        help="write the record here, or print it alone",
    )
    made.add_argument("--plot", type=Path, metavar="FILE", help="write a plot here (.svg, .png; extra `plot`)")
    made.add_argument("--peers", type=Path, default=peers.cache(), metavar="FOLDER", help="where peers are installed")
    made.add_argument(
        "--install-peers",
        action="store_true",
        help="install them there first; PyTorch is 5 GB where its CPU index does not answer",
    )
    return made


def refusal(profile: str) -> str | None:
    """Why a build is not measured."""
    return (
        None if profile == "release" else f"a {profile} build is not measured: `make bench` builds the release profile"
    )


def say(what: str) -> None:
    """A line of progress, over the one before."""
    print(f"\r\033[K{what}", end="", file=sys.stderr, flush=True)


def words(record: report.Record) -> str:
    """What the terminal shows of a record."""
    judged = aims.table_of(record, measured_only=True)
    return report.text(record) + (f"\n\n## Aims\n\n{judged}" if judged else "")


def read(arguments: Sequence[str]) -> argparse.Namespace:
    """What the command line says; what cannot be done is refused before an hour is spent on it."""
    given = parser().parse_args(arguments)
    if given.trials < 1 or (given.seconds is not None and not 0 < given.seconds < float("inf")):
        sys.exit("--trials must be at least 1, and --seconds a number above 0")
    if why := refusal(rf.build_info()["profile"]):
        sys.exit(why)
    for file in (given.json, given.plot):
        if file is not None and not file.parent.is_dir():
            sys.exit(f"there is no folder {file.parent} to write {file.name} to")
    if given.plot and (why := plot.refusal(given.plot)):
        sys.exit(why)
    return given


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs what the command line says, until it is done or interrupted."""
    try:
        measure(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        say("interrupted: a race that is not finished is not recorded\n")
        sys.exit(INTERRUPTED)


def measure(arguments: Sequence[str]) -> None:
    """Runs the race, and prints and writes what came of it."""
    given = read(arguments)
    if given.install_peers:
        peers.install(given.peers)
    seconds = given.seconds or (QUICK_SECONDS if given.quick else SECONDS)
    listed = entries(DRIVERS[:1] if given.quick else DRIVERS)
    wanted = [entry for entry in listed if given.only.lower() in f"{entry.section}: {entry.name}".lower()]
    if not wanted:
        sys.exit(f"no contender has {given.only!r} in its section or name")
    commands = {peer: peers.command(peer, given.peers) for peer in dict.fromkeys(entry.peer for entry in wanted)}
    left_out = [peers.missing(peer) for peer, command in commands.items() if command is None]
    for line in left_out:
        print(f"left out: {line}", file=sys.stderr)
    contenders = [(entry, command) for entry in wanted if (command := commands[entry.peer]) is not None]
    n = len(contenders)
    print(
        f"{n} contenders, {given.trials} x {seconds:g} s of each: {duration(n, given.trials, seconds)}", file=sys.stderr
    )
    about = circumstances(arguments)
    results, ended = run(contenders, given.trials, seconds, say)
    say("")
    about["load_after"] = load()
    record = report.record(
        results,
        machine=about,
        trials=given.trials,
        seconds=seconds,
        turns=turns_of(seconds),
        left_out=left_out + ended,
    )
    document = json.dumps(record, indent=1)
    # Written before anything is made of it: an hour is not lost to what the text or the plot trips over.
    if given.json and given.json != OUTPUT:
        given.json.write_text(document + "\n")
    if not results:
        sys.exit("nothing was measured: all contenders are left out")
    print(document if given.json == OUTPUT else words(record))
    if given.plot:
        plot.draw(record, given.plot)


if __name__ == "__main__":
    main()
