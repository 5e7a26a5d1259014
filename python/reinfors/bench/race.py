"""The race: every contender in a process of its own, taking short turns in an order that turns round."""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
import threading
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from reinfors.bench.plan import GYMNASIUM, HERE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import TracebackType

    from typing_extensions import Self

    from reinfors.bench.plan import Entry

TURN = 3.0  # seconds, of which a trial has several
# Seconds beyond those of the trials, of a contender on average: to begin and to end, and where a turn takes longer.
AROUND, BETWEEN = 1.2, 0.08
PATIENCE = 300.0  # seconds that an answer may take beyond those that were asked for


class Trial(NamedTuple):
    """The turns of a contender in one trial, together.

    Attributes:
        steps: Of all games.
        wall: Steps per second of the clock.
        cpu: Steps per second of the processors' time. On an idle machine the two are equal for one thread; on a busy
            one this is the fairer.
        against: Steps per second of the clock that what overlaps is compared with, in the same turns; None where
            nothing overlaps. For a stream the slower of collecting and training, each alone; for an `infer` beside the
            games one after the other.
    """

    steps: int
    wall: float
    cpu: float
    against: float | None

    @classmethod
    def of(cls, turns: Sequence[dict[str, float]]) -> Self:
        """The turns as they were answered: steps, and seconds for them."""
        total = {name: sum(turn[name] for turn in turns) for name in turns[0]}
        steps, against = int(total["steps"]), total.get("against")
        return cls(steps, steps / total["wall"], steps / total["cpu"], against and steps / against)


class Result(NamedTuple):
    """What came of one contender."""

    entry: Entry
    about: dict[str, Any]
    trials: list[Trial]
    report: dict[str, Any]


class Ended(RuntimeError):
    """A contender's process has ended before its time, or was ended because it took too long."""


@contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Blocks a keyboard's interrupt, which goes to all processes, for those that are begun here: they inherit it.

    It is for the race to answer. Windows has no such thing: there each process answers for itself.
    """
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Runner:
    """A contender's process."""

    def __init__(self, command: list[str], entry: Entry) -> None:
        self.entry = entry
        with interrupts_blocked():
            self._process = subprocess.Popen(  # noqa: S603 - an interpreter with our own file
                [*command, json.dumps(entry.spec())], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Lets the process end; ends it where it does not, and at once where the race has failed."""
        if kind is not None:
            self._process.kill()
        try:
            self._process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()

    def about(self) -> dict[str, Any]:
        """What it says of itself, once it is warm."""
        return self._answer(0)

    def turn(self, seconds: float) -> dict[str, float]:
        """Steps taken in at least `seconds`, and the seconds for them."""
        return self.ask({"seconds": seconds}, seconds)

    def ask(self, order: dict[str, Any], seconds: float = 0) -> dict[str, Any]:
        """The answer to an order.

        Raises:
            Ended: There is none.
        """
        assert self._process.stdin is not None  # noqa: S101 - opened above
        try:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            self._process.wait()
        return self._answer(seconds)

    def _answer(self, seconds: float) -> dict[str, Any]:
        assert self._process.stdout is not None  # noqa: S101 - opened above
        watchdog = threading.Timer(seconds * 2 + PATIENCE, self._process.kill)
        watchdog.daemon = True  # an interrupt between here and the `try` must not leave it to be waited for
        watchdog.start()
        try:
            line = self._process.stdout.readline()
        finally:
            watchdog.cancel()
        if not line.endswith("\n"):
            raise Ended(f"{self.entry.section}: {self.entry.name}, which ended without an answer")
        answer: dict[str, Any] = json.loads(line)
        return answer


def check_same_work(entries: Sequence[Entry], abouts: Sequence[dict[str, Any]]) -> None:
    """Refuses to compare exact frames that are not the reference's.

    Raises:
        RuntimeError: The first frames of the same seed differ.
    """
    frames = [(entry, about["first_frame"]) for entry, about in zip(entries, abouts, strict=True)]
    reference = {frame for entry, frame in frames if entry.peer == GYMNASIUM}
    for entry, frame in frames:
        if reference and entry.peer == HERE and not entry.options and frame is not None and frame not in reference:
            raise RuntimeError(f"{entry.name}: the first frame is not the reference's, so the work is not the same")


def duration(n_contenders: int, trials: int, seconds: float) -> str:
    """About how long a run takes: the trials of all contenders, and what is around them and between them."""
    of_trial = seconds + BETWEEN * turns_of(seconds)
    return f"about {math.ceil(n_contenders * (trials * of_trial + AROUND) / 60)} min"


def turns_of(seconds: float) -> int:
    """How many turns a trial is cut into."""
    return max(1, round(seconds / TURN))


def run(
    contenders: Sequence[tuple[Entry, list[str]]], trials: int, seconds: float, say: Callable[[str], None]
) -> tuple[list[Result], list[str]]:
    """Every contender `trials` times, after a warm-up that does not count and for which none waits for another.

    A trial is cut into turns of about `TURN` seconds: a processor's clock goes up and down over minutes, and all are to
    have their share of both.

    Returns:
        What came of those that answered to the end, and which others there were, in words.
    """
    n_turns = turns_of(seconds)
    n_rounds = trials * n_turns
    left_out: list[str] = []
    with ExitStack() as stack:
        runners = [stack.enter_context(Runner(command, entry)) for entry, command in contenders]

        def ask(runner: Runner, question: Callable[[], dict[str, Any]]) -> list[dict[str, Any]]:
            """The answer, if there is one; who has none is out of the race."""
            try:
                return [question()]
            except Ended as ended:
                runners.remove(runner)
                left_out.append(str(ended))
                say(f"left out: {ended}\n")
                return []

        abouts: dict[Runner, dict[str, Any]] = {}
        for runner in list(runners):
            say(f"warming up {runner.entry.name}")
            for about in ask(runner, runner.about):
                abouts[runner] = about
        check_same_work([runner.entry for runner in abouts], list(abouts.values()))
        turns: dict[Runner, list[dict[str, float]]] = {runner: [] for runner in runners}
        for round_ in range(n_rounds):
            for taken, runner in enumerate(list(runners) if round_ % 2 == 0 else runners[::-1]):
                left = (n_rounds - round_) * len(runners) - taken
                minutes = math.ceil(left * seconds / n_turns / 60)
                trial = 1 + round_ // n_turns
                say(f"trial {trial} of {trials}, about {minutes} min left: {runner.entry.name}")
                turns[runner] += ask(runner, partial(runner.turn, seconds / n_turns))
        results = [
            Result(
                runner.entry,
                abouts[runner],
                [Trial.of(turns[runner][begin : begin + n_turns]) for begin in range(0, n_rounds, n_turns)],
                report,
            )
            for runner in list(runners)
            for report in ask(runner, partial(runner.ask, {"report": True}))
        ]
    return results, left_out
