"""The vector for Gymnasium: what it takes and refuses. What it returns is compared with the reference in `parity`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reinfors as rf

gymnasium = pytest.importorskip("gymnasium")

NOOPS = np.zeros((2, 3), np.float32)


def make(num_envs: int = 2, **arguments: Any) -> Any:
    arguments = {"n_threads": 1, "continuous": True, "max_episode_steps": 3, **arguments}
    return rf.gym.VectorEnv("CarRacing", num_envs, **arguments)


def test_make_vec_takes_the_native_vector_unless_told_otherwise() -> None:
    assert type(gymnasium.make_vec("reinfors/CartPole-v1", 2)) is rf.gym.VectorEnv
    assert type(gymnasium.make_vec("reinfors/CartPole-v1", 2, vectorization_mode="sync")) is not rf.gym.VectorEnv
    assert type(gymnasium.make("reinfors/CartPole-v1").unwrapped) is rf.gym.Env


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_the_mode_is_announced_whichever_way_it_is_given(mode: str) -> None:
    constant = gymnasium.vector.AutoresetMode(mode)
    for given in (mode, constant):
        env = gymnasium.make_vec("reinfors/CarRacing-v3", 1, autoreset_mode=given)
        assert env.metadata["autoreset_mode"] is constant
    assert make().metadata["autoreset_mode"] is gymnasium.vector.AutoresetMode.NEXT_STEP


def test_d24_the_order_of_the_next_step_mode_is_the_reference_s() -> None:
    # figures measured on the reference
    env = make()
    env.reset(seed=[0, 5])
    returned = [env.step(NOOPS) for _ in range(5)]
    assert [step[3].tolist() for step in returned] == [[False] * 2, [False] * 2, [True] * 2, [False] * 2, [False] * 2]
    assert returned[3][1].tolist() == [0.0, 0.0]
    assert returned[4][1].round(3).tolist() == [7.017, 7.226]


def test_d25_a_reset_by_hand_applies_the_next_action_and_starts_the_count_anew() -> None:
    # figures measured on the reference
    env = make()
    for steps in (3, 2):
        env.reset(seed=[0, 5])
        for _ in range(steps):
            env.step(NOOPS)
        env.reset(seed=[0, 5])
        returned = [env.step(NOOPS) for _ in range(3)]
        assert returned[0][1].round(4).tolist() == [6.1696, 5.979]
        assert [bool(step[3].all()) for step in returned] == [False, False, True]


def test_d14_seeds_are_one_per_environment() -> None:
    # seeds 7 and 8 have tracks of 319 and 251 tiles
    env = make()
    for seed in (7, [7, 8]):
        env.reset(seed=seed)
        assert env.np_random_seed == (7, 8)
        tiles = [len(env._env.inspect(i)["visited"]) for i in range(2)]
        assert tiles == [319, 251]
    env.reset(seed=[1, None])
    assert env.np_random_seed == (1, 8)
    for wrong in ([1], [1, 2, 3]):
        with pytest.raises(ValueError, match="one per environment: 2 of them"):
            env.reset(seed=wrong)
    fresh = [make(), make()]
    assert fresh[0].np_random_seed != fresh[1].np_random_seed
    assert not np.array_equal(fresh[0].reset()[0], fresh[1].reset()[0])


def test_d15_the_k_th_automatic_reset_is_the_k_th_reset_of_a_single_environment() -> None:
    env = make()
    firsts = [env.reset(seed=[0, 5])[0]]
    for _ in range(2):
        for _ in range(4):
            obs = env.step(NOOPS)[0]
        firsts.append(obs)
    for i, seed in enumerate((0, 5)):
        single = rf.gym.Env("CarRacing", continuous=True)
        expected = [single.reset(seed=seed)[0], single.reset()[0], single.reset()[0]]
        assert all(np.array_equal(first[i], other) for first, other in zip(firsts, expected, strict=True))
    assert not np.array_equal(firsts[0], firsts[1])


def test_what_is_over_must_be_reset_where_nothing_is_automatic() -> None:
    env = make(autoreset_mode="Disabled")
    env.reset(seed=0)
    for _ in range(2):
        env.step(NOOPS)
    env.reset(options={"reset_mask": np.array([True, False])})
    env.step(NOOPS)
    before = env._env.save(0)
    with pytest.raises(RuntimeError, match=r"environments \[1\] are over"):
        env.step(NOOPS)
    assert env._env.save(0) == before
    options = {"reset_mask": np.array([False, True])}
    env.reset(options=options)
    assert list(options) == ["reset_mask"]
    assert env.step(NOOPS)[3].tolist() == [False, False]


@pytest.mark.parametrize("limit", [None, -1])
def test_without_a_limit_an_episode_is_not_cut(limit: int | None) -> None:
    env = make(1, max_episode_steps=limit)
    assert env.game.max_steps is None
    assert gymnasium.make_vec("reinfors/CarRacing-v3", 1).game.max_steps == 1000
    assert gymnasium.make_vec("reinfors/CarRacing-v3", 1, max_episode_steps=limit).game.max_steps is None


def test_limits_count_what_the_caller_steps_also_where_steps_are_skipped() -> None:
    env = make(frame_skip=4)
    single = gymnasium.make("reinfors/CarRacing-v3", max_episode_steps=3, frame_skip=4)
    env.reset(seed=0)
    single.reset(seed=0)
    for _ in range(3):
        returned, expected = env.step(NOOPS), single.step(NOOPS[0])
        assert (returned[1][0], returned[3][0]) == (expected[1], expected[3])
    assert returned[3].all()
    assert make(max_steps=2).game.max_steps == 2


def test_a_game_is_taken_as_it_is() -> None:
    game = rf.games.make("CarRacing", continuous=True, layout="hwc", max_steps=3)
    given, named = rf.gym.VectorEnv(game, 2, n_threads=1), make()
    assert given.game == game == named.game
    assert np.array_equal(given.reset(seed=3)[0], named.reset(seed=3)[0])
    for _ in range(4):
        for one, other in zip(given.step(NOOPS)[:4], named.step(NOOPS)[:4], strict=True):
            assert np.array_equal(one, other)
    native = rf.games.CarRacing(frame_skip=4, max_steps=20)
    vector = rf.gym.VectorEnv(native, 1)
    assert vector.single_observation_space.shape == native.obs_shape == (3, 96, 96)
    assert vector.game.max_steps == 20
    assert rf.gym.VectorEnv(native, 1, max_episode_steps=2).game.max_steps == 8
    assert rf.gym.VectorEnv(native, 1, max_episode_steps=50).game.max_steps == 20
    single = rf.gym.Env(native)
    assert np.array_equal(single.reset(seed=3)[0], vector.reset(seed=3)[0][0])
    for face in (rf.gym.Env, rf.gym.VectorEnv):
        with pytest.raises(TypeError, match=r"CarRacing has its options already: make it with gray, or give its name"):
            face(native, gray=True)


class Drift:
    """Numbers that grow by their action; the third step is the last."""

    def __init__(self, n: int) -> None:
        self.at = np.zeros((n, 2))

    def reset(self, rows: Any, seeds: Any) -> Any:
        self.at[rows] = np.transpose([seeds, 0 * rows]).astype(np.float64)
        return self.at[rows]

    def step(self, actions: Any, active: Any) -> Any:
        self.at += np.stack([actions, np.ones(len(actions))], axis=1)
        return self.at, self.at[:, 0], self.at[:, 1] >= 3, np.zeros(len(actions), bool)


def test_worlds_of_the_caller_s_are_a_vector_under_gymnasium_s_wrappers() -> None:
    game = rf.games.Batch(Drift, obs_shape=(2,), n_actions=5)
    env = gymnasium.wrappers.vector.RecordEpisodeStatistics(rf.gym.VectorEnv(game, 2, autoreset_mode="Disabled"))
    assert env.single_observation_space == gymnasium.spaces.Box(-np.inf, np.inf, (2,), np.float32)
    assert env.reset(seed=[10, 20])[0].tolist() == [[10, 0], [20, 0]]
    for _ in range(3):
        *_, terminated, _, infos = env.step(np.array([1, 2]))
    assert terminated.all()
    assert infos["episode"]["r"].tolist() == [36, 72]
    with pytest.raises(ValueError, match="max_episode_steps must be None or -1 for Batch"):
        rf.gym.VectorEnv(game, 2, max_episode_steps=3)
    single = rf.gym.Env(game)
    assert single.reset(seed=4)[0].tolist() == [4, 0]
    assert single.step(2)[:2] == (pytest.approx([6, 1]), 6.0)


def test_wrong_arguments_are_refused_by_name() -> None:
    refused: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"max_episode_steps": 0}, ValueError, "max_episode_steps"),
        ({"max_episode_steps": True}, TypeError, "max_episode_steps"),
        ({"max_episode_steps": 2.5}, TypeError, "max_episode_steps"),
        ({"max_episode_steps": 2**40}, ValueError, "max_steps"),
        ({"autoreset_mode": "sometimes"}, ValueError, "'NextStep', 'SameStep', 'Disabled', got 'sometimes'"),
        ({"autoreset_mode": 3}, TypeError, "'NextStep', 'SameStep', 'Disabled', got 3"),
        ({"render_mode": "human"}, ValueError, "render_mode"),
        ({"nonsense": 1}, ValueError, "nonsense"),
        ({"verbose": True}, ValueError, "verbose"),
        ({"num_envs": 0}, ValueError, "^num_envs must be an integer from 1 to 65536, got 0"),
        ({"num_envs": 65537}, ValueError, "^num_envs must be an integer from 1 to 65536, got 65537"),
        ({"num_envs": 2.0}, TypeError, "^num_envs"),
        ({"num_envs": True}, TypeError, "^num_envs"),
    ]
    for arguments, error, said in refused:
        with pytest.raises(error, match=said):
            make(**{"num_envs": 2, **arguments})
    with pytest.raises(
        ValueError, match="n_envs must be an integer from 1 to 65536, got 65537"
    ):  # what a VecEnv has room for
        rf.VecEnv(rf.games.make("CarRacing"), 65537)
    with pytest.raises(gymnasium.error.Error, match="vector_kwargs"):  # Gymnasium's own refusal
        gymnasium.make_vec("reinfors/CarRacing-v3", 2, vector_kwargs={"n_threads": 1})


def test_rendering_without_a_mode_warns_and_state_pixels_are_what_is_observed() -> None:
    env = make()
    obs, _ = env.reset(seed=0)
    with pytest.warns(UserWarning, match="render mode"):
        assert env.render() is None
    env = make(render_mode="state_pixels")
    obs, _ = env.reset(seed=0)
    assert np.array_equal(np.stack(env.render()), obs)


def test_several_parts_are_a_dictionary_in_a_space_of_dictionaries() -> None:
    env = make(obs="both", autoreset_mode="SameStep")
    obs, _ = env.reset(seed=0)
    assert obs in env.observation_space
    *_, infos = [env.step(NOOPS) for _ in range(3)][-1]
    assert infos["final_obs"][1] in env.single_observation_space


def test_d22_closing_twice_is_closing_once_and_leaves_others_alone() -> None:
    env, other = make(), make()
    env.reset(seed=0)
    other.reset(seed=0)
    env.close()
    env.close()
    assert env.closed
    with pytest.raises(RuntimeError, match="closed"):
        env.reset()
    assert other.step(NOOPS)[1].all()
