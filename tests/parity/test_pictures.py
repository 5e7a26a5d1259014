"""Shapes and render modes, and pictures with the skid marks that observations never show."""

from __future__ import annotations

import numpy as np
import pytest

from .lockstep import Mismatch, require_equal
from .pair import Pair

SCORE = np.s_[87:93, :12]  # where an observation shows the score
GAS, SLIDE = np.float32([0, 1, 0]), np.float32([1, 0, 1])


@pytest.mark.parametrize("render_mode", [None, "rgb_array", "state_pixels"])
def test_d16_shapes_layout_spaces_and_metadata_are_the_reference_s(render_mode: str | None) -> None:
    pair = Pair(render_mode=render_mode)
    frame = pair.reset(0)
    assert frame.shape == (96, 96, 3)
    assert frame.dtype == np.uint8
    assert frame.flags.c_contiguous
    assert frame in pair.ours.observation_space
    for name in ("observation_space", "action_space", "render_mode"):
        assert getattr(pair.ours, name) == getattr(pair.reference, name)
    assert pair.ours.metadata["render_fps"] == pair.reference.metadata["render_fps"] == 50
    assert pair.ours.spec.max_episode_steps == pair.reference.spec.max_episode_steps == 1000
    assert pair.ours.spec.reward_threshold == pair.reference.spec.reward_threshold == 900


def test_d16_state_pixels_renders_the_observation() -> None:
    pair = Pair(render_mode="state_pixels")
    assert np.array_equal(pair.reset(0), pair.render())
    for _ in range(30):
        frame = pair.step(GAS)[0]
        picture = pair.ours.render()
        assert np.array_equal(picture, frame)
        # The reference draws its score anew, of which the step's own 0.1 has been taken by then.
        theirs = pair.reference.render()
        theirs[SCORE] = frame[SCORE]
        require_equal("picture", picture, theirs)


def test_rgb_array_renders_the_picture_for_people() -> None:
    pair = Pair(render_mode="rgb_array")
    pair.reset(0)
    picture = pair.render()
    assert picture.shape == (400, 600, 3)
    assert picture.dtype == np.uint8
    assert picture.flags.c_contiguous


def test_d18_rendering_twice_gives_the_same_and_moves_nothing() -> None:
    rendered, plain = Pair(render_mode="rgb_array", max_episode_steps=30), Pair(max_episode_steps=30)
    for episode in range(2):
        seed = 6 if episode == 0 else None
        assert np.array_equal(rendered.reset(seed), plain.reset(seed))
        truncated = False
        while not truncated:
            picture = rendered.render()
            assert np.array_equal(rendered.render(), picture)
            assert picture.any()
            frame, *_, truncated, _ = rendered.step(GAS)
            assert np.array_equal(frame, plain.step(GAS)[0])


@pytest.mark.parametrize("domain_randomize", [False, True])
def test_d19_pictures_show_skid_marks_and_observations_never_do(domain_randomize: bool) -> None:
    pair = Pair(render_mode="rgb_array", domain_randomize=domain_randomize)
    pair.reset(0)
    for index, action in enumerate([GAS] * 120 + [SLIDE] * 30):
        pair.step(action)
        if index % 10 == 0 or index >= 120:
            pair.render()
    car = pair.reference.unwrapped.car
    if not domain_randomize:
        assert len(car.particles) == 14
    with_marks = pair.render()
    car.particles.clear()
    with pytest.raises(Mismatch, match="picture"):
        require_equal("picture", with_marks, pair.reference.render())
