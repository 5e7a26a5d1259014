"""What is fast stays so: ratios of processor time in one process, which a busy machine changes little, and memory."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import reinfors as rf

if TYPE_CHECKING:
    from collections.abc import Callable

GAME = rf.games.registered()[0]
FAST = {"frames": "fast"}
MEMORY = Path(__file__).with_name("memory_of_a_stream.py")


def processor_time(work: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    begin = clock()
    work()
    return clock() - begin


def engine(n_games: int, n_threads: int, **options: object) -> rf.Engine:
    game = rf.games.make(GAME, **options)
    return rf.Engine(game, None, rf.policies.Ppo(), rf.learners.Ppo(), n_games=n_games, n_threads=n_threads, seed=0)


def free(obs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """An `infer` that costs nothing."""
    return np.zeros((len(obs), 5), np.float32), np.zeros(len(obs), np.float32)


def collector(n_games: int, n_threads: int, steps: int, **options: object) -> Callable[[], object]:
    made = engine(n_games, n_threads, **options)
    return lambda: made.collect(steps * n_games, free)


def stepper(n_games: int, n_threads: int, steps: int, **options: object) -> Callable[[], object]:
    env = rf.VecEnv(rf.games.make(GAME, **options), n_games, n_threads, seed=0)
    rng = np.random.default_rng(0)
    env.reset()

    def work() -> None:
        for _ in range(steps):
            env.step(rng.integers(5, size=n_games))

    return work


def ratio(work: Callable[[], object], other: Callable[[], object], rounds: int = 7) -> float:
    """How many times the processor time of `other` it takes, the median of alternating rounds."""
    for warm_up in (work, other, work, other):
        warm_up()
    return statistics.median(processor_time(work) / processor_time(other) for _ in range(rounds))


def test_what_a_reset_needs_is_ready_before_it_is_asked_for() -> None:
    env = rf.VecEnv(rf.games.make(GAME, obs="state"), n_envs=1, n_threads=1, seed=0)
    env.reset()
    times: dict[bool, list[float]] = {True: [], False: []}
    for episode in range(60):
        is_foreseen = episode % 2 == 0
        for _ in range(50):
            env.step(np.zeros(1, np.int64))
        time.sleep(0.02)  # as long as steps that are drawn would take
        seed = None if is_foreseen else episode
        times[is_foreseen].append(processor_time(lambda: env.reset(seed=seed), time.thread_time))  # noqa: B023
    assert statistics.median(times[True]) < 0.6 * statistics.median(times[False])


def test_a_step_that_resets_all_takes_no_more_than_twice_the_next_one() -> None:
    """Both draw the whole track, which takes several times as long as what is seen of it later."""
    env = rf.VecEnv(rf.games.make(GAME, max_steps=60, **FAST), n_envs=16, n_threads=1, seed=0)
    actions = np.zeros(16, np.int64)
    resetting, following = [], []
    env.reset()
    for _ in range(20):
        time.sleep(0.02)  # where more processes than cores want them, the next track needs time too
        while not env.step(actions)[3].all():
            pass
        resetting.append(processor_time(lambda: env.step(actions), time.thread_time))
        following.append(processor_time(lambda: env.step(actions), time.thread_time))
    # Measured 1.1 to 1.3.
    assert statistics.median(resetting) < 2 * statistics.median(following)


def test_a_batch_costs_hardly_more_than_stepping() -> None:
    # Measured 1.03 to 1.04; the rest is room for a busy machine.
    assert ratio(collector(64, 1, 16), stepper(64, 1, 16)) < 1.12


def test_a_batch_of_fast_frames_costs_little_more_than_stepping() -> None:
    # Measured 1.12 to 1.16: what is not drawing weighs more, the quicker the drawing.
    assert ratio(collector(64, 1, 32, **FAST), stepper(64, 1, 32, **FAST)) < 1.3


def test_a_second_thread_costs_hardly_any_work() -> None:
    # Measured 1.01 to 1.1 where more processes than cores wanted them.
    assert ratio(collector(64, 2, 32, **FAST), collector(64, 1, 32, **FAST)) < 1.3


@pytest.mark.parametrize("n_games", [1, 2, 4])
def test_small_engines_with_many_threads_behave(n_games: int) -> None:
    # Measured 0.84 to 1.28 where more processes than cores wanted them.
    assert ratio(collector(n_games, 16, 100, **FAST), stepper(n_games, 1, 100, **FAST)) < 1.8


def test_streams_need_no_more_memory_than_their_batches() -> None:
    run = subprocess.run([sys.executable, str(MEMORY)], capture_output=True, text=True, timeout=300, check=True)
    told = json.loads(run.stdout)
    batches = told["depth"] + 2
    assert told["peak_growth"] <= 1.1 * batches * told["batch_bytes"]
    # A batch has thousands of pages; in steady state none of them is new. What is left is one for each call of `infer`,
    # for which the interpreter makes a thread's state anew.
    assert told["batch_bytes"] / 4096 > 10_000
    assert statistics.median(told["page_faults"]) < 100


def test_one_half_is_stepped_while_the_other_is_asked_about() -> None:
    worked = []

    def slow(obs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        worked.append(processor_time(lambda: time.sleep(0.03)))
        return free(obs)

    engine(32, 1, **FAST).collect(32 * 12, slow)
    # Sleeping takes no processor time: what passes meanwhile is stepping. At the start there is nothing to step.
    assert worked[0] < 0.1 * statistics.median(worked[2:])
    assert len(worked) == 2 * 13


def test_a_stream_collects_while_its_learner_trains() -> None:
    made = engine(64, 1, **FAST)
    work = statistics.median(processor_time(lambda: made.collect(64 * 8, free)) for _ in range(5))
    meanwhile = []
    with made.collect_stream(64 * 8, free) as stream:
        for _ in range(6):
            next(stream)
            meanwhile.append(processor_time(lambda: time.sleep(0.3)))
    # While the learner waits for its device, most of the next batch is made.
    assert statistics.median(meanwhile) > 0.6 * work
