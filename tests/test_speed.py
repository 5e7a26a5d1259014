"""What is fast stays so: ratios of processor time within one process, which a busy machine does not change."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

import numpy as np

import reinfors as rf

if TYPE_CHECKING:
    from collections.abc import Callable

GAME = rf.games.registered()[0]


def seconds(work: Callable[[], object]) -> float:
    """Processor time of this thread."""
    begin = time.thread_time()
    work()
    return time.thread_time() - begin


def test_what_a_reset_needs_is_ready_before_it_is_asked_for() -> None:
    env = rf.VecEnv(rf.games.make(GAME, obs="state"), n_envs=1, n_threads=1, seed=0)
    env.reset()
    times: dict[bool, list[float]] = {True: [], False: []}
    for episode in range(60):
        is_foreseen = episode % 2 == 0
        for _ in range(50):
            env.step(np.zeros(1, np.int64))
        time.sleep(0.02)  # as long as steps that are drawn would take
        times[is_foreseen].append(seconds(lambda: env.reset(seed=None if is_foreseen else episode)))  # noqa: B023
    assert statistics.median(times[True]) < 0.6 * statistics.median(times[False])
