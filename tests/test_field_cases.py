"""What users of other samplers have met: contracts of `infer`, batches, limits. Tests begin with their case's id.

The cases of streams, signals and determinism are in `test_life_and_death.py` and `test_determinism.py`; that of a
termination read one step late (D44) is a unit test in `crates/reinfors-engine/src/gae.rs`.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import reinfors as rf

Outputs = tuple[np.ndarray, np.ndarray]


def features(obs: np.ndarray) -> np.ndarray:
    """Some numbers of each row, (rows, 20), the same whatever rows are beside it."""
    flat = obs.reshape(len(obs), -1)
    chosen = flat[:, :: max(1, flat.shape[1] // 20)][:, :20].astype(np.float64)
    return np.cos(np.pad(chosen, ((0, 0), (0, 20 - chosen.shape[1]))))


def values_of(obs: np.ndarray) -> np.ndarray:
    return (features(obs) * np.arange(1, 21)).sum(axis=1).astype(np.float32)


def params_of(obs: np.ndarray, n_params: int) -> np.ndarray:
    weights = np.sin(np.arange(20 * n_params)).reshape(20, n_params)
    return (features(obs)[:, :, None] * weights).sum(axis=1).astype(np.float32)


def infer_of(n_params: int) -> Any:
    return lambda obs: (params_of(obs, n_params), values_of(obs))


def engine_of(n_games: int = 5, *, name: str = "CartPole", n_threads: int = 2, **options: Any) -> rf.Engine:
    game = rf.games.make(name, **options)
    return rf.Engine(game, None, rf.policies.Ppo(), rf.learners.Ppo(0.9, 0.8), n_games, n_threads, seed=0)


def content(batch: rf.Batch) -> list[bytes]:
    fields = [batch.obs, batch.actions, batch.behavior_log_probs, batch.values, batch.rewards, batch.advantages]
    return [field.tobytes() for field in [*fields, batch.last_obs, batch.last_values]]


def refused(answer: Any, error: type[Exception], match: str) -> None:
    """The answer is refused, and no game has moved."""
    engine, untouched = engine_of(), engine_of()
    with pytest.raises(error, match=match):
        engine.collect(15, lambda obs: answer(*infer_of(2)(obs)))
    assert content(engine.collect(15, infer_of(2))) == content(untouched.collect(15, infer_of(2)))


@pytest.mark.parametrize("rows", [4, 6, 0, 1])
def test_d35_another_number_of_rows_is_refused_with_both_numbers(rows: int) -> None:
    def resized(array: np.ndarray) -> np.ndarray:
        return np.resize(array, (rows, *array.shape[1:]))

    refused(lambda params, values: (resized(params), values), ValueError, rf"\({rows}, 2\) for 5 rows.*\(5, 2\)")
    refused(lambda params, values: (params, resized(values)), ValueError, rf"\({rows},\) for 5 rows.*\(5,\)")


def test_d36_float32_and_float64_of_equal_value_are_the_same() -> None:
    one, other = engine_of(), engine_of()
    expected = one.collect(60, infer_of(2))
    batch = other.collect(60, lambda obs: tuple(output.astype(np.float64) for output in infer_of(2)(obs)))
    assert content(batch) == content(expected)


@pytest.mark.parametrize("dtype", ["float16", "int64", "int8", "bool", "object", "complex64", [("x", "f4")]])
def test_d36_any_other_type_is_refused_with_the_accepted_ones(dtype: Any) -> None:
    match = "float32 or float64"
    refused(lambda params, values: (params.astype(np.float32).astype(dtype), values), TypeError, match)
    refused(lambda params, values: (params, values.astype(dtype)), TypeError, match)


LAYOUTS: dict[str, Any] = {
    "transposed": lambda array: array.T.copy().T,
    "reversed": lambda array: array[::-1].copy()[::-1],
    "every other column": lambda array: np.repeat(array, 2, axis=-1)[..., ::2],
    "every other row": lambda array: np.repeat(array, 2, axis=0)[::2],
    "Fortran": np.asfortranarray,
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_d37_outputs_of_any_layout_are_read_as_they_look(layout: str) -> None:
    one, other = engine_of(), engine_of()
    expected = one.collect(30, infer_of(2))
    batch = other.collect(30, lambda obs: tuple(LAYOUTS[layout](output) for output in infer_of(2)(obs)))
    assert content(batch) == content(expected)


def test_d37_a_stride_of_zero_and_a_read_only_output_are_read_as_they_look() -> None:
    one, other = engine_of(), engine_of()
    row = np.array([0.3, -0.2], np.float32)
    row.flags.writeable = False
    expected = one.collect(30, lambda obs: (np.tile(row, (len(obs), 1)), np.full(len(obs), 0.5)))
    batch = other.collect(30, lambda obs: (np.broadcast_to(row, (len(obs), 2)), np.broadcast_to(0.5, len(obs))))
    assert content(batch) == content(expected)


def test_d38_observations_cannot_be_written_and_outlive_the_engine() -> None:
    engine, untouched = engine_of(), engine_of()
    kept: list[tuple[np.ndarray, np.ndarray]] = []

    def keeping(obs: np.ndarray) -> Outputs:
        kept.append((obs, obs.copy()))
        with pytest.raises(ValueError, match="read-only"):
            obs[...] = 0
        return params_of(obs, 2), values_of(obs)

    batches = [engine.collect(30, keeping) for _ in range(5)]
    assert [content(batch) for batch in batches] == [content(untouched.collect(30, infer_of(2))) for _ in range(5)]
    del engine, batches
    gc.collect()
    assert all(np.array_equal(*pair) for pair in kept)


def test_d45_every_tail_is_bootstrapped_from_the_observation_that_opens_the_next_window() -> None:
    engine = engine_of(2, name="CarRacing")
    first, second = (engine.collect(8, infer_of(5)) for _ in range(2))
    assert not first.terminated.any()
    assert np.array_equal(first.last_obs, second.time_major("obs")[0])
    assert np.array_equal(first.last_values, values_of(first.last_obs))
    assert first.last_values[0] != first.last_values[1]
    rewards, values, advantages = (
        first.time_major(name).astype(np.float64) for name in ("rewards", "values", "advantages")
    )
    expected = rewards[-1] + 0.9 * first.last_values - values[-1]
    np.testing.assert_allclose(advantages[-1], expected, rtol=1e-5)


def test_d46_no_record_belongs_to_a_reset() -> None:
    batch = engine_of(4, max_steps=3).collect(40, infer_of(2))
    assert batch.time_major("step")[:, 0].tolist() == [0, 1, 2] * 3 + [0]
    assert batch.time_major("truncated")[:, 0].tolist() == [False, False, True] * 3 + [False]
    assert (batch.rewards == 1).all()
    assert [episode["length"] for episode in batch.telemetry["episodes"]] == [3] * 12


def test_d47_the_raw_sample_is_stored_and_the_clipped_one_given_to_the_game() -> None:
    engine = engine_of(3, name="CarRacing", continuous=True, max_steps=6)
    mean = np.array([3.0, 3.0, 3.0])

    def infer(obs: np.ndarray) -> Outputs:
        return np.tile(np.concatenate([mean, np.zeros(3)]), (len(obs), 1)), np.zeros(len(obs))

    batch = engine.collect(18, infer)
    raw = batch.actions.astype(np.float64)
    assert (raw > 1).mean() > 0.8
    log_probs = (-0.5 * (raw - mean) ** 2 - 0.5 * np.log(2 * np.pi)).sum(axis=1)
    np.testing.assert_allclose(np.exp(log_probs - batch.behavior_log_probs), 1, rtol=1e-5)
    clipped = np.clip(batch.actions, [-1, 0, 0], [1, 1, 1])
    for episode in batch.telemetry["episodes"]:
        env = rf.VecEnv(rf.games.make("CarRacing", continuous=True, max_steps=6), 1, 1)
        env.reset(seed=[episode["seed"]])
        rows = np.flatnonzero(batch.slot == episode["slot"])
        assert [np.float32(env.step(clipped[row : row + 1])[1][0]) for row in rows] == batch.rewards[rows].tolist()


@pytest.mark.parametrize(("n_games", "n_records"), [(1, 1), (4, 4), (1, 5)])
def test_d48_advantages_are_raw_and_finite_also_of_one_record_or_all_alike(n_games: int, n_records: int) -> None:
    engine = engine_of(n_games)
    batch = engine.collect(n_records, lambda obs: (np.zeros((len(obs), 2)), np.full(len(obs), 10.0)))
    assert np.isfinite(batch.advantages).all()
    np.testing.assert_allclose(batch.advantages, 0, atol=1e-6)  # 1 + 0.9 * 10 - 10: what is expected happens


def test_d49_rows_of_all_fields_belong_together() -> None:
    engine = engine_of(5, max_steps=6)
    batch = engine.collect(35, infer_of(2))
    assert np.array_equal(batch.values, values_of(batch.obs))
    logits = params_of(batch.obs, 2).astype(np.float64)
    log_probs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    chosen = log_probs[np.arange(35), batch.actions]
    np.testing.assert_allclose(batch.behavior_log_probs, chosen, rtol=1e-6, atol=1e-6)
    for episode in batch.telemetry["episodes"]:
        rows = np.flatnonzero(batch.slot == episode["slot"])[: episode["length"]]
        assert batch.step[rows].tolist() == list(range(episode["length"]))
        env = rf.VecEnv(rf.games.make("CartPole"), 1, 1)
        obs = env.reset(seed=[episode["seed"]])[0]
        for row in rows:
            assert np.array_equal(obs[0], batch.obs[row])
            obs, rewards, *_ = env.step(batch.actions[row : row + 1])
            assert rewards[0] == batch.rewards[row]
        break
    assert batch.telemetry["episodes"]


def test_d50_a_failed_window_leaves_no_record_and_the_retry_asks_the_new_callback() -> None:
    engine, undisturbed = engine_of(max_steps=4), engine_of(max_steps=4)
    engine.collect(30, infer_of(2))
    calls = 0

    def failing(obs: np.ndarray) -> Outputs:
        nonlocal calls
        calls += 1
        if calls == 5:
            raise ArithmeticError
        return infer_of(2)(obs)

    with pytest.raises(ArithmeticError):
        engine.collect(30, failing)
    batch = engine.collect(30, lambda obs: (params_of(obs, 2), np.full(len(obs), 77.0)))
    assert (batch.values == 77).all()
    first, expected = undisturbed.collect(30, infer_of(2)), undisturbed.collect(30, infer_of(2))
    assert len(batch) == len(first) == 30
    assert content(batch)[:3] == content(expected)[:3]
    assert batch.telemetry["episodes"] == expected.telemetry["episodes"]
    assert batch.telemetry["window"] == 1


@pytest.mark.parametrize("n", [0, -1, 2**40, True, 1.5])
def test_d52_numbers_that_cannot_be_are_refused_at_construction(n: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="n_games must be"):
        engine_of(n)
    with pytest.raises((ValueError, TypeError), match="n_envs must be"):
        rf.VecEnv(rf.games.make("CartPole"), n)


@pytest.mark.parametrize("gamma", [1.1, float("nan"), -0.1])
def test_d52_discounts_that_cannot_be_are_refused_at_construction(gamma: float) -> None:
    with pytest.raises(ValueError, match="gamma must be"):
        rf.learners.Ppo(gamma=gamma)
    with pytest.raises(TypeError, match="lap_complete_percent"):
        rf.games.make("CarRacing", lap_complete_percent="0.95")


def test_d52_a_stream_of_no_depth_is_refused() -> None:
    with pytest.raises(ValueError, match="depth must be"):
        engine_of().collect_stream(5, infer_of(2), depth=0)


def test_d52_three_hundred_games_and_more_threads_than_games() -> None:
    assert len(engine_of(300).collect(600, infer_of(2))) == 600
    engine = engine_of(2, n_threads=64)
    assert engine.n_threads == 2
    assert len(engine.collect(6, infer_of(2))) == 6


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="chooses the cores of a process as Linux does")
def test_d52_one_core_and_one_thread_of_openmp_are_enough() -> None:
    script = """
import os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
try:
    import torch
except ModuleNotFoundError:
    pass
import numpy as np
import reinfors as rf
game = rf.games.make("CarRacing", max_steps=5)
for n_threads in (None, 4):
    engine = rf.Engine(game, None, rf.policies.Ppo(), rf.learners.Ppo(), 4, n_threads)
    with engine.collect_stream(16, lambda obs: (np.zeros((len(obs), 5)), np.zeros(len(obs))), depth=2) as stream:
        print(engine.n_threads, sum(len(next(stream)) for _ in range(3)))
"""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.split() == ["1", "48", "4", "48"]
