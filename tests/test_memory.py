"""Memory stays flat: resets, steps, pictures and batches give back what they take."""

from __future__ import annotations

import gc
import resource
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import reinfors as rf

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_GROWTH = 20_000_000  # bytes


def resident_bytes() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def growth(work: Callable[[], object], repetitions: int) -> int:
    """Bytes gained by repeating the work after a tenth of it has warmed everything up."""
    for _ in range(repetitions // 10):
        work()
    before = resident_bytes()
    for _ in range(repetitions):
        work()
    return resident_bytes() - before


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads Linux's account of memory")
def test_d21_memory_stays_flat() -> None:
    game = rf.games.make(rf.games.registered()[0], max_steps=20)
    env = rf.VecEnv(game, 8, 2, seed=0)
    env.reset()
    actions = np.zeros(8, np.int64)
    engine = rf.Engine(game, None, rf.policies.Ppo(), rf.learners.Ppo(), n_games=8, n_threads=2, seed=0)

    def infer(obs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros((len(obs), engine.n_params), np.float32), np.zeros(len(obs))

    def stream() -> None:
        with engine.collect_stream(32, infer) as batches:
            next(batches)

    assert growth(env.reset, 400) < MOST_GROWTH
    assert growth(lambda: env.step(actions), 2500) < MOST_GROWTH
    assert growth(lambda: env.render(0), 2000) < MOST_GROWTH
    assert growth(lambda: env.load(1, env.save(0)), 300) < MOST_GROWTH
    assert growth(lambda: engine.collect(32, infer), 60) < MOST_GROWTH
    assert growth(lambda: list(engine.collect(32, infer).minibatches(8)), 30) < MOST_GROWTH
    assert growth(stream, 30) < MOST_GROWTH
    assert growth(engine.snapshot, 30) < MOST_GROWTH
