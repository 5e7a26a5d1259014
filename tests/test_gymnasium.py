"""The Gymnasium adapter: Gymnasium's own checker, then what users of the reference rely on, case by case.

Expected figures are the reference's, measured on Gymnasium 1.4.0.
"""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import reinfors as rf

gymnasium = pytest.importorskip("gymnasium")
check_env = pytest.importorskip("gymnasium.utils.env_checker").check_env

ID = "reinfors/CarRacing-v3"
NOOP = np.zeros(3, np.float32)
FIRST_REWARD = 6.169592476489028  # seed 0: 319 tiles, of which the car stands on two


def make(**arguments: Any) -> Any:
    return gymnasium.make(ID, **arguments)


def drive(env: Any, actions: list[Any]) -> list[tuple[bytes, float, bool, bool]]:
    """What each action led to."""
    steps = [env.step(action) for action in actions]
    return [(obs.tobytes(), reward, terminated, truncated) for obs, reward, terminated, truncated, _ in steps]


@pytest.mark.parametrize("arguments", [{}, {"continuous": False}, {"domain_randomize": True}])
@pytest.mark.filterwarnings("ignore:.*we recommend using a symmetric and normalized space.*")
def test_d33_the_checker_of_gymnasium_has_nothing_to_say(arguments: dict[str, Any]) -> None:
    check_env(make(render_mode="rgb_array", **arguments).unwrapped)


@pytest.mark.parametrize("obs", ["state", "pixels", "both"])
@pytest.mark.filterwarnings("ignore:.*Box observation space m[a-z]+ value is -?infinity.*")
def test_d33_the_checker_has_nothing_to_say_whatever_is_observed(obs: str) -> None:
    env = gymnasium.make("reinfors/CartPole-v1", obs=obs, render_mode="rgb_array").unwrapped
    check_env(env)
    assert ("state_pixels" in env.metadata["render_modes"]) == (obs != "state")


def test_spaces_metadata_and_spec_are_those_of_the_reference() -> None:
    env = make()
    assert env.observation_space == gymnasium.spaces.Box(0, 255, (96, 96, 3), np.uint8)
    low, high = np.array([-1, 0, 0], np.float32), np.array([1, 1, 1], np.float32)
    assert env.action_space == gymnasium.spaces.Box(low, high, dtype=np.float32)
    assert make(continuous=False).action_space == gymnasium.spaces.Discrete(5)
    assert env.metadata == {"render_modes": ["rgb_array", "state_pixels"], "render_fps": 50}
    assert (env.spec.max_episode_steps, env.spec.reward_threshold) == (1000, 900.0)


def test_types_are_those_of_the_reference() -> None:
    env = make()
    obs, info = env.reset(seed=0)
    assert (obs.shape, obs.dtype, obs.flags.c_contiguous, info) == ((96, 96, 3), np.uint8, True, {})
    obs, reward, terminated, truncated, info = env.step(NOOP)
    assert [type(each) for each in (reward, terminated, truncated, info)] == [float, bool, bool, dict]
    assert info == {}
    assert (reward, terminated, truncated) == (FIRST_REWARD, False, False)
    assert obs in env.observation_space


def test_d04_stepping_goes_on_after_the_end() -> None:
    env = make(max_episode_steps=3)
    env.reset(seed=0)
    assert [truncated for *_, truncated in drive(env, [NOOP] * 4)] == [False, False, True, True]


def test_d04_leaving_the_playfield_ends_every_step_from_then_on() -> None:
    env = make().unwrapped
    env.reset(seed=0)
    ends = [env.step(np.array([0.0, 0.3, 0.0], np.float32))[1:] for _ in range(311)]
    first = next(at for at, (_, terminated, _, _) in enumerate(ends) if terminated)
    for reward, terminated, truncated, info in ends[first:]:
        assert (reward, terminated, truncated, info) == (-100.0, True, False, {"lap_finished": False})
    assert len(ends) > first + 1


