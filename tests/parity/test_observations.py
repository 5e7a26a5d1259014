"""Sizes, greys, stacked frames and skipped steps are those of Gymnasium's own wrappers on the reference, byte for byte.

Where Gymnasium has no such wrapper, a plain one stands here: a size is pygame's `smoothscale` of the reference's own
surface, and a skip is a loop over `step`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import reinfors as rf

from .drivers import racer
from .lockstep import Lockstep, require_equal
from .reference import State, gymnasium, moving, track

GAS = 3
STATE = rf.games.CarRacing(obs="state")
AHEAD = {"bend_5": 5, "bend_10": 10, "bend_20": 20}


class Skip(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Repeats each action, sums the rewards and shows the last frame; an end cuts it short."""

    def __init__(self, env: Any, steps: int) -> None:
        super().__init__(env)
        self.steps = steps

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        total = 0.0
        for _ in range(self.steps):
            obs, reward, terminated, truncated, info = self.env.step(action)
            total += float(reward)
            if terminated or truncated:
                break
        return obs, total, terminated, truncated, info


class Scaled(gymnasium.ObservationWrapper[Any, Any, Any]):
    """What the reference would show if its observations had another size, (height, width)."""

    def __init__(self, env: Any, size: tuple[int, int]) -> None:
        super().__init__(env)
        self.observation_space = gymnasium.spaces.Box(0, 255, (*size, 3), np.uint8)

    def observation(self, observation: Any) -> NDArray[np.uint8]:
        import pygame  # noqa: PLC0415  here, so that where it is missing the module is skipped as others are

        height, width, _ = self.observation_space.shape or ()
        scaled = pygame.transform.smoothscale(self.unwrapped.surf, (width, height))  # type: ignore[attr-defined]
        return pygame.surfarray.array3d(scaled).transpose(1, 0, 2)


def reference(*, max_steps: int = 1000, **options: Any) -> Any:
    """The reference with five actions, all of whose frames are drawn."""
    return gymnasium.make("CarRacing-v3", max_episode_steps=max_steps, continuous=False, **options)


def gray(env: Any) -> Any:
    return gymnasium.wrappers.GrayscaleObservation(env, keep_dim=True)


def stacked(env: Any, frames: int) -> Any:
    return gymnasium.wrappers.FrameStackObservation(env, frames)


def ours(**options: Any) -> rf.VecEnv:
    return rf.VecEnv(rf.games.CarRacing(**options), 1, 1, autoreset="disabled")


def arranged(obs: NDArray[np.uint8], layout: str) -> NDArray[np.uint8]:
    """Frames of a wrapper, (height, width, channels) or a stack of them, side by side along the axis of channels."""
    frames = obs[np.newaxis] if obs.ndim == 3 else obs
    if layout == "hwc":
        return np.concatenate(list(frames), axis=-1)
    return np.concatenate([frame.transpose(2, 0, 1) for frame in frames], axis=0)


def require_equal_episode(  # one for all tests: what varies is the chain of wrappers and the options that equal it
    env: Any, options: dict[str, Any], *, seed: int | None, actions: Any, layout: str = "hwc", envs: rf.VecEnv
) -> list[NDArray[np.uint8]]:
    """Plays both to the end of the actions or of the episode and compares all they return; returns our frames."""
    theirs, _ = env.reset(seed=seed, options=options)
    frames = [envs.reset(None if seed is None else [seed], options)[0][0]]
    require_equal("first observation", frames[0], arranged(theirs, layout))
    for index, action in enumerate(actions):
        theirs, reward, terminated, truncated, info = env.step(action)
        obs, rewards, terminations, truncations, infos = envs.step([action])
        frames.append(obs[0])
        require_equal(f"observation {index}", obs[0], arranged(theirs, layout))
        require_equal(f"reward {index}", rewards[0], reward)
        require_equal(f"ends {index}", [terminations[0], truncations[0]], [terminated, truncated])
        require_equal("info", infos.get("lap_finished", [None])[0], info.get("lap_finished"))
        if terminated or truncated:
            break
    return frames


