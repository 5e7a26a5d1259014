"""Rewards, laps and ends as `gymnasium.make` gives them, equal at every step."""

from __future__ import annotations

import numpy as np
import pytest

from .drivers import recorded
from .lockstep import Mismatch
from .pair import Pair

NOTHING = np.zeros(3, np.float32)
GAS = np.float32([0, 0.3, 0])

# Tiles, steps and return with which each recorded drive finishes its lap.
LAPS = {0: (319, 1738, 826.2), 1: (275, 1530, 847.0), 2: (335, 1798, 820.2), 3: (271, 1524, 847.6)}


def off_playfield(**options: object) -> tuple[Pair, int]:
    """Drives straight on until the car is off the playfield; returns the steps it took."""
    pair = Pair(drawn=False, **options)
    pair.reset(0)
    for steps in range(1, 1000):
        _, reward, terminated, _, info = pair.step(GAS)
        if terminated:
            assert (reward, info) == (-100, {"lap_finished": False})
            return pair, steps
    raise AssertionError("the car never left the playfield")


@pytest.mark.parametrize("seed", LAPS)
@pytest.mark.parametrize("lap_complete_percent", [0.5, 0.95])
def test_d01_a_lap_ends_with_its_last_tile_whatever_percentage_is_asked_for(
    seed: int, lap_complete_percent: float
) -> None:
    pair = Pair(drawn=False, max_episode_steps=2000, lap_complete_percent=lap_complete_percent)
    pair.reset(seed)
    rewards: list[float] = []
    terminated, info = False, {"lap_finished": False}
    for action in recorded(seed):
        assert not terminated
        _, reward, terminated, _, info = pair.step(action)
        rewards.append(reward)
    tiles, steps, total = LAPS[seed]
    assert terminated
    assert info == {"lap_finished": True}
    assert pair.reference.unwrapped.tile_visited_count == len(pair.reference.unwrapped.track) == tiles
    assert (len(rewards), round(sum(rewards), 1)) == (steps, total)


@pytest.mark.parametrize(
    ("seed", "tiles", "first"), [(0, 319, 6.169592476489028), (1, 275, 7.172727272727273), (42, 283, 6.967137809187279)]
)
def test_d02_the_two_tiles_of_the_start_are_paid_with_the_first_step(seed: int, tiles: int, first: float) -> None:
    pair = Pair()
    pair.reset(seed)
    assert len(pair.reference.unwrapped.track) == tiles
    assert pair.step(NOTHING)[1] == first == 2000 / tiles - 0.1
    assert pair.step(NOTHING)[1] == pytest.approx(-0.1)


def test_d03_every_tile_is_paid_when_a_wheel_first_touches_it() -> None:
    pair = Pair(drawn=False)
    pair.reset(0)
    total = 0.0
    for step in range(1, 271):
        total += pair.step(np.float32([0, 0.5, 0]))[1]
        visited = pair.ours.unwrapped.inspect()["visited"]
        assert visited.sum() == pair.reference.unwrapped.tile_visited_count
        assert total == pytest.approx(visited.sum() * 1000 / len(visited) - 0.1 * step)
    assert pair.step(np.float32([0, 0.5, 0]))[1] == -100, "the 271st step leaves the playfield"


def test_d04_an_episode_simulates_on_after_the_time_limit() -> None:
    pair = Pair(max_episode_steps=3)
    pair.reset(0)
    truncated = [pair.step(NOTHING)[3] for _ in range(5)]
    assert truncated == [False, False, True, True, True]


def test_d04_an_episode_simulates_on_after_leaving_the_playfield() -> None:
    pair, steps = off_playfield()
    assert steps == 310
    for _ in range(50):
        _, reward, terminated, truncated, info = pair.step(GAS)
        assert (reward, terminated, truncated, info) == (-100, True, False, {"lap_finished": False})


def test_an_episode_can_end_both_ways_at_once() -> None:
    pair, steps = off_playfield(max_episode_steps=310)
    assert steps == 310
    assert pair.step(GAS)[2:4] == (True, True)


def test_another_drive_is_found() -> None:
    pair = Pair(drawn=False)
    pair.reset(0)
    pair.ours.step(NOTHING)
    with pytest.raises(Mismatch, match="reward"):
        pair.step(NOTHING)
