"""Pictures for people of any size: drawn at their resolution, the reference's own where none is named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import reinfors as rf

if TYPE_CHECKING:
    from numpy.typing import NDArray

OWN = (400, 600)  # of most
OWNS = {"SimpleSpread": (700, 700)}


def driven(game: rf.games.Game) -> rf.VecEnv:
    """An environment some way into an episode."""
    env = rf.VecEnv(game, n_envs=1, n_threads=1, seed=3)
    env.reset()
    for step in range(90):
        action = step % 2 if game.name == "CartPole" else (3, 3, 1)[step // 10 % 3]
        env.step(np.full(game.n_agents, action))
    return env


def shrunk(picture: NDArray[np.uint8], times: int) -> NDArray[np.float64]:
    """Means of squares of `times` by `times` pixels."""
    height, width, _ = picture.shape
    squares = picture.reshape(height // times, times, width // times, times, 3)
    means: NDArray[np.float64] = squares.mean(axis=(1, 3))
    return means


@pytest.mark.parametrize("name", rf.games.registered())
def test_a_picture_has_the_size_asked_for_and_moves_nothing(name: str) -> None:
    env = driven(rf.games.make(name))
    before, own, own_size = env.save(0), env.render(0), OWNS.get(name, OWN)
    assert own.shape == (*own_size, 3)
    assert np.array_equal(env.render(0, own_size), own)
    for size in [(32, 32), (120, 500), (799, 999), (801, 1001), [1080, 1920], np.array([2160, 3840])]:
        picture = env.render(0, size)  # type: ignore[arg-type]
        assert (picture.shape, picture.dtype) == ((*size, 3), np.uint8)
    assert np.array_equal(env.render(0), own)
    assert env.save(0) == before


@pytest.mark.parametrize("name", rf.games.registered())
def test_a_large_picture_is_the_same_scene_in_more_detail(name: str) -> None:
    env = driven(rf.games.make(name))
    height, width = OWNS.get(name, OWN)
    own, large = env.render(0), env.render(0, (4 * height, 4 * width))
    assert np.abs(shrunk(large, 4) - own).mean() < 1.5
    enlarged = own.repeat(4, axis=0).repeat(4, axis=1)
    assert (large != enlarged).any(axis=2).mean() > 0.0005


@pytest.mark.parametrize(
    ("size", "error"),
    [
        ((31, 600), ValueError),
        ((400, 4097), ValueError),
        ((-400, 600), ValueError),
        ((400.0, 600), TypeError),
        ((True, 600), TypeError),
        ((400,), TypeError),
        ((400, 600, 3), TypeError),
        (400, TypeError),
        ("4K", TypeError),
    ],
)
def test_a_size_that_cannot_be_drawn_is_refused_by_name(size: Any, error: type[Exception]) -> None:
    env = driven(rf.games.CarRacing())
    with pytest.raises(error, match="size"):
        env.render(0, size)


def test_gymnasium_s_environments_take_it_as_render_size() -> None:
    gymnasium = pytest.importorskip("gymnasium")
    size = (720, 1080)
    arguments = {"render_mode": "rgb_array", "render_size": size}
    env = gymnasium.make("reinfors/CarRacing-v3", **arguments)
    env.reset(seed=0)
    assert env.render().shape == (*size, 3)
    vector = gymnasium.make_vec("reinfors/CarRacing-v3", 2, **arguments)
    vector.reset(seed=0)
    pictures = vector.render()
    assert [picture.shape for picture in pictures] == [(*size, 3)] * 2
    assert np.array_equal(pictures[0], env.render())
    assert not np.array_equal(pictures[0], pictures[1])


@pytest.mark.parametrize(("size", "error"), [((0, 5), ValueError), ((720, 4097), ValueError), ("wide", TypeError)])
def test_gymnasium_s_environments_refuse_a_size_when_they_are_made(size: Any, error: type[Exception]) -> None:
    gymnasium = pytest.importorskip("gymnasium")
    with pytest.raises(error, match="size"):
        gymnasium.make("reinfors/CarRacing-v3", render_mode="rgb_array", render_size=size)
    with pytest.raises(error, match="size"):
        gymnasium.make_vec("reinfors/CarRacing-v3", 2, render_mode="rgb_array", render_size=size)
