"""The adapter for dm_env: its own conformance tests, and that it plays what `VecEnv` plays."""

from __future__ import annotations

import unittest
from typing import Any

import numpy as np
import pytest

import reinfors as rf

dm_env = pytest.importorskip("dm_env")
pytest.importorskip("dm_env.test_utils")

from dm_env.test_utils import EnvironmentTestMixin  # noqa: E402


class TestNumberedActions(EnvironmentTestMixin, unittest.TestCase):
    def make_object_under_test(self) -> Any:
        return rf.dm_env.Environment(rf.games.CarRacing(max_steps=8), seed=0)


class TestVectors(EnvironmentTestMixin, unittest.TestCase):
    def make_object_under_test(self) -> Any:
        return rf.dm_env.Environment(rf.games.CarRacing(continuous=True, obs="both", max_steps=8), seed=0)


class TestStates(EnvironmentTestMixin, unittest.TestCase):
    def make_object_under_test(self) -> Any:
        return rf.dm_env.Environment(rf.games.CartPole(), seed=0)


def test_it_plays_what_the_native_environment_plays() -> None:
    game = rf.games.CartPole(max_steps=30)
    env, native = rf.dm_env.Environment(game, seed=3), rf.VecEnv(game, 1, 1, seed=3, autoreset="disabled")
    rng = np.random.default_rng(0)
    ends = []
    for _ in range(20):
        step, (expected, _) = env.reset(), native.reset()
        while not step.last():
            assert np.array_equal(step.observation, expected[0])
            action = int(rng.integers(2))
            step, (expected, rewards, terminated, truncated, _) = env.step(action), native.step([action])
            assert step.reward == rewards[0]
        assert (step.discount == 0.0) == terminated[0]
        ends.append((bool(terminated[0]), bool(truncated[0])))
        assert np.array_equal(step.observation, expected[0])
    assert {(True, False), (False, True)} <= set(ends)


def test_worlds_that_are_not_native_have_a_spec_without_bounds() -> None:
    class Still:
        def reset(self, rows: Any, seeds: Any) -> Any:
            return np.zeros((len(rows), 2))

        def step(self, actions: Any, active: Any) -> Any:
            return np.ones((len(actions), 2)), actions * 1.0, actions == 1, actions == 2

    env = rf.dm_env.Environment(rf.games.Batch(lambda n: Still(), obs_shape=(2,), n_actions=3))
    assert env.observation_spec() == dm_env.specs.BoundedArray((2,), np.float32, -np.inf, np.inf, "obs")
    assert env.reset().first()
    env.observation_spec().validate(env.step(0).observation)
    assert env.step(2) == dm_env.truncation(2.0, pytest.approx([1, 1]))


def test_another_seed_or_other_weights_are_another_game() -> None:
    first = rf.dm_env.Environment(rf.games.CartPole(), seed=3).reset().observation
    assert not np.array_equal(first, rf.dm_env.Environment(rf.games.CartPole(), seed=4).reset().observation)
    paid = rf.dm_env.Environment(rf.games.CartPole(), seed=3, reward=rf.Reward(alive=2.0))
    assert paid.step(0).first()
    assert paid.step(0).reward == 2.0


def test_wrong_actions_are_refused() -> None:
    env = rf.dm_env.Environment(rf.games.CartPole(), seed=0)
    env.reset()
    for action, error in ((2, ValueError), (0.5, TypeError), (np.zeros(2, int), ValueError)):
        with pytest.raises(error, match="action"):
            env.step(action)
