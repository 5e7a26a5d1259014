"""The adapter for Stable-Baselines3: equal to `DummyVecEnv` over single environments, and what SB3 does with it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import reinfors as rf

gymnasium = pytest.importorskip("gymnasium")
sb3 = pytest.importorskip("stable_baselines3")

from stable_baselines3.common.env_checker import check_env  # noqa: E402
from stable_baselines3.common.evaluation import evaluate_policy  # noqa: E402
from stable_baselines3.common.monitor import Monitor  # noqa: E402
from stable_baselines3.common.vec_env import DummyVecEnv, VecFrameStack, VecMonitor, VecNormalize  # noqa: E402


def pair(name: str, n_envs: int, limit: int, **options: Any) -> tuple[Any, Any]:
    """Ours and a `DummyVecEnv` over `rf.gym.Env`."""
    ours = rf.sb3.VecEnv(rf.games.make(name, max_steps=limit, layout="hwc", **options), n_envs, n_threads=2)

    def make() -> Any:
        return gymnasium.make(f"reinfors/{name}-v{3 if name == 'CarRacing' else 1}", max_episode_steps=limit, **options)

    return ours, DummyVecEnv([make] * n_envs)


def require_equal(mine: Any, expected: Any) -> None:
    """The same types and numbers at any depth."""
    assert type(mine) is type(expected) or isinstance(expected, dict)
    if isinstance(expected, (tuple, list)):
        assert len(mine) == len(expected)
        for one, other in zip(mine, expected, strict=True):
            require_equal(one, other)
    elif isinstance(expected, dict):
        assert mine.keys() == expected.keys()
        for key in expected:
            require_equal(mine[key], expected[key])
    elif isinstance(expected, np.ndarray):
        assert mine.dtype == expected.dtype
        assert np.array_equal(mine, expected)
    else:
        assert mine == expected


@pytest.mark.parametrize(
    ("name", "options", "steps"),
    [
        ("CarRacing", {"continuous": True}, 12),
        ("CarRacing", {"continuous": False, "obs": "both"}, 12),
        ("CartPole", {}, 200),
    ],
)
def test_d30_d31_everything_is_what_a_dummy_vector_returns(name: str, options: dict[str, Any], steps: int) -> None:
    ours, theirs = pair(name, 3, 5 if name == "CarRacing" else 30, **options)
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    rng = np.random.default_rng(0)
    ours.seed(7)
    theirs.seed(7)
    require_equal(ours.reset(), theirs.reset())
    ends = 0
    for step in range(steps):
        n = getattr(ours.action_space, "n", None)
        actions = rng.integers(n, size=3) if n else rng.uniform([-1, 0, 0], 1, (3, 3)).astype(np.float32)
        returned, expected = ours.step(actions), theirs.step(actions)
        require_equal(returned, expected)
        assert ours.reset_infos == theirs.reset_infos
        ends += returned[2].sum()
        if step == steps // 2:
            ours.seed(1)
            theirs.seed(1)
            require_equal(ours.reset(), theirs.reset())
    assert ends >= 6
    ours.seed(2)
    theirs.seed(3)
    with pytest.raises(AssertionError):
        require_equal(ours.reset(), theirs.reset())


def test_d30_leaving_the_field_at_the_time_limit_is_no_truncation() -> None:
    # seed 0 leaves the field at the same step whatever the limit
    gas = np.array([[0, 0.3, 0]], np.float32)

    def last(limit: int) -> tuple[int, dict[str, Any]]:
        env = rf.sb3.VecEnv(rf.games.make("CarRacing", continuous=True, max_steps=limit), 1, n_threads=1)
        env.seed(0)
        first = env.reset()
        step, dones = 0, [False]
        while not dones[0]:
            obs, _, dones, infos = env.step(gas)
            step += 1
        assert not np.array_equal(obs, first)
        assert not np.array_equal(infos[0]["terminal_observation"], obs[0])
        return step, infos[0]

    left, info = last(1000)
    assert (left, info["TimeLimit.truncated"], info["lap_finished"]) == (310, False, False)
    both, info = last(left)
    assert (both, info["TimeLimit.truncated"]) == (left, False)
    cut, info = last(left - 1)
    assert (cut, info["TimeLimit.truncated"]) == (left - 1, True)


def test_d31_a_seed_takes_effect_at_the_next_reset_and_once() -> None:
    env, other = (rf.sb3.VecEnv(rf.games.CarRacing(), 2, seed=seed) for seed in (5, 9))
    first = env.reset()
    env.seed(9)
    env.step(np.zeros(2, np.int64))
    assert np.array_equal(env.reset(), other.reset())
    assert np.array_equal(env.reset(), other.reset())
    assert not np.array_equal(env.reset(), first)
    assert np.array_equal(rf.sb3.VecEnv(rf.games.CarRacing(), 2, seed=5).reset(), first)


def test_options_reach_the_next_reset() -> None:
    game = rf.games.CarRacing(domain_randomize=True)
    env, plain = rf.sb3.VecEnv(game, 2, seed=1), rf.VecEnv(game, 2, seed=1)
    env.reset()
    plain.reset()
    env.set_options({"randomize": False, "x": 1})
    assert np.array_equal(env.reset(), plain.reset(options={"randomize": False})[0])
    assert np.array_equal(env.reset(), plain.reset()[0])
    with pytest.raises(ValueError, match="alike"):
        env.set_options([{"randomize": False}, {}])
    with pytest.raises(ValueError, match="list of 2"):
        env.set_options([{}])


def test_d31_attributes_and_methods_are_reached_by_environment() -> None:
    env = rf.sb3.VecEnv(rf.games.CarRacing(), 3, seed=0, render_mode="rgb_array")
    env.reset()
    assert env.get_attr("game") == [rf.games.CarRacing()] * 3
    assert env.get_attr("render_mode", [0, 2]) == ["rgb_array"] * 2
    env.set_attr("difficulty", 4, indices=1)
    assert env.get_attr("difficulty", 1) == [4]
    assert not env.has_attr("difficulty")
    with pytest.raises(AttributeError):
        env.set_attr("game", None)
    saved = env.env_method("save", indices=0)[0]
    env.env_method("load", saved, indices=2)
    states = env.env_method("inspect")
    assert np.array_equal(states[0]["hull"], states[2]["hull"])
    assert not np.array_equal(states[0]["track"], states[1]["track"])
    assert env.env_is_wrapped(Monitor) == [False] * 3
    assert env.env_is_wrapped(Monitor, 1) == [False]
    pictures = env.get_images()
    tiled = env.render("rgb_array")
    assert [picture.shape for picture in pictures if picture is not None] == [(400, 600, 3)] * 3
    assert tiled is not None
    assert tiled.shape == (800, 1200, 3)
    small = rf.sb3.VecEnv(rf.games.CarRacing(), 1, seed=0, render_mode="rgb_array", render_size=(60, 90))
    small.reset()
    assert [picture.shape for picture in small.get_images() if picture is not None] == [(60, 90, 3)]
    for size, error in (((0, 9), ValueError), ("big", TypeError)):
        with pytest.raises(error, match="size"):
            rf.sb3.VecEnv(rf.games.CarRacing(), 1, render_size=size)  # type: ignore[arg-type]
    silent = rf.sb3.VecEnv(rf.games.CarRacing(), 1)
    with pytest.warns(UserWarning, match="render_mode"):
        assert silent.get_images() == [None]
    with pytest.raises(ValueError, match="rgb_array"):
        rf.sb3.VecEnv(rf.games.CarRacing(), 1, render_mode="human")


def test_a_step_may_run_while_the_caller_does_something_else() -> None:
    env = rf.sb3.VecEnv(rf.games.CarRacing(), 2, seed=0)
    first = env.reset()
    env.step_async(np.zeros(2, np.int64))
    with pytest.raises(RuntimeError, match="under way"):
        env.step_async(np.zeros(2, np.int64))
    env.step_wait()
    env.step_async(np.zeros(2, np.int64))
    assert not np.array_equal(env.reset(), first)  # the step is discarded, the stream continues
    env.step_async(np.zeros(2, np.int64))
    env.close()
    env.close()


@pytest.mark.parametrize("arguments", [{}, {"continuous": False}, {"domain_randomize": True}])
@pytest.mark.filterwarnings("ignore:.*we recommend.*")
def test_d33_the_checker_of_sb3_has_nothing_to_say(arguments: dict[str, Any]) -> None:
    check_env(gymnasium.make("reinfors/CarRacing-v3", **arguments).unwrapped)
    check_env(gymnasium.make("reinfors/CartPole-v1").unwrapped)


def test_environments_in_workers_are_a_vector_too() -> None:
    ours = rf.sb3.VecEnv(rf.games.Gymnasium("CartPole-v1", workers=1), 2, seed=3)
    theirs = DummyVecEnv([lambda: gymnasium.make("CartPole-v1")] * 2)
    theirs.seed(3)
    assert np.array_equal(ours.reset(), theirs.reset())
    rng = np.random.default_rng(0)
    for _ in range(30):
        actions = rng.integers(0, 2, 2)
        for mine, expected in zip(ours.step(actions)[:3], theirs.step(actions)[:3], strict=True):
            assert np.array_equal(mine, expected)


def test_its_wrappers_fit() -> None:
    env = VecMonitor(VecFrameStack(rf.sb3.VecEnv(rf.games.CarRacing(max_steps=3), 2, seed=0), 4))
    assert env.reset().shape == (2, 12, 96, 96)
    *_, infos = [env.step(np.zeros(2, np.int64)) for _ in range(3)][-1]
    assert [info["episode"]["l"] for info in infos] == [3, 3]
    scaled = VecNormalize(rf.sb3.VecEnv(rf.games.CartPole(), 2, seed=0))
    assert np.isfinite(scaled.reset()).all()


@pytest.mark.smoke
def test_ppo_with_its_convolutional_policy_runs_and_learns_something_other_than_nothing() -> None:
    game = rf.games.CarRacing(size=(48, 48), gray=True, frame_stack=4, frame_skip=4, max_steps=200)
    env = VecMonitor(rf.sb3.VecEnv(game, 4, seed=0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's own deprecations are not ours
        model = sb3.PPO("CnnPolicy", env, n_steps=32, batch_size=64, n_epochs=1, seed=0, device="cpu")
        before = [weights.detach().clone() for weights in model.policy.parameters()]
        model.learn(256)
        mean, _ = evaluate_policy(model, env, n_eval_episodes=4)
    assert np.isfinite(mean)
    assert len(model.ep_info_buffer) >= 4
    assert any(not (one == other).all() for one, other in zip(before, model.policy.parameters(), strict=True))