@pytest.mark.parametrize("action", [2, np.int64(2), np.int32(2), np.uint8(2), np.array(2), np.array(2, np.int16)])
def test_d05_numbered_actions_of_any_integer_type_are_one(action: Any) -> None:
    env, plain = make(continuous=False), make(continuous=False)
    env.reset(seed=0)
    plain.reset(seed=0)
    assert drive(env, [action]) == drive(plain, [2])
    assert env.action_space.sample() in env.action_space


@pytest.mark.parametrize("action", [5, -1, 2.0, np.array([2]), np.array([2.0]), None, "2", [1, 2]])
def test_other_numbered_actions_are_refused_before_the_step(action: Any) -> None:
    env = make(continuous=False, disable_env_checker=True)
    env.reset(seed=0)
    before = pickle.dumps(env.unwrapped.__getstate__()["_env"])
    with pytest.raises((TypeError, ValueError), match="action"):
        env.step(action)
    assert pickle.dumps(env.unwrapped.__getstate__()["_env"]) == before


@pytest.mark.parametrize(
    ("numbered", "vector", "is_float32_other"),
    [(1, [0.6, 0, 0], False), (2, [-0.6, 0, 0], False), (3, [0, 0.2, 0], True), (4, [0, 0, 0.8], True)],
)
def test_d06_numbered_actions_are_float64_vectors(numbered: int, vector: list[float], is_float32_other: bool) -> None:
    runs = []
    for action, arguments in (
        (numbered, {"continuous": False}),
        (np.array(vector, np.float64), {}),
        (np.array(vector, np.float32), {}),
    ):
        env = make(**arguments)
        env.reset(seed=0)
        opening = 3 if "continuous" in arguments else np.array([0, 0.2, 0], np.float64)
        drive(env, [opening] * 10)
        drive(env, [action] * 20)
        runs.append(env.unwrapped.inspect())
    same = [all(np.array_equal(runs[0][name], run[name]) for name in runs[0]) for run in runs[1:]]
    # The wheels stop before 0.6 radians, whichever 0.6 it is.
    assert same == [True, not is_float32_other]


def test_d07_actions_outside_the_bounds_are_clipped_and_left_as_they_are() -> None:
    env, plain = make(), make()
    env.reset(seed=0)
    plain.reset(seed=0)
    for outside, inside in (([5, 5, 5], [1, 1, 1]), ([-5, -5, -5], [-1, 0, 0])):
        given = np.array(outside, np.float32)
        assert drive(env, [given] * 5) == drive(plain, [np.array(inside, np.float32)] * 5)
        assert given.tolist() == outside


@pytest.mark.parametrize("action", [[0.0, 0.0, 0.0], (0, 0, 0), np.zeros(3, int), np.zeros(3), np.zeros(6)[::2]])
def test_d08_lists_tuples_and_integers_are_vectors_too(action: Any) -> None:
    env, plain = make(disable_env_checker=True), make()
    env.reset(seed=0)
    plain.reset(seed=0)
    assert drive(env, [action]) == drive(plain, [NOOP])


@pytest.mark.parametrize(
    "action",
    [
        np.zeros(2),
        np.zeros((1, 3)),
        np.zeros((3, 1)),
        np.zeros(()),
        np.zeros(4),
        np.array([0, np.nan, 0]),
        np.array([np.inf, 0, 0]),
        np.ma.masked_array(np.zeros(3), mask=[False, True, False]),
        np.zeros(3, complex),
        [[0], 0, 0],
        0,
        None,
        "left",
    ],
)
def test_d09_other_vectors_are_refused_before_the_step(action: Any) -> None:
    env = make(disable_env_checker=True).unwrapped
    env.reset(seed=0)
    before = env.__getstate__()["_env"]
    with pytest.raises((TypeError, ValueError)):
        env.step(action)
    assert env.__getstate__()["_env"] == before


def test_d10_a_used_environment_is_as_good_as_a_fresh_one() -> None:
    used, fresh = make(), make()
    rng = np.random.default_rng(0)
    actions = list(rng.uniform([-1, 0, 0], 1, (30, 3)).astype(np.float32))
    used.reset(seed=5)
    drive(used, actions)
    assert np.array_equal(used.reset(seed=0)[0], fresh.reset(seed=0)[0])
    assert drive(used, actions) == drive(fresh, actions)