def some_actions(seed: int, count: int, hold: int = 6) -> list[int]:
    """Mostly gas, each action held for a while."""
    rng = np.random.default_rng(seed)
    return [int(rng.choice(5, p=[0.1, 0.2, 0.2, 0.45, 0.05])) for _ in range(-(-count // hold)) for _ in range(hold)]


@pytest.mark.parametrize("size", [(84, 84), (64, 64), (77, 121), (4, 4), (799, 999)])
def test_any_size_is_the_reference_surface_scaled(size: tuple[int, int]) -> None:
    env, envs = Scaled(reference(), size), ours(size=size, layout="hwc")
    count = 80 if size[0] < 200 else 5
    frames = require_equal_episode(env, {}, seed=2, actions=some_actions(2, count), envs=envs)
    assert frames[0].shape == (*size, 3)


@pytest.mark.parametrize("layout", ["chw", "hwc"])
@pytest.mark.parametrize("domain_randomize", [False, True])
def test_gray_is_the_grayscale_wrapper(layout: str, *, domain_randomize: bool) -> None:
    env, envs = (
        gray(reference(domain_randomize=domain_randomize)),
        ours(gray=True, layout=layout, domain_randomize=domain_randomize),
    )
    for seed in (5, 6, None):
        frames = require_equal_episode(env, {}, seed=seed, actions=some_actions(5, 60), layout=layout, envs=envs)
    assert frames[0].shape == ((1, 96, 96) if layout == "chw" else (96, 96, 1))
    assert len(np.unique(frames)) > 30


@pytest.mark.parametrize("layout", ["chw", "hwc"])
@pytest.mark.parametrize(("is_gray", "depth"), [(False, 3), (True, 4)])
def test_a_stack_is_the_frame_stack_wrapper_also_after_a_reset(layout: str, depth: int, *, is_gray: bool) -> None:
    env = stacked(gray(reference()) if is_gray else reference(), depth)
    envs = ours(gray=is_gray, frame_stack=depth, layout=layout)
    for seed in (7, None, 8):
        frames = require_equal_episode(env, {}, seed=seed, actions=some_actions(7, 24), layout=layout, envs=envs)
    axis = 0 if layout == "chw" else 2
    first, last = (np.split(frame, depth, axis) for frame in (frames[0], frames[-1]))
    assert all(np.array_equal(first[0], frame) for frame in first), "the first frame fills the stack"
    assert not any(np.array_equal(last[0], frame) for frame in last[1:]), "later frames differ"


@pytest.mark.parametrize("skip", [2, 5])
def test_a_skip_is_a_loop_over_steps(skip: int) -> None:
    env, envs = Skip(reference(), skip), ours(frame_skip=skip, layout="hwc")
    for seed in (9, None):
        require_equal_episode(env, {}, seed=seed, actions=some_actions(9, 40, hold=3), envs=envs)


def test_a_skip_shows_the_last_frame_and_not_the_maximum_of_two() -> None:
    env, envs = gymnasium.wrappers.MaxAndSkipObservation(reference(), 4), ours(frame_skip=4, layout="hwc")
    env.reset(seed=10)
    envs.reset([10])
    for _ in range(20):
        maximum, reward, *_ = env.step(GAS)
        frames, rewards, *_ = envs.step([GAS])
        require_equal("reward", rewards[0], reward)
    assert (maximum >= frames[0]).all()
    assert (maximum > frames[0]).any()


def test_a_termination_inside_a_skip_ends_it() -> None:
    skip = 7
    env, envs = Skip(reference(), skip), ours(frame_skip=skip, layout="hwc")
    steps = [0]

    def count(*_arguments: Any) -> None:
        steps[0] += 1

    world: Any = env.unwrapped.world  # type: ignore[attr-defined]
    world.Step = counted(world.Step, count)
    require_equal_episode(env, {}, seed=0, actions=[GAS] * 200, envs=envs)
    *_, terminated, truncated, _ = envs.step([GAS])
    assert (terminated[0], truncated[0]) == (True, False), "the playfield was left"
    assert (steps[0] - 1) % skip != 0, "and not at the end of a skip"


def counted(function: Any, count: Any) -> Any:
    """The function, calling `count` before."""

    def call(*arguments: Any, **named: Any) -> Any:
        count()
        return function(*arguments, **named)

    return call


def test_a_truncation_inside_a_skip_ends_it_and_steps_of_the_simulator_count() -> None:
    env, envs = Skip(reference(max_steps=50), 8), ours(max_steps=50, frame_skip=8, layout="hwc")
    for seed in (11, None):
        frames = require_equal_episode(env, {}, seed=seed, actions=[GAS] * 20, envs=envs)
        assert len(frames) == 1 + 7, "six whole decisions and two steps of the seventh"
    assert round(float(envs.inspect(0)["time"]) * 50) == 51, "the step hidden in the reset included"


@pytest.mark.parametrize("layout", ["chw", "hwc"])
def test_the_recipes_people_use_are_the_chain_of_wrappers(layout: str) -> None:
    env = stacked(gray(Scaled(Skip(reference(max_steps=101), 4), (84, 84))), 4)
    envs = ours(max_steps=101, size=(84, 84), gray=True, frame_stack=4, frame_skip=4, layout=layout)
    for seed in (12, None):
        frames = require_equal_episode(env, {}, seed=seed, actions=some_actions(12, 40), layout=layout, envs=envs)
        assert len(frames) == 1 + 26


def test_the_gymnasium_environment_takes_the_same_options() -> None:
    options = {"continuous": False, "gray": True, "frame_stack": 2, "frame_skip": 2, "size": (64, 64)}
    env = stacked(gray(Scaled(Skip(reference(), 2), (64, 64))), 2)
    mine = gymnasium.make("reinfors.adapters.gymnasium:reinfors/CarRacing-v3", **options)
    assert mine.observation_space == gymnasium.spaces.Box(0, 255, (64, 64, 2), np.uint8)
    theirs, _ = env.reset(seed=13)
    obs, _ = mine.reset(seed=13)
    for action in some_actions(13, 20):
        require_equal("observation", obs, arranged(theirs, "hwc"))
        theirs, obs = env.step(action)[0], mine.step(action)[0]


def expected_state(state: State, steps: int) -> dict[str, float]:
    """The state vector from the reference's own quantities."""
    x, y, angle, vx, vy, gyro = state["hull"]
    wheels, visited = state["wheels"], state["visited"]
    path = state["track"]
    nearest = int(np.argmin((path[:, 2] - x) ** 2 + (path[:, 3] - y) ** 2))
    _, beta, px, py = path[nearest]
    names = ("front_left", "front_right", "rear_left", "rear_right")
    return {
        "speed": np.hypot(vx, vy),
        "sideways_speed": vx * np.cos(angle) + vy * np.sin(angle),
        "gyro": gyro,
        **{f"wheel_speed_{name}": wheels[index, 6] for index, name in enumerate(names)},
        **{f"wheel_on_road_{name}": float(state["wheel_tiles"][index].any()) for index, name in enumerate(names)},
        "steering": wheels[0, 9],
        "gas": wheels[2, 8],
        "tiles_visited": visited.mean(),
        "tiles_left": len(visited) - visited.sum(),
        "steps": steps,
        "track_distance": (x - px) * np.cos(beta) + (y - py) * np.sin(beta),
        "track_angle": np.angle(np.exp(1j * (angle - beta))),
        **{
            name: np.angle(np.exp(1j * (path[(nearest + tiles) % len(path), 1] - beta)))
            for name, tiles in AHEAD.items()
        },
    }


def test_the_state_is_what_the_reference_is_in() -> None:
    pair, driver = Lockstep(), racer(16, 70)
    both = rf.VecEnv(rf.games.CarRacing(continuous=True, obs="both", max_steps=None), 1, 1, autoreset="disabled")
    names = STATE.state_names
    assert names is not None
    pair.reset(16)
    observed, _ = both.reset([16])
    lying = track(pair.reference)
    off_road, away = 0, 0.0
    for step in range(500):
        state = dict(zip(names, observed["state"][0].tolist(), strict=True))
        expected = expected_state(moving(pair.reference) | lying, step) | {"brake": pair.reference.car.wheels[0].brake}
        assert state.keys() == expected.keys()
        for name, value in expected.items():
            assert state[name] == pytest.approx(value, abs=1e-5, rel=1e-5), (step, name)
        off_road += not state["wheel_on_road_rear_left"]
        away = max(away, abs(state["track_distance"]))
        action = driver(pair.reference, step)
        pair.step(action)
        observed, *_ = both.step(np.asarray(action)[np.newaxis])
    assert off_road > 10
    assert away > 7, "the car has been off the road"


def test_what_is_drawn_does_not_depend_on_what_else_is_observed() -> None:
    envs = {obs: ours(obs=obs, frame_stack=1 if obs == "state" else 2) for obs in ("pixels", "state", "both")}
    seen = {obs: env.reset([3])[0] for obs, env in envs.items()}
    for _ in range(30):
        assert np.array_equal(seen["pixels"], seen["both"]["pixels"])
        assert np.array_equal(seen["state"], seen["both"]["state"])
        seen = {obs: env.step([GAS])[0] for obs, env in envs.items()}
