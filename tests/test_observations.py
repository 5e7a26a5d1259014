"""What is observed beside plain pixels, through every face of the worlds: parts, stacked frames, skipped steps."""

from __future__ import annotations

import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import reinfors as rf
from reinfors.adapters.gymnasium import GymnasiumEnv

SMALL: dict[str, Any] = {"size": (24, 32), "gray": True, "frame_stack": 3, "frame_skip": 4, "max_steps": 22}
DECISIONS = 6  # of an episode: five times four steps of the simulator and two
BOTH = rf.games.CarRacing(obs="both", **SMALL)
PARTS = {"pixels": ((3, 24, 32), np.uint8), "state": ((22,), np.float32)}


def engine(game: rf.games.Game = BOTH, n_threads: int = 1) -> rf.Engine:
    return rf.Engine(game, None, rf.policies.Ppo(), rf.learners.Ppo(), n_games=2, n_threads=n_threads, seed=3)


class Network:
    """Answers by the state; keeps a copy of everything it was asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, np.ndarray]] = []

    def __call__(self, obs: Any) -> tuple[np.ndarray, np.ndarray]:
        self.asked.append({name: rows.copy() for name, rows in obs.items()})
        speed = obs["state"][:, :1]
        return np.cos(speed + np.arange(5)), obs["pixels"].mean(axis=(1, 2, 3)) - obs["state"][:, -1]


def equal(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


def rows(observations: dict[str, np.ndarray], at: Any) -> dict[str, np.ndarray]:
    return {name: part[at] for name, part in observations.items()}


def test_a_game_tells_what_it_shows() -> None:
    plain = rf.games.CarRacing()
    assert (plain.obs_shape, plain.obs_dtype, plain.state_names) == ((3, 96, 96), np.uint8, None)
    state = rf.games.CarRacing(obs="state", frame_skip=2)
    assert (state.obs_shape, state.obs_dtype) == ((22,), np.float32)
    assert state.state_names == [entry["name"] for entry in rf.games.describe("CarRacing")["state"]]
    assert BOTH.state_names == state.state_names
    assert BOTH.obs_shape == {name: shape for name, (shape, _) in PARTS.items()}
    assert BOTH.obs_dtype == {name: dtype for name, (_, dtype) in PARTS.items()}
    assert engine().obs_shape == BOTH.obs_shape
    assert rf.games.CarRacing(layout="hwc", frame_stack=4, size=(84, 80)).obs_shape == (84, 80, 12)
    assert pickle.loads(pickle.dumps(BOTH)) == BOTH  # noqa: S301  our own


def test_each_part_of_a_batch_is_an_array_in_the_engines_memory() -> None:
    batch = engine().collect(8, Network())
    for name, (shape, dtype) in PARTS.items():
        part, last = batch.obs[name], batch.last_obs[name]
        assert (part.shape, part.dtype, last.shape) == ((8, *shape), dtype, (2, *shape))
        assert part.ctypes.data % 64 == 0
        assert not part.flags.writeable
        assert not part.flags.owndata
        assert last.ctypes.data == part.ctypes.data + part.nbytes
        assert np.shares_memory(batch.time_major("obs")[name], part)
        assert batch.time_major("obs")[name].shape == (4, 2, *shape)
    for records, order in zip(
        batch.minibatches(5, seed=1), np.split(np.random.default_rng(1).permutation(8), [5]), strict=True
    ):
        assert equal(records.obs, rows(batch.obs, order))


@pytest.mark.parametrize("n_threads", [1, 2])
def test_records_are_those_of_environments_under_the_same_seeds_and_actions(n_threads: int) -> None:
    network = Network()
    batch = engine(n_threads=n_threads).collect(2 * 2 * DECISIONS, network)
    episodes = batch.telemetry["episodes"]
    assert [(episode["slot"], episode["length"]) for episode in episodes] == [(0, 6), (1, 6), (0, 6), (1, 6)]
    # Six decisions of both, their final observations, the same again, and the opening of the next window.
    finals = [network.asked[6], network.asked[13]]
    obs = batch.time_major("obs")
    for number, episode in enumerate(episodes):
        slot, start = episode["slot"], number // 2 * DECISIONS
        env = rf.VecEnv(BOTH, 1, 1, autoreset="disabled")
        seen, _ = env.reset([episode["seed"]])
        for step in range(start, start + DECISIONS):
            assert equal(rows(seen, 0), rows(obs, (step, slot))), (number, step)
            seen, rewards, terminated, truncated, _ = env.step(batch.time_major("actions")[step, [slot]])
            assert np.float32(rewards[0]) == batch.time_major("rewards")[step, slot]
            assert (terminated[0], truncated[0]) == (False, step == start + DECISIONS - 1)
        assert equal(rows(seen, 0), rows(finals[number // 2], slot))


def test_a_snapshot_holds_the_frames_of_the_stack() -> None:
    first, second = engine(), engine(n_threads=2)
    first.collect(6, Network())
    second.restore(first.snapshot())
    expected, batch = first.collect(20, Network()), second.collect(20, Network())
    assert equal(batch.obs, expected.obs)
    assert np.array_equal(batch.advantages, expected.advantages)


def test_a_window_that_failed_is_played_again_with_the_same_frames() -> None:
    plain, failing = engine(), engine()
    plain.collect(6, Network())
    failing.collect(6, Network())
    network = Network()

    def fail_late(obs: Any) -> Any:
        if len(network.asked) == 4:
            raise LookupError
        return network(obs)

    with pytest.raises(LookupError):
        failing.collect(20, fail_late)
    assert equal(failing.collect(20, Network()).obs, plain.collect(20, Network()).obs)


def test_streams_carry_parts_too() -> None:
    expected = [engine().collect(6, Network())]
    with engine().collect_stream(6, Network()) as stream:
        assert equal(next(stream).obs, expected[0].obs)


@pytest.mark.parametrize("steps", [0, 1, 5])
def test_saved_environments_continue_with_their_stacks(steps: int) -> None:
    one, other = (rf.VecEnv(BOTH, 2, 1) for _ in range(2))
    one.reset(seed=4)
    for step in range(steps):
        one.step([3, step % 3])
    other.load(0, one.save(1))
    other.load(1, one.save(0))
    assert equal(rows(other.observe(), [1, 0]), one.observe())
    for step in range(2 * DECISIONS):
        theirs, mine = other.step([step % 5, 3])[0], one.step([3, step % 5])[0]
        assert equal(rows(theirs, [1, 0]), mine), step


def test_a_reset_in_the_same_step_hands_out_the_last_stack_and_shows_a_new_one() -> None:
    env, twin = rf.VecEnv(BOTH, 2, 1, autoreset="same_step"), rf.VecEnv(BOTH, 2, 1, autoreset="disabled")
    env.reset(seed=5)
    twin.reset(seed=5)
    for _ in range(DECISIONS):
        obs, *_, infos = env.step([3, 3])
        last, *_ = twin.step([3, 3])
    assert all(equal(infos["final_obs"][i], rows(last, i)) for i in range(2))
    first, _ = twin.reset()
    assert equal(obs, first)
    assert np.array_equal(obs["pixels"][:, 0], obs["pixels"][:, 2]), "the first frame fills the stack"
    assert equal(env.observe(), obs)


@pytest.mark.filterwarnings("ignore:.*value is -?infinity.*")
def test_the_gymnasium_environment_has_a_space_for_each_part() -> None:
    env = GymnasiumEnv("CarRacing", obs="both", frame_stack=2, render_mode="state_pixels")
    assert env.observation_space == gymnasium.spaces.Dict(
        {
            "pixels": gymnasium.spaces.Box(0, 255, (96, 96, 6), np.uint8),
            "state": gymnasium.spaces.Box(-np.inf, np.inf, (22,), np.float32),
        }
    )
    obs, _ = env.reset(seed=0)
    assert obs in env.observation_space
    env.step(0)
    copy = pickle.loads(pickle.dumps(env))  # noqa: S301  our own
    assert equal(copy.step(3)[0], env.step(3)[0])
    pixels: Any = env.render()
    assert pixels.shape == (96, 96, 6)
    assert np.array_equal(pixels, copy.render())
    assert GymnasiumEnv("CarRacing", obs="state").reset(seed=0)[0].dtype == np.float32
    check_env(GymnasiumEnv("CarRacing", obs="both"), skip_render_check=True)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"size": (3, 96)}, ValueError, r"option size must be \(height, width\) from \(4, 4\) to \(799, 999\)"),
        ({"size": (96, 1000)}, ValueError, r"got \[96, 1000\]"),
        ({"size": (0, 96)}, ValueError, r"got \[0, 96\]"),
        ({"size": (96,)}, TypeError, r"option size must be of type tuple\[int, int\]"),
        ({"size": 96}, TypeError, r"option size must be of type tuple\[int, int\]"),
        ({"size": (96.0, 96.0)}, TypeError, "option size"),
        ({"frame_stack": 0}, ValueError, "option frame_stack must be from 1 to 32, got 0"),
        ({"frame_stack": 33}, ValueError, "option frame_stack must be from 1 to 32"),
        ({"frame_skip": 1001}, ValueError, "option frame_skip must be from 1 to 1000"),
        ({"gray": 1}, TypeError, "option gray must be of type bool"),
        ({"obs": "ram"}, ValueError, '"pixels" or "state" or "both"'),
        ({"obs": "state", "frame_stack": 4}, ValueError, 'frame_stack=4 stacks pixels, which obs="state" does not'),
    ],
)
def test_what_cannot_be_observed_is_refused(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        rf.games.CarRacing(**options)


def test_pixels_that_are_not_observed_cannot_be_rendered() -> None:
    with pytest.raises(ValueError, match="needs observations with pixels"):
        GymnasiumEnv("CarRacing", obs="state", render_mode="state_pixels")


def test_memory_that_there_is_not_is_refused() -> None:
    game = rf.games.CarRacing(size=(799, 999), frame_stack=32)
    with pytest.raises(ValueError, match="fit into memory"):
        rf.VecEnv(game, 65536, 1)
