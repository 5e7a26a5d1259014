"""V-trace against the published sum, written here in NumPy, on random cases; on-policy it is the n-step return."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reinfors as rf


def published(told: dict[str, Any], rho_clip: float, c_clip: float) -> tuple[np.ndarray, np.ndarray]:
    """Equation 1 of the paper, term by term, an episode that was cut off ending with the value of what it showed."""
    rewards, values, discounts = told["rewards"], told["values"], told["discounts"]
    n_steps, n_games = rewards.shape
    ratio = np.exp(told["target_log_probs"] - told["behavior_log_probs"])
    rho, c = np.minimum(rho_clip, ratio), np.minimum(c_clip, ratio)

    def following(of: np.ndarray, t: int, slot: int) -> float:
        if told["truncated"][t, slot]:
            return float(told["final_values"][t, slot])
        return float(of[t + 1, slot] if t + 1 < n_steps else told["last_values"][slot])

    targets = values.copy()
    for slot in range(n_games):
        for start in range(n_steps):
            weight = 1.0
            for t in range(start, n_steps):
                delta = rewards[t, slot] + discounts[t, slot] * following(values, t, slot) - values[t, slot]
                targets[start, slot] += weight * rho[t, slot] * delta
                weight *= discounts[t, slot] * c[t, slot]
                if told["truncated"][t, slot]:
                    break
    next_targets = np.array([[following(targets, t, slot) for slot in range(n_games)] for t in range(n_steps)])
    return targets, rho * (rewards + discounts * next_targets - values)


def case(seed: int, n_steps: int, n_games: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    names = ["behavior_log_probs", "target_log_probs", "rewards", "values", "final_values"]
    told: dict[str, Any] = {name: rng.normal(0, 1, (n_steps, n_games)) for name in names}
    told["discounts"] = np.where(rng.random((n_steps, n_games)) < 0.2, 0, rng.random((n_steps, n_games)))
    told["truncated"] = rng.random((n_steps, n_games)) < 0.2
    told["last_values"] = rng.normal(0, 1, n_games)
    return told


@settings(max_examples=80, deadline=None)
@given(
    st.integers(0, 2**32),
    st.tuples(st.integers(1, 9), st.integers(1, 4)),
    st.tuples(st.floats(0.05, 4), st.floats(0.05, 4)),
    st.booleans(),
)
def test_random_cases_agree_with_the_published_sum(
    seed: int, shape: tuple[int, int], clips: tuple[float, float], single: bool
) -> None:
    (n_steps, n_games), (rho_clip, c_clip) = shape, clips
    told = case(seed, n_steps, n_games)
    if single:
        told = {name: array if array.dtype == bool else array.astype(np.float32) for name, array in told.items()}
    targets, advantages = rf.vtrace(**told, rho_clip=rho_clip, c_clip=c_clip)
    assert (targets.dtype, targets.shape) == (np.float32, (n_steps, n_games))
    wide = {name: array if array.dtype == bool else array.astype(np.float64) for name, array in told.items()}
    expected = published(wide, rho_clip, c_clip)
    np.testing.assert_allclose(targets, expected[0], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(advantages, expected[1], rtol=1e-5, atol=1e-5)


def test_on_policy_the_targets_are_the_returns_to_the_end_of_the_window() -> None:
    told = case(0, 12, 3)
    told["target_log_probs"] = told["behavior_log_probs"]
    returns, following = np.zeros((12, 3)), told["last_values"]
    for t in reversed(range(12)):
        following = np.where(told["truncated"][t], told["final_values"][t], following)
        following = told["rewards"][t] + told["discounts"][t] * following
        returns[t] = following
    np.testing.assert_allclose(rf.vtrace(**told)[0], returns, rtol=1e-5, atol=1e-6)


def pole_engine() -> rf.Engine:
    game = rf.games.make("CartPole", max_steps=9)
    learner = rf.learners.Vtrace(gamma=0.9, rho_clip=0.8, c_clip=0.6)
    return rf.Engine(game, None, rf.policies.Ppo(), learner, n_games=5, n_threads=1, seed=0)


def logits_of(obs: np.ndarray) -> np.ndarray:
    return np.asarray(obs[:, :2] * 5)


def value_of(obs: np.ndarray) -> np.ndarray:
    return np.asarray(obs.sum(axis=1) * 3)


@pytest.mark.parametrize("flat", [False, True])
def test_a_batch_knows_what_it_was_not_told(flat: bool) -> None:
    batch = pole_engine().collect(5 * 30, logits_of)
    assert 0 < len(batch.final_rows) < 30
    shape = (150,) if flat else (30, 5)
    log_probs = batch.behavior_log_probs + np.random.default_rng(0).normal(0, 0.5, 150)
    made = batch.vtrace(
        log_probs.reshape(shape),
        value_of(batch.obs).reshape(shape),
        value_of(batch.last_obs),
        value_of(batch.final_obs),
    )
    truncated, final_values = np.zeros(150, bool), np.full(150, np.nan)
    truncated[batch.final_rows], final_values[batch.final_rows] = True, value_of(batch.final_obs)
    assert np.array_equal(truncated, batch.truncated & ~batch.terminated)
    told: dict[str, Any] = {
        "behavior_log_probs": batch.behavior_log_probs,
        "target_log_probs": log_probs,
        "rewards": batch.rewards,
        "discounts": batch.discounts,
        "values": value_of(batch.obs),
        "truncated": truncated,
        "final_values": final_values,
    }
    told = {name: array.reshape(30, 5) for name, array in told.items()}
    told["last_values"] = value_of(batch.last_obs)
    for ours, theirs in zip(made, rf.vtrace(**told, rho_clip=0.8, c_clip=0.6), strict=True):
        assert ours.shape == shape
        assert np.array_equal(ours.reshape(30, 5), theirs)


def test_a_batch_of_another_learner_has_no_correction() -> None:
    game = rf.games.make("CartPole", max_steps=9)
    engine = rf.Engine(game, None, rf.policies.Ppo(), rf.learners.Ppo(), n_games=2, seed=0)
    batch = engine.collect(4, lambda obs: (logits_of(obs), value_of(obs)))
    with pytest.raises(AttributeError, match="a batch of Ppo has no vtrace"):
        batch.vtrace(batch.values, batch.values, batch.last_values)


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"values": np.zeros((4, 3))}, ValueError, r"values must have the shape \(4, 2\), got \(4, 3\)"),
        (
            {"rewards": np.zeros(4)},
            ValueError,
            r"rewards must have the shape \(T, N\), of 1 to 16777216 numbers, got \(4,\)",
        ),
        ({"rewards": np.zeros((0, 2))}, ValueError, r"rewards must have the shape \(T, N\)"),
        ({"rewards": None}, TypeError, "rewards must be an array"),
        ({"last_values": np.zeros((1, 2))}, ValueError, r"last_values must have the shape \(2,\), got \(1, 2\)"),
        (
            {"discounts": np.zeros((4, 2), int)},
            TypeError,
            "vtrace must be given discounts as float32 or float64.*int64",
        ),
        ({"values": [[0.0] * 2] * 4}, TypeError, "vtrace must be given values as float32 or float64"),
        ({"values": np.full((4, 2), np.nan)}, ValueError, "targets of row . would be NaN"),
        ({"target_log_probs": np.full((4, 2), np.nan)}, ValueError, "targets of row . would be NaN"),
        ({"behavior_log_probs": np.full((4, 2), np.nan)}, ValueError, "targets of row . would be NaN"),
        ({"rewards": np.full((4, 2), 1e39)}, ValueError, "targets of row . would be .*float32 cannot hold"),
        ({"truncated": np.zeros((4, 2))}, TypeError, r"truncated must be a bool array of shape \(4, 2\), got dtype"),
        ({"truncated": np.zeros(4, bool)}, ValueError, r"truncated must be a bool array of shape \(4, 2\), got shape"),
        ({"truncated": np.ones((4, 2), bool), "final_values": None}, TypeError, "final_values are needed"),
        ({"rho_clip": 0}, ValueError, "rho_clip must be a finite number above 0"),
        ({"c_clip": np.inf}, ValueError, "c_clip must be a finite number above 0"),
        ({"c_clip": "1"}, TypeError, "c_clip must be a number"),
    ],
)
def test_what_does_not_belong_together_is_refused(change: dict[str, Any], error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        rf.vtrace(**{**case(0, 4, 2), **change})


def test_final_values_of_a_batch_are_asked_for() -> None:
    batch = pole_engine().collect(5 * 30, logits_of)
    values = value_of(batch.obs)
    with pytest.raises(TypeError, match=r"final_values must be the values of final_obs, of which the batch has \d+"):
        batch.vtrace(values, values, value_of(batch.last_obs))
    with pytest.raises(ValueError, match=r"target_log_probs must have the shape \(150,\) or \(30, 5\), got \(5, 30\)"):
        batch.vtrace(values.reshape(5, 30), values, value_of(batch.last_obs), value_of(batch.final_obs))