@pytest.mark.parametrize("seed", [np.int64(3), np.uint8(3), 3.0, "3", -1, [1, 2]])
def test_d11_seeds_that_the_reference_refuses_are_refused_with_its_error(seed: Any) -> None:
    with pytest.raises(gymnasium.error.Error, match="Seed must be"):
        make().reset(seed=seed)


def test_d11_no_seed_continues_the_stream_and_true_is_one() -> None:
    env = make()
    first = env.reset(seed=True)[0]
    second = env.reset()[0]
    assert env.np_random_seed == 1
    assert not np.array_equal(first, second)
    assert np.array_equal(env.reset(seed=1)[0], first)
    assert np.array_equal(env.reset()[0], second)
    assert len({make().np_random_seed for _ in range(3)}) == 3


def test_an_unseeded_first_reset_is_that_of_its_seed() -> None:
    env, other = make(), make()
    obs = env.reset()[0]
    assert np.array_equal(other.reset(seed=env.np_random_seed)[0], obs)


@pytest.mark.parametrize("options", [{"randomize": True}, {"randomize": False}, {}, {"x": 1}, None])
def test_d13_options_mean_nothing_without_randomisation(options: Any) -> None:
    env, plain = make(), make()
    assert np.array_equal(env.reset(seed=0, options=options)[0], plain.reset(seed=0)[0])
    assert np.array_equal(env.reset(options=options)[0], plain.reset()[0])


def test_colours_are_randomised_and_kept() -> None:
    env = make(domain_randomize=True)
    obs = [env.reset(seed=0)[0], env.reset(seed=0)[0]]
    assert np.array_equal(*obs)
    assert not np.array_equal(obs[0], make().reset(seed=0)[0])
    kept = env.reset(options={"randomize": False})[0]
    env.reset(seed=0)
    assert not np.array_equal(kept, env.reset()[0])


def test_pictures_have_the_reference_s_shapes_and_move_nothing() -> None:
    env, plain = make(render_mode="rgb_array", max_episode_steps=3), make(max_episode_steps=3)
    for _ in range(2):
        assert np.array_equal(env.reset(seed=0)[0], plain.reset(seed=0)[0])
        for _ in range(3):
            one, other = env.render(), env.render()
            assert (one.shape, one.dtype) == ((400, 600, 3), np.uint8)
            assert one.any()
            assert np.array_equal(one, other)
            assert drive(env, [NOOP]) == drive(plain, [NOOP])
    pixels = make(render_mode="state_pixels")
    obs = pixels.reset(seed=0)[0]
    assert np.array_equal(pixels.render(), obs)


def test_rendering_without_a_mode_warns() -> None:
    env = make().unwrapped
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="render mode"):
        assert env.render() is None


def test_a_window_says_what_it_needs() -> None:
    from reinfors.adapters.gymnasium import GymnasiumEnv  # noqa: PLC0415  imports Gymnasium, which may be missing

    with pytest.raises(ValueError, match="HumanRendering"):
        GymnasiumEnv("CarRacing", render_mode="human")


def test_d20_neither_display_nor_pygame_nor_box2d_is_needed() -> None:
    script = (
        "import sys\n"
        "sys.modules['pygame'] = sys.modules['Box2D'] = None\n"
        "import gymnasium, reinfors\n"
        f"env = gymnasium.make('{ID}', render_mode='rgb_array')\n"
        "env.reset(seed=0)\n"
        "for _ in range(10): env.step(env.action_space.sample())\n"
        "print(env.render().shape)\n"
    )
    environment = {"PATH": "/usr/bin", "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, env=environment, check=False
    )
    assert done.stdout.strip() == "(400, 600, 3)", done.stderr


def test_d20_a_window_opens_where_pygame_is_and_else_is_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    pygame = pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    with pytest.warns(UserWarning, match="HumanRendering wrapper is being applied"):
        env = make(render_mode="human")
    env.reset(seed=0)
    env.step(NOOP)
    shown = pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)
    assert shown.shape == (400, 600, 3)
    assert shown.std() > 0
    env.close()
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.warns(UserWarning, match="HumanRendering"):
        env = make(render_mode="human")
    with pytest.raises(gymnasium.error.DependencyNotInstalled, match="pygame"):
        env.reset(seed=0)


