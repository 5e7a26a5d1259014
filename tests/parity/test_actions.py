"""Actions of every kind mean to ours what they mean to the reference, rounding included."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from .drivers import uniform
from .lockstep import Lockstep, Mismatch
from .pair import Pair

FIRST_REWARD = 6.169592476489028  # of seed 0


@pytest.mark.parametrize("kind", [int, np.int64, np.int32, np.uint8, np.array])
def test_d05_discrete_actions_of_any_integer_type_are_accepted(kind: Any) -> None:
    pair = Pair(continuous=False)
    pair.reset(0)
    assert pair.step(kind(2))[1] == FIRST_REWARD
    for index in (3, 3, 1, 4, 0):
        pair.step(kind(index))


def test_d05_sampled_discrete_actions_are_accepted() -> None:
    pair = Pair(drawn=False, continuous=False)
    pair.reset(0)
    pair.ours.action_space.seed(5)
    assert pair.ours.action_space == pair.reference.action_space
    for _ in range(200):
        pair.step(pair.ours.action_space.sample())


@pytest.mark.parametrize(
    ("index", "control", "way"), [(1, [0.6, 0, 0], "right"), (2, [-0.6, 0, 0], "left"), (4, [0, 0, 0.8], "straight on")]
)
def test_d06_action_1_steers_right_and_2_left_as_the_float64_controls_do(
    index: int, control: list[float], way: str
) -> None:
    def drive(continuous: bool, gas: Any, then: Any) -> tuple[list[NDArray[np.uint8]], float]:
        pair = Pair(continuous=continuous)
        pair.reset(0)
        frames = [pair.step(gas)[0] for _ in range(30)]
        before = float(pair.ours.unwrapped.inspect()["hull"][2])
        frames += [pair.step(then)[0] for _ in range(20)]
        return frames, float(pair.ours.unwrapped.inspect()["hull"][2]) - before

    discrete, turn = drive(continuous=False, gas=3, then=index)
    as_float64, _ = drive(continuous=True, gas=np.array([0, 0.2, 0]), then=np.array(control))
    as_float32, _ = drive(continuous=True, gas=np.float32([0, 0.2, 0]), then=np.float32(control))
    assert ("left" if turn > 0.1 else "right" if turn < -0.1 else "straight on") == way
    assert np.array_equal(discrete, as_float64)
    assert not np.array_equal(discrete, as_float32)


@pytest.mark.parametrize("action", [[5, 5, 5], [-5, -5, -5], [0, 0, -1], [1, 0, 0.9], [0, 0, 1e300]])
def test_d07_actions_outside_their_bounds_act_as_in_the_reference(action: list[float]) -> None:
    pair, given = Pair(), np.array(action, np.float64)
    pair.reset(0)
    for _ in range(60):
        pair.step(np.float32([0, 1, 0]))
    for _ in range(20):
        pair.step(given)
    assert given.tolist() == action, "the caller's array is left alone"


def test_d07_a_negative_brake_is_no_brake_and_gas_stops_at_one() -> None:
    def drive(action: list[float]) -> tuple[list[float], NDArray[np.uint8]]:
        pair = Pair(drawn=False)
        pair.reset(0)
        steps = [pair.step(np.float32([0, 1, 0])) for _ in range(60)]
        steps += [pair.step(np.float32(action)) for _ in range(10)]
        return [step[1] for step in steps], steps[-1][0]

    for unusual, usual in (([0, 1, -1], [0, 1, 0]), ([0, 5, 0], [0, 1, 0]), ([0, 0, 5], [0, 0, 0.95])):
        rewards, frame = drive(unusual)
        same_rewards, same_frame = drive(usual)
        assert rewards == same_rewards
        assert np.array_equal(frame, same_frame)
    assert not np.array_equal(frame, drive([0, 0, 0.5])[1]), "a weak brake locks nothing"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_actions_are_taken_in_the_precision_they_come_in(dtype: type) -> None:
    pair, rng = Lockstep(), np.random.default_rng(9)
    pair.reset(9)
    for _ in range(30):
        action: NDArray[Any] = rng.uniform([-1, 0, 0], [1, 1, 0.5]).astype(dtype)
        for _ in range(10):
            pair.step(action)


def test_float32_and_float64_of_one_decimal_drive_apart() -> None:
    pair, other = Lockstep(), Lockstep()
    states = []
    for race, dtype in ((pair, np.float32), (other, np.float64)):
        race.reset(9)
        states.append([race.step(np.array([0.1, 0.2, 0], dtype)).state["hull"] for _ in range(100)])
    assert not np.array_equal(states[0][-1], states[1][-1])


def test_d08_integer_arrays_act_as_floats() -> None:
    pair = Pair()
    pair.reset(0)
    assert pair.step(np.zeros(3, int))[1] == FIRST_REWARD
    for _ in range(20):
        pair.step(np.array([1, 1, 0]))


def test_an_action_given_to_one_alone_is_found() -> None:
    pair, driver = Lockstep(), uniform(3)
    pair.reset(3)
    for index in range(30):
        pair.step(driver(pair.reference, index))
    pair.ours.step(driver(pair.reference, 30)[np.newaxis])
    with pytest.raises(Mismatch):
        pair.step(driver(pair.reference, 31))
