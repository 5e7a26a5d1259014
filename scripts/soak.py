"""A day of driving in minutes: engines, streams and environments in use for as many steps, and flat memory.

`make soak` runs it (HOURS=24). Every round makes an engine, streams from it, pauses, snapshots, evaluates, fails and
drops it: what a training run does now and then happens here all the time. It fails where the memory or the threads of
the last nine tenths grow.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import resource
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import reinfors as rf

if TYPE_CHECKING:
    from collections.abc import Iterator

STEPS_PER_HOUR = 50 * 3600  # simulated: 50 steps a second
MOST_GROWTH = 20_000_000  # bytes
N_GAMES = 32


def resident_bytes() -> int:
    """Bytes of this process that are in memory."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def native_threads() -> int:
    """Threads of this process, Python's and ours."""
    return len(list(Path("/proc/self/task").iterdir()))


def growth(memory: list[int]) -> int:
    """Bytes gained since a tenth of the samples: the middle one of the last tenth over that of the second."""
    if len(memory) < 2:
        return 0
    tenth = max(1, len(memory) // 10)
    early, late = sorted(memory[tenth : 2 * tenth]), sorted(memory[-tenth:])
    return late[len(late) // 2] - early[len(early) // 2]


# What is quick to draw, so that it is the steps that take the time.
VARIANTS: tuple[dict[str, object], ...] = (
    {"obs": "state"},
    {"obs": "pixels", "frames": "fast", "size": (48, 48), "gray": True},
)


def game_of(number: int) -> rf.games.Game:
    """The registered games in turn, each with a state and with small pixels where it has them."""
    name, variant = list(itertools.product(rf.games.registered(), VARIANTS))[number % (2 * len(rf.games.registered()))]
    known = {option["name"] for option in rf.games.describe(name)["options"]}
    return rf.games.make(name, max_steps=200, **{key: value for key, value in variant.items() if key in known})


def steps_of_a_round(number: int) -> Iterator[int]:
    """Uses everything once; yields the steps that were made."""
    game = game_of(number)
    engine = rf.Engine(game, None, rf.policies.Ppo(), rf.learners.Ppo(), N_GAMES, 2, seed=number)
    rng = np.random.default_rng(number)

    def infer(obs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return rng.normal(size=(len(obs), engine.n_params)), np.zeros(len(obs))

    def failing(obs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if rng.integers(20) == 0:
            raise ArithmeticError
        return infer(obs)

    with engine.collect_stream(N_GAMES * 64, infer, depth=2, max_lag=(None, 0, 1)[number % 3]) as stream:
        for _ in range(8):
            batch = next(stream)
            engine.weights_updated()
            yield len(batch)
        if number % 2:
            yield sum(len(batch) for batch in stream.pause())
    saved = engine.snapshot()
    try:
        yield len(engine.collect(N_GAMES * 32, failing))
    except ArithmeticError:
        engine.restore(saved)
    for part in engine.collect(N_GAMES * 16, infer).minibatches(100):
        assert np.isfinite(part.advantages).all()
    yield N_GAMES * 16
    if game.n_agents == 1:  # an evaluation is of games of one agent
        yield int(rf.evaluate(game, infer, 16, number, n_threads=2).lengths.sum())
    with rf.VecEnv(game, 8, 2, seed=number) as env:
        env.reset()
        for _ in range(64):
            env.step(rng.integers(2, size=8 * game.n_agents))
        env.load(1, env.save(0))
        env.render(2)
    yield 8 * 64
    abandoned = engine.collect_stream(N_GAMES, infer)
    del abandoned


def soak(hours: float) -> int:
    """Runs rounds until so many hours have been driven; returns 1 where something has grown."""
    wanted, steps, begin, shown = hours * STEPS_PER_HOUR, 0, time.monotonic(), 0.0
    threads = native_threads()
    memory: list[int] = []
    for number in itertools.count():
        if steps >= wanted:
            break
        for made in steps_of_a_round(number):
            steps += made
            elapsed = time.monotonic() - begin
            if elapsed - shown > (1 if sys.stdout.isatty() else 10):
                shown = elapsed
                line = (
                    f"{steps / STEPS_PER_HOUR:7.2f} of {hours:g} h driven  {steps / elapsed:9,.0f} steps/s  "
                    f"{resident_bytes() / 1e6:7.1f} MB ({growth(memory) / 1e6:+.1f} since a tenth)  "
                    f"{native_threads():3d} threads"
                )
                print(line, end="\r" if sys.stdout.isatty() else "\n", flush=True)
        memory.append(resident_bytes())
    deadline = time.monotonic() + 5
    while native_threads() > threads and time.monotonic() < deadline:
        time.sleep(0.01)
    grown, left = growth(memory), native_threads() - threads
    print(
        f"{steps:,} steps in {time.monotonic() - begin:.0f} s, {number} engines: memory {grown / 1e6:+.1f} MB, "
        f"threads {left:+d}"
    )
    return int(grown > MOST_GROWTH or left > 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--hours", type=float, default=24.0, help="simulated hours, 50 steps a second (%(default)s)")
    sys.exit(soak(parser.parse_args().hours))
