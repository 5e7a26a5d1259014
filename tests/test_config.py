"""`Engine.resolved_config` and `engine_from_config`: complete, of types that JSON holds, refused by name if spoiled."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import reinfors as rf


def engine_of(*, seed: int | None = 0, reward: rf.Reward | None = None, **options: Any) -> rf.Engine:
    game = rf.games.make("CarRacing", max_steps=4, **options)
    return rf.Engine(game, reward, rf.policies.Ppo(), rf.learners.Ppo(), n_games=3, n_threads=1, seed=seed)


def infer(obs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    brightness = obs.reshape(len(obs), -1)[:, ::997].mean(axis=1)
    return np.sin(brightness[:, None] * np.arange(5)), brightness / 255


@pytest.mark.parametrize("seed", [None, 0, 2**64, 2**128])
def test_an_engine_made_from_its_configuration_is_the_same(seed: int | None) -> None:
    engine = engine_of(seed=seed, reward=rf.Reward(step=-0.5), domain_randomize=True)
    config = json.loads(json.dumps(engine.resolved_config()))
    twin = rf.engine_from_config(config)
    assert twin.resolved_config() == engine.resolved_config()
    assert config["reward"]["step"] == -0.5
    ours, theirs = engine.collect(6, infer), twin.collect(6, infer)
    assert ours.obs.tobytes() == theirs.obs.tobytes()
    assert ours.advantages.tobytes() == theirs.advantages.tobytes()


def test_engines_without_a_seed_differ() -> None:
    seeds = {engine_of(seed=None).resolved_config()["seed"] for _ in range(3)}
    assert len(seeds) == 3
    assert max(seeds) > 2**64


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"game": "nonsense"}, ValueError, "CarRacing"),
        ({"options": {"nonsense": 1}}, ValueError, "nonsense"),
        ({"reward": {"nonsense": 1.0}}, ValueError, "nonsense"),
        ({"policy": {"name": "Ppo", "distribution": "nonsense", "state_shape": None}}, ValueError, "categorical"),
        ({"policy": {"name": "Ppo", "state_shape": None}}, ValueError, "has no 'distribution'|has no \"distribution\""),
        ({"policy": {"name": "Ppo", "distribution": 3, "state_shape": None}}, TypeError, "distribution .*, got 3"),
        ({"policy": {"name": "Ppo", "distribution": None, "state_shape": [0]}}, ValueError, "state_shape .* got"),
        ({"policy": {"name": "Direct", "state_shape": None, "q": 1}}, ValueError, "one of name, state_shape, got 'q'"),
        ({"policy": {"name": "nonsense"}}, ValueError, "Ppo, EpsilonGreedy, Direct, got .nonsense"),
        ({"policy": {"name": "Direct", "state_shape": None}}, ValueError, "learner must be Transitions .*, got Ppo"),
        ({"policy": {"name": 3}}, TypeError, "name.* must be a str, got 3"),
        ({"policy": {}}, ValueError, "Ppo, EpsilonGreedy, Direct, got"),
        ({"policy": None}, TypeError, "policy"),
        ({"reward": {}}, ValueError, "reward.* has no .*; its keys are"),
        ({"options": {}}, ValueError, "options.* has no .*; its keys are"),
        ({"learner": {"name": "Ppo", "gamma": 0.9, "lam": 0.5, "q": 1}}, ValueError, "name, gamma, lam, got 'q'"),
        ({"learner": {"name": "Ppo", "gamma": 2.0, "lam": 0.5}}, ValueError, "gamma .*, got 2.0"),
        ({"n_games": 0}, ValueError, "n_games"),
        ({"seed": None}, TypeError, "seed"),
        ({"nonsense": 1}, ValueError, "nonsense"),
    ],
)
def test_a_spoiled_configuration_is_refused_by_name(change: dict[str, Any], error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        rf.engine_from_config({**engine_of().resolved_config(), **change})
