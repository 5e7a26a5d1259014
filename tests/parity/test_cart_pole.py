"""CartPole-v1 and `reinfors/CartPole-v1` in lockstep: states in float64, observations, rewards, flags and pictures.

The reference's last bits are those of the system's sine and cosine, ours those of glibc on a processor with fused
multiply-add; on such a machine every bit of these episodes is equal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import reinfors as rf

from .lockstep import require_equal
from .reference import gymnasium

REFERENCE = "CartPole-v1"
OURS = f"reinfors.adapters.gymnasium:reinfors/{REFERENCE}"
AFTER_THE_END = 40  # the pole turns round and the cart runs away

State = NDArray[np.float64]
Policy = Callable[[State, int], int]


def random(seed: int) -> Policy:
    rng = np.random.default_rng(seed)
    return lambda _state, _step: int(rng.integers(2))


def balancing(seed: int) -> Policy:
    """Pushes against the fall, with a view to the middle; each seed with another temper."""
    gains = np.random.default_rng(seed).uniform([0.02, 0.05, 0.9, 0.3], [0.1, 0.2, 1.1, 0.8])
    return lambda state, _step: int(gains @ state > 0)


def held(action: int) -> Callable[[int], Policy]:
    return lambda _seed: lambda _state, _step: action


POLICIES = {"random": random, "balancing": balancing, "left": held(0), "right": held(1)}


def make(name: str, **options: Any) -> Any:
    return gymnasium.make(name, **options)


def play(seed: int, policy: Policy, **options: Any) -> int:
    """Compares one episode and the steps after its end; returns its length."""
    theirs, ours = make(REFERENCE, **options).env.env, make(OURS, **options)
    reference, mine = theirs.unwrapped, ours.unwrapped
    require_equal("observation", ours.reset(seed=seed)[0], theirs.reset(seed=seed)[0])
    length, after, step = 0, 0, 0
    while after < AFTER_THE_END and step < 500 + AFTER_THE_END:
        action = policy(reference.state, step)
        observation, reward, terminated, _, info = theirs.step(action)
        returned = mine.step(action)
        require_equal("observation", returned[0], observation)
        assert returned[1:3] == (reward, terminated)
        assert returned[4] == info == {}
        require_equal("state", mine.inspect()["state"], reference.state)
        after += bool(after or terminated or step >= 499)
        length += not after
        step += 1
    return length


@pytest.mark.filterwarnings("ignore:.*already returned terminated.*")
@pytest.mark.parametrize("policy", POLICIES)
def test_episodes_are_equal_in_every_bit(policy: str) -> None:
    lengths = [play(seed, POLICIES[policy](seed)) for seed in range(25)]
    if policy == "balancing":
        assert sum(length == 499 for length in lengths) > 20
    else:
        assert max(lengths) < 100


@pytest.mark.filterwarnings("ignore:.*already returned terminated.*")
def test_the_semi_implicit_method_is_the_reference_s() -> None:
    theirs, ours = make(REFERENCE).unwrapped, make(OURS, integrator="semi_implicit_euler")
    theirs.kinematics_integrator = "semi-implicit euler"
    for seed in range(5):
        require_equal("observation", ours.reset(seed=seed)[0], theirs.reset(seed=seed)[0])
        policy = balancing(seed)
        for step in range(500):
            action = policy(theirs.state, step)
            require_equal("observation", ours.step(action)[0], theirs.step(action)[0])
            require_equal("state", ours.unwrapped.inspect()["state"], theirs.state)


@pytest.mark.filterwarnings("ignore:.*already returned terminated.*")
def test_sutton_and_barto_s_reward_is_the_reference_s() -> None:
    for policy in ("random", "right"):
        play(3, POLICIES[policy](3), sutton_barto_reward=True)


def test_resets_without_a_seed_continue_the_stream() -> None:
    theirs, ours = make(REFERENCE), make(OURS)
    for seed in (5, None, None, 2**40, None):
        require_equal("observation", ours.reset(seed=seed)[0], theirs.reset(seed=seed)[0])


def test_time_limit_action_space_and_metadata_are_the_reference_s() -> None:
    theirs, ours = make(REFERENCE), make(OURS)
    assert ours.action_space == theirs.action_space
    assert ours.observation_space == theirs.observation_space
    assert ours.metadata["render_fps"] == theirs.metadata["render_fps"]
    for name in ("max_episode_steps", "reward_threshold"):
        assert getattr(ours.spec, name) == getattr(theirs.spec, name)
    policy, cut = balancing(0), []
    for env in (theirs, ours):
        env.reset(seed=0)
        state, step, truncated = theirs.unwrapped.state, 0, False
        while not truncated:
            state, _, _, truncated, _ = env.step(policy(state, step))
            step += 1
        cut.append(step)
    assert cut == [500, 500]


@pytest.mark.filterwarnings("ignore:.*already returned terminated.*")
def test_pictures_are_equal_in_every_byte_wherever_cart_and_pole_are() -> None:
    theirs = make(REFERENCE, render_mode="rgb_array").unwrapped
    ours = make(OURS, render_mode="rgb_array")
    seen = set()
    for seed in range(12):
        policy = POLICIES[["random", "balancing", "left", "right"][seed % 4]](seed)
        theirs.reset(seed=seed)
        ours.reset(seed=seed)
        for step in range(60):
            picture = ours.render()
            require_equal("picture", picture, theirs.render())
            assert picture.shape == (400, 600, 3)
            seen.add(picture.tobytes())
            action = policy(theirs.state, step)
            theirs.step(action)
            ours.step(action)
    assert len(seen) > 400


@pytest.mark.filterwarnings("ignore:.*already returned terminated.*")
@pytest.mark.parametrize("size", [(64, 96), (84, 84), (100, 150)])
def test_pixels_are_the_scaled_picture(size: tuple[int, int]) -> None:
    import pygame  # noqa: PLC0415  here, so that where it is missing the module is skipped as others are

    theirs = make(REFERENCE, render_mode="rgb_array").unwrapped
    ours = rf.VecEnv(rf.games.CartPole(obs="both", size=size, layout="hwc"), 1, 1, autoreset="disabled")
    theirs.reset(seed=1)
    observed, _ = ours.reset(seed=[1])
    for _ in range(60):
        theirs.render()
        height, width = size
        scaled = pygame.surfarray.array3d(pygame.transform.smoothscale(theirs.surf, (width, height)))
        require_equal("pixels", observed["pixels"][0], scaled.transpose(1, 0, 2))
        require_equal("state", observed["state"][0], theirs.state.astype(np.float32))
        theirs.step(1)
        observed = ours.step(np.array([1]))[0]