def test_d22_closing_breaks_nothing() -> None:
    one, other = make(), make()
    other.reset(seed=0)
    one.reset(seed=0)
    one.close()
    one.close()
    assert drive(other, [NOOP])[0][1] == FIRST_REWARD
    assert np.array_equal(one.reset(seed=0)[0], other.reset(seed=0)[0])


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])  # noqa: S301  our own
def test_d23_a_copy_is_a_twin_that_goes_its_own_way(copied: Any) -> None:
    env = make(max_episode_steps=100, continuous=False)
    env.reset(seed=3)
    drive(env, [3] * 10)
    twin, alone = copied(env), copied(env)
    assert twin.spec.kwargs == env.spec.kwargs
    ahead = drive(twin, [1] * 20)
    assert drive(env, [1] * 20) == ahead
    assert drive(env, [2] * 20) != drive(alone, [1] * 20)
    assert np.array_equal(env.reset()[0], twin.reset()[0])
    fresh = copied(make())
    assert drive(fresh, [NOOP] if fresh.reset(seed=0) else []) != []


@pytest.mark.parametrize("options", [{"nonsense": 1}, {"lap_complete_percent": 2.0}, {"verbose": True}])
def test_options_the_game_does_not_have_are_refused_by_name(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        make(**options)


@pytest.mark.filterwarnings("ignore:.*we recommend using a symmetric and normalized space.*")
def test_d33_the_passive_checker_has_nothing_to_say_of_leaving_the_field() -> None:
    env = gymnasium.wrappers.PassiveEnvChecker(make().unwrapped)
    env.reset(seed=0)
    steps = [env.step(np.array([0.0, 0.3, 0.0], np.float32)) for _ in range(311)]
    assert [step[2] for step in steps].index(True) == 309
    assert {type(value) for step in steps for value in step[1:4]} == {float, bool}


def test_d32_two_instances_are_equal_for_500_steps_and_across_resets() -> None:
    envs = [make(domain_randomize=True) for _ in range(2)]
    rng = np.random.default_rng(0)
    actions = list(rng.uniform([-1, 0, 0], 1, (500, 3)).astype(np.float32))
    for seed in (4, None, None):
        first, second = (env.reset(seed=seed)[0] for env in envs)
        assert np.array_equal(first, second)
        assert drive(envs[0], actions[: 500 if seed else 50]) == drive(envs[1], actions[: 500 if seed else 50])
    assert drive(envs[0], actions[:2]) != drive(envs[1], actions[2:4])
    assert envs[0].action_space is envs[0].action_space
    assert envs[0].unwrapped.observation_space is envs[0].unwrapped.observation_space


def test_the_reference_s_switch_for_printing_may_be_off() -> None:
    assert make(verbose=False).reset(seed=0)[0].any()


def test_the_official_wrappers_fit() -> None:
    env = gymnasium.wrappers.RecordEpisodeStatistics(make(max_episode_steps=3))
    env.reset(seed=0)
    *_, info = [env.step(NOOP) for _ in range(3)][-1]
    assert info["episode"]["l"] == 3
    stacked = gymnasium.wrappers.FrameStackObservation(gymnasium.wrappers.GrayscaleObservation(make()), 4)
    assert stacked.reset(seed=0)[0].shape == (4, 96, 96)


def test_a_vector_of_these_is_one_of_ours() -> None:
    envs = gymnasium.make_vec(ID, 2, vectorization_mode="sync")
    ours = rf.VecEnv(rf.games.make("CarRacing", continuous=True, layout="hwc", max_steps=1000), 2, 1)
    assert np.array_equal(envs.reset(seed=7)[0], ours.reset(seed=7)[0])
    actions = np.array([[0.5, 1, 0], [-0.5, 0.3, 0.1]], np.float32)
    both: Any = zip(envs.step(actions)[:4], ours.step(actions)[:4], strict=True)
    for theirs, mine in both:
        assert np.array_equal(theirs, mine)
        assert theirs.dtype == mine.dtype
    envs.close()
