"""MPE2's simple_spread_v3 and `SimpleSpread` in lockstep: states in float64, observations, rewards and ends.

The reference's last bits in collisions are those of the system's `exp` and `log1p`, ours those of glibc 2.36 on a
processor with fused multiply-add; there every bit of these episodes is equal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import reinfors as rf

from .lockstep import require_equal
from .reference import require_packages

require_packages({"mpe2": "1.1.1", "pettingzoo": "1.27.0"})

from mpe2 import simple_spread_v3  # noqa: E402

World = Any  # the reference's
Policy = Callable[[World], list[Any]]

ACTIONS = 5


def random(seed: int) -> Policy:
    rng = np.random.default_rng(seed)
    return lambda world: rng.integers(ACTIONS, size=len(world.agents)).tolist()


def still(_seed: int) -> Policy:
    return lambda world: [0] * len(world.agents)


def crowding(seed: int) -> Policy:
    """Everybody into the middle, where they push each other; now and then somewhere else."""
    rng = np.random.default_rng(seed)

    def act(world: World) -> list[int]:
        actions = []
        for agent in world.agents:
            axis = int(np.argmax(np.abs(agent.state.p_pos)))
            inwards = 1 + 2 * axis + int(agent.state.p_pos[axis] < 0)
            actions.append(inwards if rng.random() < 0.9 else int(rng.integers(ACTIONS)))
        return actions

    return act


def vectors(seed: int) -> Policy:
    """Some of them outside the bounds, which the reference clips with a warning."""
    rng = np.random.default_rng(seed)
    return lambda world: list(rng.uniform(-0.3, 1.3, (len(world.agents), ACTIONS)).astype(np.float32))


POLICIES = {"random": random, "still": still, "crowding": crowding, "vectors": vectors}


def play(seed: int, policy: Policy, n: int, reward: rf.Reward | None = None, **options: Any) -> tuple[int, bool]:
    """Compares one episode; returns its number of collisions, and whether it terminated."""
    theirs = simple_spread_v3.parallel_env(N=n, **options)
    cycles, ratio = options.pop("max_cycles", 25), options.pop("local_ratio", 0.5)
    options["continuous"] = options.pop("continuous_actions", False)
    reward = rf.Reward(distance=-(1 - ratio), collision=-ratio)
    game = rf.games.SimpleSpread(n_agents=n, max_steps=cycles, **options)
    ours = rf.pettingzoo.ParallelEnv(game, reward=reward)
    world = theirs.unwrapped.world
    require_same(theirs.reset(seed=seed)[0], ours.reset(seed=seed)[0])
    collisions, step, terminated = 0, 0, False
    while theirs.agents:
        require_equal("positions", ours.inspect()["positions"], np.array([agent.state.p_pos for agent in world.agents]))
        velocities = np.array([agent.state.p_vel for agent in world.agents])
        require_equal("velocities", ours.inspect()["velocities"], velocities)
        landmarks = np.array([landmark.state.p_pos for landmark in world.landmarks])
        require_equal("landmarks", ours.inspect()["landmarks"], landmarks)
        assert ours.agents == theirs.agents
        actions = dict(zip(theirs.agents, policy(world), strict=True))
        expected, returned = theirs.step(actions), ours.step(actions)
        require_same(expected[0], returned[0])
        assert returned[1:] == tuple(map(dict, expected[1:]))
        require_equal("state", ours.state(), theirs.state())
        collisions += sum(len(near) for near in touching(world))
        terminated = any(returned[2].values())
        step += 1
    assert ours.agents == []
    assert step == cycles or terminated
    return collisions, terminated


def require_same(theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    assert list(theirs) == list(ours)
    for agent, observation in theirs.items():
        require_equal(agent, ours[agent], observation)


def touching(world: World) -> list[list[Any]]:
    def near(agent: Any, other: Any) -> bool:
        return agent is not other and bool(np.linalg.norm(agent.state.p_pos - other.state.p_pos) < 0.3)

    return [[other for other in world.agents if near(agent, other)] for agent in world.agents]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n", [1, 2, 3, 6])
@pytest.mark.parametrize("policy", POLICIES)
def test_episodes_are_equal_in_every_bit(policy: str, n: int) -> None:
    continuous = policy == "vectors"
    played = [
        play(seed, POLICIES[policy](seed), n, max_cycles=80, continuous_actions=continuous, local_ratio=seed / 10)
        for seed in range(10)
    ]
    if n > 1 and policy == "crowding":
        assert sum(collisions for collisions, _ in played) > 200


@pytest.mark.parametrize("n", [1, 2, 3])
def test_success_ends_an_episode_where_the_reference_s_does(n: int) -> None:
    def seeking(world: World) -> list[int]:
        actions = []
        for agent, landmark in zip(world.agents, world.landmarks, strict=True):
            way = landmark.state.p_pos - agent.state.p_pos - 0.8 * agent.state.p_vel
            axis = int(np.argmax(np.abs(way)))
            actions.append(0 if abs(way[axis]) < 0.02 else 1 + 2 * axis + int(way[axis] > 0))
        return actions

    ended = [play(seed, seeking, n, max_cycles=60, terminate_on_success=True)[1] for seed in range(20)]
    assert any(ended)
    # At the last step success comes too late, in the reference as here.
    for cycles in range(1, 30):
        play(3, seeking, n, max_cycles=cycles, terminate_on_success=True)


def test_resets_without_a_seed_continue_the_stream() -> None:
    theirs, ours = simple_spread_v3.parallel_env(), rf.pettingzoo.ParallelEnv(rf.games.SimpleSpread())
    for seed in (5, None, None, 2**40, None):
        require_same(theirs.reset(seed=seed)[0], ours.reset(seed=seed)[0])


@pytest.mark.parametrize("continuous", [False, True])
def test_agents_and_spaces_are_the_reference_s(continuous: bool) -> None:
    theirs = simple_spread_v3.parallel_env(N=4, continuous_actions=continuous)
    ours = rf.pettingzoo.ParallelEnv(rf.games.SimpleSpread(n_agents=4, continuous=continuous))
    assert ours.possible_agents == theirs.possible_agents
    for agent in theirs.possible_agents:
        assert ours.action_space(agent) == theirs.action_space(agent)
        assert ours.observation_space(agent) == theirs.observation_space(agent)
    assert ours.state_space == theirs.state_space
