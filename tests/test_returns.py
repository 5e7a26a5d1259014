"""GAE and n-step returns of random windows against plain NumPy, with final observations at every end.

A twin engine under another learner plays the very same episodes, as its answers are the same, and shows what the first
one keeps to itself: single rewards, and what cut-off episodes stopped with.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import reinfors as rf

SHARES = st.floats(0, 1)
WINDOWS = st.tuples(st.integers(1, 20), st.integers(1, 20))  # steps, games: also two halves that take turns
SEEDS = st.integers(0, 2**32)


def logits_of(obs: np.ndarray) -> np.ndarray:
    """Leans one way, so that episodes terminate within few steps."""
    return np.asarray(np.stack([obs.sum(axis=1) * 3, np.full(len(obs), 2.0)], axis=1))


def value_of(obs: np.ndarray) -> np.ndarray:
    return np.asarray(np.sin(obs.sum(axis=1) * 5))


def batch_of(learner: Any, window: tuple[int, int], seed: int) -> rf.Batch:
    """The second window of so many steps and games: episodes are on their way when it begins."""
    n_steps, n_games = window
    game = rf.games.make("CartPole", max_steps=11)
    engine = rf.Engine(game, None, rf.policies.Ppo(), learner, n_games=n_games, n_threads=1, seed=seed)
    has_values = isinstance(learner, rf.learners.Ppo)
    for _ in range(2):
        batch = engine.collect(
            n_steps * n_games, lambda obs: (logits_of(obs), value_of(obs)) if has_values else logits_of(obs)
        )
    return batch


def truncations(batch: rf.Batch) -> np.ndarray:
    return np.asarray(batch.time_major("truncated") & ~batch.time_major("terminated"))


@settings(max_examples=60, deadline=None)
@given(WINDOWS, SEEDS, SHARES, SHARES)
def test_advantages_are_the_sums_of_discounted_differences(
    window: tuple[int, int], seed: int, gamma: float, lam: float
) -> None:
    batch = batch_of(rf.learners.Ppo(gamma=gamma, lam=lam), window, seed)
    twin = batch_of(rf.learners.Vtrace(), window, seed)
    assert np.array_equal(batch.obs, twin.obs)
    n_steps, n_games = window
    final_values = np.zeros(n_steps * n_games)
    final_values[twin.final_rows] = value_of(twin.final_obs)
    rewards, values = (batch.time_major(name).astype(np.float64) for name in ("rewards", "values"))
    following = np.concatenate([values[1:], batch.last_values[None].astype(np.float64)])
    following = np.where(truncations(batch), final_values.reshape(n_steps, n_games), following)
    following[batch.time_major("terminated")] = 0
    deltas = rewards + gamma * following - values
    goes_on = ~(batch.time_major("terminated") | batch.time_major("truncated"))
    for slot in range(n_games):
        for start in range(n_steps):
            expected, weight = 0.0, 1.0
            for t in range(start, n_steps):
                expected += weight * deltas[t, slot]
                weight *= gamma * lam
                if not goes_on[t, slot]:
                    break
            assert abs(batch.time_major("advantages")[start, slot] - expected) < 1e-4
    np.testing.assert_allclose(batch.returns, batch.advantages + batch.values, atol=1e-5)


@settings(max_examples=60, deadline=None)
@given(WINDOWS, SEEDS, SHARES, st.integers(1, 25))
def test_transitions_are_sums_of_the_single_ones(window: tuple[int, int], seed: int, gamma: float, n_step: int) -> None:
    batch = batch_of(rf.learners.Transitions(n_step=n_step, gamma=gamma), window, seed)
    single = batch_of(rf.learners.Transitions(n_step=1, gamma=gamma), window, seed)
    assert np.array_equal(batch.obs, single.obs)
    n_steps, n_games = window
    ends = single.terminated | single.truncated
    rewards, discounts, next_obs = batch.rewards, batch.discounts, batch.next_obs
    for row in range(n_steps * n_games):
        expected, discount, last = 0.0, 1.0, row
        for at in range(row, n_steps * n_games, n_games)[:n_step]:
            expected += discount * float(single.rewards[at])
            discount *= gamma
            last = at
            if ends[at]:
                break
        assert abs(rewards[row] - expected) < 1e-4
        assert abs(discounts[row] - (0 if single.terminated[last] else discount)) < 1e-6
        assert np.array_equal(next_obs[row], single.next_obs[last])
        assert (batch.terminated[row], batch.truncated[row]) == (single.terminated[last], single.truncated[last])


def test_the_windows_have_ends_of_either_kind() -> None:
    batch = batch_of(rf.learners.Vtrace(), (20, 20), 0)
    assert batch.terminated.sum() > 3
    assert truncations(batch).sum() > 3
