"""The adapter for PettingZoo: its own tests, what an agent may and may not do, and that it plays `VecEnv`."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

import reinfors as rf

pytest.importorskip("pettingzoo")

from gymnasium import spaces

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # its tests import its games by names that it no longer likes
    from pettingzoo.test import parallel_api_test, parallel_seed_test

GAMES: dict[str, Any] = {
    "numbered": rf.games.SimpleSpread,
    "vectors": lambda: rf.games.SimpleSpread(n_agents=5, continuous=True, max_steps=40),
    "one agent": rf.games.CartPole,
    "both": lambda: rf.games.CarRacing(obs="both", max_steps=5),
}


def env_of(kind: str = "numbered", **arguments: Any) -> Any:
    return rf.pettingzoo.ParallelEnv(GAMES[kind](), **arguments)


def acting(env: Any) -> dict[str, Any]:
    return {agent: env.action_space(agent).sample() for agent in env.agents}


@pytest.mark.parametrize("kind", GAMES)
def test_d32_pettingzoo_s_own_tests_pass(kind: str) -> None:
    parallel_api_test(env_of(kind), num_cycles=60)
    parallel_seed_test(lambda: env_of(kind), num_cycles=60)


def test_d32_two_of_one_seed_are_equal_for_500_steps_and_across_two_resets() -> None:
    one, other = (rf.pettingzoo.ParallelEnv(rf.games.SimpleSpread(max_steps=300)) for _ in range(2))
    rng = np.random.default_rng(0)
    seen = []
    for seed in (3, None, None):
        begun, begun_again = one.reset(seed=seed), other.reset(seed=seed)
        require_equal(begun, begun_again)
        seen.append(begun[0]["agent_0"].tobytes())
        for _ in range(250):
            actions = {agent: int(rng.integers(5)) for agent in one.agents}
            first, second = one.step(actions), other.step(actions)
            require_equal(first, second)
    assert len(set(seen)) == 3


def require_equal(one: Any, other: Any) -> None:
    """By value, arrays within tuples and dicts too."""
    if isinstance(one, dict):
        assert list(one) == list(other)
        one, other = tuple(one.values()), tuple(other.values())
    if isinstance(one, tuple):
        for left, right in zip(one, other, strict=True):
            require_equal(left, right)
    else:
        assert np.array_equal(one, other)


@pytest.mark.parametrize("kind", GAMES)
def test_d32_spaces_are_one_object_per_agent_and_hold_what_is_seen(kind: str) -> None:
    env = env_of(kind)
    assert len(env.possible_agents) == env.game.n_agents
    for agent in env.possible_agents:
        assert env.action_space(agent) is env.action_space(agent)
        assert env.observation_space(agent) is env.observation_space(agent)
    if len(env.possible_agents) > 1:  # seeding one agent's actions leaves those of another alone
        assert env.action_space("agent_0") is not env.action_space("agent_1")
    observations, _ = env.reset(seed=1)
    for agent, observation in observations.items():
        assert env.observation_space(agent).contains(observation)
    with pytest.raises(ValueError, match=r"agent must be one of agent_0.*, got 'agent_9'"):
        env.action_space("agent_9")


def test_agents_are_the_rows_of_the_native_environment() -> None:
    env = env_of("vectors", seed=3)
    native = rf.VecEnv(env.game, 1, 1, seed=3, autoreset="disabled")
    expected, (observations, infos) = native.reset()[0], env.reset()
    rng = np.random.default_rng(0)
    assert infos == {agent: {} for agent in env.possible_agents}
    while env.agents:
        for row, agent in enumerate(env.possible_agents):
            assert np.array_equal(observations[agent], expected[row])
        assert np.array_equal(env.state(), expected.ravel())
        assert env.state_space.contains(env.state())
        actions = rng.random((5, 5), dtype=np.float32)
        observations, rewards, terminated, truncated, _ = env.step(dict(zip(env.agents, actions, strict=True)))
        expected, *paid, _ = native.step(actions)
        for returned, rows in zip((rewards, terminated, truncated), paid, strict=True):
            assert list(returned.values()) == rows.tolist()
        assert all(type(reward) is float for reward in rewards.values())
        assert all(type(flag) is bool for flag in (*terminated.values(), *truncated.values()))
    assert len(set(rewards.values())) > 1 or native.inspect(0)
    assert set(truncated.values()) == {True}


def test_nobody_is_left_after_the_end_and_everybody_is_back_after_a_reset() -> None:
    env = env_of()
    assert env.agents == []
    env.reset(seed=0)
    for step in range(25):
        assert env.agents == ["agent_0", "agent_1", "agent_2"], step
        observations, *_ = env.step(acting(env))
        assert list(observations) == env.possible_agents
    assert (env.agents, env.num_agents, env.max_num_agents) == ([], 0, 3)
    assert env.step({}) == ({}, {}, {}, {}, {})
    with pytest.raises(ValueError, match=r"actions must be of nobody until reset\(\), got agent_0"):
        env.step({"agent_0": 1})
    env.reset()
    assert env.agents == env.possible_agents


@pytest.mark.parametrize(
    ("actions", "error", "message"),
    [
        ({"agent_0": 1, "agent_1": 1}, ValueError, "of agent_0, agent_1, agent_2, got agent_0, agent_1"),
        ({"agent_0": 1, "agent_1": 1, "agent_2": 1, "agent_3": 1}, ValueError, "got .*agent_3"),
        ({0: 1, 1: 1, 2: 1}, ValueError, "got 0, 1, 2"),
        ({}, ValueError, "got none"),
        ([1, 1, 1], TypeError, "a mapping with one action for each of agent_0"),
        (None, TypeError, "a mapping"),
        ({"agent_0": 1, "agent_1": 5, "agent_2": 1}, ValueError, "action of agent_1 must be from 0 to 4, got 5"),
        ({"agent_0": 1, "agent_1": 1, "agent_2": -1}, ValueError, "action of agent_2 must be from 0 to 4, got -1"),
        (
            {"agent_0": np.uint64(2**64 - 1), "agent_1": 1, "agent_2": 1},
            ValueError,
            "agent_0 .*, got 18446744073709551615",
        ),
        ({"agent_0": 1, "agent_1": 1, "agent_2": 0.5}, TypeError, "of agent_2 must be an integer from 0 to 4, got 0.5"),
        ({"agent_0": 1, "agent_1": 1, "agent_2": None}, TypeError, r"agent_2 .* got None \(object\)"),
        ({"agent_0": True, "agent_1": 1, "agent_2": 1}, TypeError, r"agent_0 .* got True \(bool\)"),
        ({"agent_0": 1, "agent_1": 2**70, "agent_2": 1}, TypeError, "agent_1 must be an integer"),
        (
            {"agent_0": 1, "agent_1": [1, [2]], "agent_2": 1},
            ValueError,
            r"agent_1 must have shape \(\), got \[1, \[2\]\]",
        ),
        ({"agent_0": 1, "agent_1": np.zeros(2, int), "agent_2": 1}, ValueError, "action of agent_1 must have shape"),
        ({"agent_0": 1, "agent_1": np.ma.masked_array(1, mask=True), "agent_2": 1}, TypeError, "agent_1 .*mask"),
    ],
)
def test_wrong_actions_are_refused_and_nothing_moves(actions: Any, error: type[Exception], message: str) -> None:
    env = env_of()
    env.reset(seed=2)
    before = env.state()
    with pytest.raises(error, match=message):
        env.step(actions)
    assert np.array_equal(env.state(), before)


def test_actions_may_be_of_different_types() -> None:
    one, other = env_of(), env_of()
    one.reset(seed=2)
    other.reset(seed=2)
    mixed = {"agent_0": np.uint64(3), "agent_1": np.array(1, np.int8), "agent_2": 4}
    require_equal(one.step(mixed), other.step({"agent_0": 3, "agent_1": 1, "agent_2": 4}))
    vectors = env_of("vectors")
    vectors.reset(seed=2)
    with pytest.raises(TypeError, match="the action of agent_4 must be of real numbers, got"):
        vectors.step({agent: ["x" if agent == "agent_4" else 0] * 5 for agent in vectors.agents})
    with pytest.raises(ValueError, match=r"the action of agent_3 must be finite, got \[nan"):
        vectors.step({agent: [np.nan if agent == "agent_3" else 0] * 5 for agent in vectors.agents})


def test_it_has_to_be_reset_first() -> None:
    env = env_of(render_mode="rgb_array")
    for call in (lambda: env.step({}), env.render, env.state):
        with pytest.raises(RuntimeError, match="was never reset"):
            call()


def test_pictures_are_the_native_ones() -> None:
    env, silent = env_of(render_mode="rgb_array", seed=1), env_of()
    env.reset()
    silent.reset()
    picture = env.render()
    assert (picture.shape, picture.dtype) == ((700, 700, 3), np.uint8)
    colours = set(map(tuple, picture.reshape(-1, 3).tolist()))
    assert {(255, 255, 255), (70, 70, 170), (50, 50, 50)} <= colours
    for _ in range(3):
        env.step(acting(env))
    assert not np.array_equal(env.render(), picture)
    assert silent.render() is None
    with pytest.raises(ValueError, match="render_mode must be None or 'rgb_array', got 'human'"):
        env_of(render_mode="human")


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])  # noqa: S301
def test_copies_continue_exactly(duplicate: Any) -> None:
    env = env_of(reward=rf.Reward(collision=-3.0))
    env.reset(seed=5)
    env.step(acting(env))
    other = duplicate(env)
    while env.agents:
        actions = acting(env)
        require_equal(env.step(actions), other.step(actions))
    require_equal(env.reset(), other.reset())


class Still:
    """Worlds that live outside reinfors, in which nothing happens."""

    def __init__(self, n: int) -> None:
        self.n = n

    def reset(self, rows: Any, seeds: Any) -> Any:
        return np.zeros((len(rows), 1))

    def step(self, actions: Any, active: Any) -> Any:
        return np.zeros((self.n, 1)), np.zeros(self.n), np.zeros(self.n, bool), np.zeros(self.n, bool)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
@pytest.mark.parametrize("face", [rf.pettingzoo.ParallelEnv, rf.gym.Env])
def test_worlds_that_live_elsewhere_are_not_copied(face: Any, duplicate: Any) -> None:
    env = face(rf.games.Batch(Still, obs_shape=(1,), n_actions=2))
    env.reset()
    with pytest.raises((TypeError, ValueError), match=r"Batch cannot be (saved|pickled)"):
        duplicate(env)


def test_seeds_options_and_weights() -> None:
    first = env_of().reset(seed=4)[0]["agent_0"]
    assert np.array_equal(env_of(seed=4).reset()[0]["agent_0"], first)
    assert not np.array_equal(env_of(seed=5).reset()[0]["agent_0"], first)
    assert np.array_equal(env_of().reset(seed=2**70, options={"anything": 1})[0]["agent_0"].shape, (18,))
    for seed, error in ((-1, ValueError), (1.5, TypeError), ("1", TypeError)):
        with pytest.raises(error, match="seed"):
            env_of().reset(seed=seed)
    paid = {weight: env_of(seed=4, reward=rf.Reward(distance=weight)) for weight in (-1.0, -2.0)}
    rewards = []
    for env in paid.values():
        env.reset()
        rewards.append(env.step(dict.fromkeys(env.agents, 0))[1]["agent_0"])
    assert rewards[1] == 2 * rewards[0]
    with pytest.raises(ValueError, match="distance, collision"):
        env_of(reward=rf.Reward(nonsense=1.0))


def test_several_parts_are_a_dict_for_each_agent_and_have_no_common_state() -> None:
    env = env_of("both")
    observations, _ = env.reset(seed=0)
    assert observations["agent_0"]["pixels"].shape == (3, 96, 96)
    assert isinstance(env.observation_space("agent_0"), spaces.Dict)
    for ask in (env.state, lambda: env.state_space):
        with pytest.raises(NotImplementedError, match="only one array of each agent"):
            ask()


def test_faces_of_one_agent_refuse_several_and_say_what_to_use() -> None:
    game = rf.games.SimpleSpread()
    pytest.importorskip("gymnasium")
    message = "SimpleSpread has 3"
    for make in (
        lambda: rf.gym.Env("SimpleSpread"),
        lambda: rf.gym.VectorEnv("SimpleSpread", 2),
        lambda: rf.evaluate(game, lambda obs: (np.zeros((len(obs), 5)), np.zeros(len(obs))), 1),
    ):
        with pytest.raises(ValueError, match=f"{message}.*use|{message}.*step it as"):
            make()
    rf.gym.Env("SimpleSpread", n_agents=1).reset(seed=0)
