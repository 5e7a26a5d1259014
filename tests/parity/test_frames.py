"""Observations are the reference's, byte for byte, wherever drawing has a corner.

The frames on the way of whole episodes are compared in `test_episodes`. Each test here also shows that what it is named
after is in the picture.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from .drivers import racer, recorded, uniform
from .lockstep import Lockstep, Mismatch, require_equal

Frame = NDArray[np.uint8]

NOTHING = np.zeros(3, np.float32)
GAS = np.float32([0, 0.3, 0])
HUD_ROWS = 12

# What a uniform area of these colours becomes: the scaling takes two levels off.
BLACK, WHITE, RED = [0, 0, 0], [253, 253, 253], [253, 0, 0]


def count(frame: Frame, color: list[int]) -> int:
    """Pixels of the world, not the indicators, of exactly this colour."""
    return int((frame[:-HUD_ROWS] == color).all(axis=-1).sum())


def frames(pair: Lockstep, actions: Iterable[Any], every: int = 1) -> list[Frame]:
    """Our frames at every so many steps, each equal to the reference's."""
    seen = []
    for index, action in enumerate(actions):
        drawn = index % every == 0
        pair.step(action, drawn=drawn)
        if drawn:
            seen.append(pair.frame())
    return seen


@pytest.mark.parametrize("seed", range(5))
def test_d17_all_61_frames_of_the_opening_zoom_are_equal(seed: int) -> None:
    pair = Lockstep()
    opening = [pair.reset(seed, drawn=True), *frames(pair, [NOTHING] * 60)]
    assert len(opening) == 61
    assert count(opening[0], BLACK) > 0, "the first frame shows the whole playfield and what lies beyond"
    assert len({frame.tobytes() for frame in opening[:50]}) == 50, "the zoom takes a second"


def test_frames_with_kerbs_are_equal() -> None:
    pair = Lockstep()
    pair.reset(3)
    lap = frames(pair, recorded(3)[:1000], every=10)
    with_kerbs = [frame for frame in lap if count(frame, WHITE) > 0 and count(frame, RED) > 0]
    assert len(with_kerbs) >= 15


def test_frames_off_the_road_are_equal() -> None:
    pair, off_road, driver = Lockstep(), 0, racer(16, 70)
    pair.reset(16)
    for index in range(600):
        drawn = index % 12 == 0
        step = pair.step(driver(pair.reference, index), drawn=drawn)
        off_road += drawn and not step.state["wheel_tiles"].any()
    assert off_road >= 10


def test_frames_at_and_beyond_the_edge_of_the_playfield_are_equal() -> None:
    pair = Lockstep()
    pair.reset(0)
    for _ in range(285):
        pair.step(GAS)
    seen = frames(pair, [GAS] * 40)
    at_the_edge = [frame for frame in seen if 100 < count(frame, BLACK) < 6000]
    assert len(at_the_edge) >= 15
    assert count(seen[-1], BLACK) > 7000, "beyond the edge there is nothing"


@pytest.mark.parametrize("seed", [40, 41, 42, 43])
def test_frames_in_random_colours_are_equal(seed: int) -> None:
    pair, driver = Lockstep(domain_randomize=True), uniform(seed, hold=12)
    opening = [pair.reset(seed, drawn=True), pair.reset(drawn=True), pair.reset(randomize=False, drawn=True)]
    assert (opening[0] != opening[1]).mean() > 0.3, "other colours"
    frames(pair, (driver(pair.reference, index) for index in range(200)), every=10)


def test_frames_with_negative_scores_are_equal() -> None:
    pair, brake = Lockstep(), np.float32([0, 0, 1])
    pair.reset(1)
    before_zero = round(pair.reference.reward * 10)
    scores = []
    for index in range(1250):
        near_zero, below_minus_100 = abs(index - before_zero) < 12, index >= before_zero + 990
        drawn = near_zero or below_minus_100 or index % 100 == 0
        pair.step(brake, drawn=drawn)
        if drawn:
            scores.append(pair.reference.prev_reward)
    assert min(scores) < -105
    assert any(-0.5 < score < 0 for score in scores), "which is written -000"


@pytest.mark.parametrize("continuous", [False, True])
def test_frames_with_channels_first_are_equal(continuous: bool) -> None:
    pair = Lockstep(continuous=continuous, layout="chw")
    assert pair.reset(7, drawn=True).shape == (3, 96, 96)
    frames(pair, [np.float32([0.2, 0.4, 0]) if continuous else 3] * 120, every=6)


def test_one_step_or_another_seed_makes_another_frame() -> None:
    pair = Lockstep()
    first = pair.reset(0, drawn=True)
    with pytest.raises(Mismatch, match="frame"):
        require_equal("frame", first, pair.reset(1, drawn=True))
    pair.step(GAS)
    before = pair.frame()
    pair.step(GAS)
    with pytest.raises(Mismatch, match="frame"):
        require_equal("frame", before, pair.frame())
