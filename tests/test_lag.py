"""Versions and lag: what a learner may mark when, what a record is told of it, and the bound on its age."""

from __future__ import annotations

import threading
import time
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import reinfors as rf

Outputs = tuple[np.ndarray, np.ndarray]


def infer(obs: np.ndarray) -> Outputs:
    return np.zeros((len(obs), 2)), obs.sum(axis=1)


def engine_of(n_games: int = 6, n_threads: int = 2) -> rf.Engine:
    game = rf.games.make("CartPole")
    return rf.Engine(game, None, rf.policies.Ppo(), rf.learners.Ppo(), n_games, n_threads, seed=0)


@pytest.mark.parametrize("max_lag", [0, 1, 2])
def test_a_slow_learner_gets_no_older_record_than_it_asked_for_and_none_is_lost(max_lag: int) -> None:
    undisturbed = engine_of()
    engine = engine_of()
    oldest = 0
    with engine.collect_stream(24, infer, depth=3, max_lag=max_lag) as stream:
        for update in range(8):
            batch = next(stream)
            lag = batch.telemetry["lag_in_updates"]
            assert lag["max"] <= max_lag
            oldest = max(oldest, lag["max"])
            assert np.array_equal(batch.obs, undisturbed.collect(24, infer).obs)
            time.sleep(0.05)  # training takes much longer than collecting
            engine.weights_updated(1000 * (update + 1))
            assert batch.telemetry["lag"]["max"] == 1000 * lag["max"]
    assert oldest == max_lag


@pytest.mark.parametrize("max_lag", [0, 1])
def test_a_learner_that_never_marks_a_version_gets_its_batches(max_lag: int) -> None:
    with engine_of().collect_stream(24, infer, max_lag=max_lag) as stream:
        for _ in range(5):
            assert next(stream).telemetry["lag_in_updates"] == {"min": 0, "mean": 0.0, "max": 0, "histogram": {0: 24}}


def test_a_stream_that_waits_for_an_update_can_be_left() -> None:
    engine = engine_of()
    stream = engine.collect_stream(24, infer, max_lag=0)
    assert stream.pending() == 0
    assert stream.pause() == []
    with engine.collect_stream(24, infer, max_lag=0) as stream:
        next(stream)
    assert len(engine.collect(24, infer)) == 24


def test_versions_marked_by_any_thread_are_the_same_for_all_slots_of_a_step() -> None:
    engine = engine_of()
    is_over = threading.Event()

    def mark() -> None:
        while not is_over.is_set():
            engine.weights_updated()

    threads = [threading.Thread(target=mark) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        batches: list[rf.Batch] = []
        with engine.collect_stream(120, infer, depth=2) as stream:
            while len(batches) < 20 or len({version for batch in batches for version in batch.policy_version}) < 20:
                batches.append(next(stream))
                assert len(batches) < 2000
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
    versions = [batch.time_major("policy_version") for batch in batches]
    assert all((rows == rows[:, :1]).all() for rows in versions)
    in_order = np.concatenate([rows[:, 0] for rows in versions])
    assert all(earlier <= later for earlier, later in pairwise(in_order))


def test_the_histogram_counts_the_records_of_each_version() -> None:
    engine = engine_of(n_games=2)
    calls = 0

    def marking(obs: np.ndarray) -> Outputs:
        nonlocal calls
        calls += 1
        if calls in {6, 14}:
            engine.weights_updated(10 * calls)
        return infer(obs)

    batch = engine.collect(60, marking)
    versions, counts = np.unique(batch.policy_version, return_counts=True)
    assert versions.tolist() == [0, 60, 140]
    lags = dict(zip((140 - versions).tolist(), counts.tolist(), strict=True))
    mean = float((140 - batch.policy_version).mean())
    assert batch.telemetry["lag"] == {"min": 0, "mean": pytest.approx(mean), "max": 140, "histogram": lags}
    updates = {2: counts[0], 1: counts[1], 0: counts[2]}
    assert batch.telemetry["lag_in_updates"]["histogram"] == updates
    assert batch.telemetry["lag_in_updates"]["mean"] == pytest.approx((2 * counts[0] + counts[1]) / 60)


@pytest.mark.parametrize(("given", "error"), [(-1, ValueError), (True, TypeError), (1.5, TypeError), ("1", TypeError)])
def test_a_bound_that_cannot_be_is_refused(given: Any, error: type[Exception]) -> None:
    engine = engine_of()
    with pytest.raises(error, match="max_lag must be an integer from 0"):
        engine.collect_stream(24, infer, max_lag=given)
    assert len(engine.collect(24, infer)) == 24
