"""`rf.evaluate`: exactly the given episodes, for every game and head, and the statistics of them."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats

import reinfors as rf
from reinfors.evaluation import EpisodeStats, student_quantile

Outputs = tuple[np.ndarray, np.ndarray]


def weights_of(n_features: int, n_params: int) -> np.ndarray:
    return np.sin(np.arange(n_features * n_params)).reshape(n_features, n_params)


def infer_of(n_params: int) -> Any:
    """A policy whose answer to a row is a function of that row alone, to the last bit."""

    def infer(obs: np.ndarray) -> Outputs:
        flat = obs.reshape(len(obs), -1)
        features = flat[:, :: max(1, flat.shape[1] // 60)].astype(np.float64)
        features /= 1 + np.abs(features).max(axis=1, keepdims=True)
        params = (features[:, :, None] * weights_of(features.shape[1], n_params)).sum(axis=1)
        return np.abs(params) + 1.5, np.zeros(len(obs))

    return infer


def cart_pole(**options: Any) -> tuple[rf.games.Game, Any]:
    return rf.games.make("CartPole", max_steps=60, **options), infer_of(2)


def by_hand(game: rf.games.Game, infer: Any, seed: int) -> tuple[float, int]:
    """Return and length of the episode of a seed, played with the largest logit."""
    env = rf.VecEnv(game, 1, 1, autoreset="disabled")
    obs = env.reset(seed=[seed])[0]
    total = 0.0
    for length in itertools.count(1):
        action = np.argmax(infer(obs)[0], axis=1)
        obs, rewards, terminated, truncated, _ = env.step(action)
        total += rewards[0]
        if terminated[0] or truncated[0]:
            return total, length
    raise AssertionError


@pytest.mark.conformance
@pytest.mark.parametrize("name", [name for name in rf.games.registered() if rf.games.make(name).n_agents == 1])
def test_episodes_are_those_of_a_loop_over_one_environment(name: str) -> None:
    game = rf.games.make(name, max_steps=12)
    infer = infer_of(game.n_actions or 0)
    seeds = [7, 3, 2**70, 0, 11]
    stats = rf.evaluate(game, infer, seeds=seeds, n_games=2, n_threads=2)
    assert [episode["seed"] for episode in stats.episodes] == seeds
    assert list(zip(stats.returns, stats.lengths, strict=True)) == [by_hand(game, infer, seed) for seed in seeds]


@pytest.mark.parametrize("deterministic", [True, False])
def test_long_and_short_episodes_are_all_there_in_any_company(deterministic: bool) -> None:
    game, infer = cart_pole()
    expected = rf.evaluate(game, infer, 20, 0, deterministic=deterministic, n_games=20, n_threads=1)
    assert len(set(expected.lengths)) > 3
    for n_games, n_threads in ((1, 1), (3, 2), (64, 8)):
        stats = rf.evaluate(game, infer, 20, 0, deterministic=deterministic, n_games=n_games, n_threads=n_threads)
        assert stats == expected
    backwards = rf.evaluate(game, infer, seeds=range(19, -1, -1), deterministic=deterministic, n_games=5)
    assert backwards.episodes[::-1] == expected.episodes
    assert rf.evaluate(game, infer, 20, 100, deterministic=deterministic).episodes != expected.episodes


def test_samples_differ_from_the_most_probable_actions_and_from_each_other() -> None:
    game, infer = cart_pole()
    fixed = rf.evaluate(game, infer, seeds=[5] * 8)
    assert len(set(fixed.lengths)) == 1
    sampled = rf.evaluate(game, infer, seeds=[5] * 8, deterministic=False)
    assert len(set(sampled.lengths)) > 1
    assert rf.evaluate(game, infer, seeds=[5] * 8, deterministic=False) == sampled


@pytest.mark.parametrize("distribution", ["gaussian", "beta"])
def test_vectors_of_actions_are_evaluated_too(distribution: Any) -> None:
    game = rf.games.make("CarRacing", continuous=True, max_steps=6)
    stats = rf.evaluate(game, infer_of(6), 3, policy=rf.policies.Ppo(distribution))
    assert stats.lengths.tolist() == [6, 6, 6]
    low, high = game.action_low, game.action_high
    assert low is not None
    assert high is not None
    env = rf.VecEnv(game, 3, 1)
    obs = env.reset(seed=[0, 1, 2])[0]
    returns = np.zeros(3)
    for _ in range(6):
        params = infer_of(6)(obs)[0]
        first, second = params[:, :3], params[:, 3:]
        mode = first.astype(np.float32) if distribution == "gaussian" else (first - 1) / (first + second - 2)
        if distribution == "beta":
            mode = (low + (high.astype(np.float64) - low) * mode).astype(np.float32)
        obs, rewards, *_ = env.step(np.clip(mode, low, high))
        returns += rewards
    assert stats.returns.tolist() == returns.tolist()


def leaning(obs: np.ndarray) -> np.ndarray:
    """Drives towards the side that the pole leans to."""
    return np.stack([-obs[:, 2], obs[:, 2]], axis=1)


def counting(obs: np.ndarray, state: np.ndarray, starts: np.ndarray) -> Outputs:
    """The same for three steps of every episode, then the opposite: what it remembers is how many steps there were."""
    assert (starts == (state[:, 0] == 0)).all()
    return np.where(state < 3, leaning(obs), -leaning(obs)), state + 1


POLICIES: dict[str, tuple[rf.policies.Policy, Any]] = {
    "with values": (rf.policies.Ppo(), lambda obs: (leaning(obs), obs[:, 0])),
    "greedy": (rf.policies.EpsilonGreedy(0.5), leaning),
    "direct": (rf.policies.Direct(), lambda obs: leaning(obs).argmax(axis=1)),
}


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_is_evaluated_by_its_best_action(name: str) -> None:
    game, _ = cart_pole()
    policy, infer = POLICIES[name]
    expected = rf.evaluate(game, leaning, 12, n_games=3)  # values may be left out
    assert len(set(expected.lengths)) > 3
    assert rf.evaluate(game, infer, 12, policy=policy) == expected
    sampled = rf.evaluate(game, infer, 12, policy=policy, deterministic=False)
    assert (sampled == expected) == (name == "direct")


def test_what_is_remembered_begins_anew_with_every_episode() -> None:
    game, policy = rf.games.make("CartPole", max_steps=60), rf.policies.Ppo(state_shape=(1,))
    expected = rf.evaluate(game, counting, 12, policy=policy, n_games=12)
    for n_games in (1, 5):
        assert rf.evaluate(game, counting, 12, policy=policy, n_games=n_games) == expected
    assert expected.lengths.tolist() != rf.evaluate(game, leaning, 12).lengths.tolist()


def test_the_reward_is_the_callers() -> None:
    game, infer = cart_pole()
    key = next(iter(game.reward_keys))
    plain = rf.evaluate(game, infer, 4)
    doubled = rf.evaluate(game, infer, 4, reward=rf.Reward(**{key: 2 * game.reward_keys[key]}))
    assert doubled.returns.tolist() == (2 * plain.returns).tolist()


def test_statistics_are_those_of_scipy() -> None:
    returns = [3.0, 1.0, 4.0, 1.5, 9.0, -2.0]
    stats = EpisodeStats([{"seed": at, "return": one, "length": 7, "ended": "x"} for at, one in enumerate(returns)])
    assert stats.mean == pytest.approx(np.mean(returns))
    assert stats.std == pytest.approx(np.std(returns, ddof=1))
    for confidence in (0.5, 0.95, 0.999):
        expected = scipy_stats.t.interval(confidence, 5, np.mean(returns), scipy_stats.sem(returns))
        assert stats.interval(confidence) == pytest.approx(expected)
    assert repr(stats).startswith("EpisodeStats(6 episodes: return 2.75, 95 % interval ")
    assert stats.table().splitlines()[3].split() == ["2", "4.000", "7", "x"]
    for wrong, error in ((1.0, ValueError), (-0.1, ValueError), ("x", TypeError)):
        with pytest.raises(error, match="confidence must be a number from 0 to"):
            stats.interval(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("dof", [1, 2, 3, 4, 5, 30, 99, 100, 4001])
def test_the_quantile_is_students(dof: int) -> None:
    for confidence in (0.01, 0.5, 0.9, 0.95, 0.99, 0.9999):
        expected = scipy_stats.t.ppf(0.5 + confidence / 2, dof)
        assert student_quantile(confidence, dof) == pytest.approx(expected, rel=1e-9)
    assert student_quantile(0.0, dof) < 1e-300


def test_a_single_episode_says_that_it_says_nothing() -> None:
    game, infer = cart_pole()
    stats = rf.evaluate(game, infer, 1, 3)
    assert math.isnan(stats.std)
    assert stats.interval() == (-math.inf, math.inf)
    assert "1 episodes" in repr(stats)


def test_progress_is_told_and_what_it_raises_is_raised() -> None:
    game, infer = cart_pole()
    told: list[tuple[int, int]] = []
    rf.evaluate(game, infer, 9, n_games=2, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (9, 9)
    assert told == sorted(told)

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rf.evaluate(game, infer, 9, progress=stop)


def test_what_infer_raises_is_raised_as_itself_and_wrong_answers_are_refused() -> None:
    game, _ = cart_pole()
    error = OSError("of the network")

    def failing(obs: np.ndarray) -> Outputs:
        raise error

    with pytest.raises(OSError, match="of the network") as caught:
        rf.evaluate(game, failing, 2)
    assert caught.value is error
    with pytest.raises(ValueError, match=r"params of shape \(2, 3\).*needed is \(2, 2\)"):
        rf.evaluate(game, lambda obs: (np.zeros((len(obs), 3)), np.zeros(len(obs))), 2)


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ({}, ValueError, "episodes must be given where seeds is the first"),
        ({"episodes": 0}, ValueError, "episodes must be an integer from 1 to 1048576, got 0"),
        ({"episodes": 2**30}, ValueError, "episodes must be"),
        ({"episodes": True}, TypeError, "episodes must be"),
        ({"episodes": 1.5}, TypeError, "episodes must be"),
        ({"episodes": 2, "seeds": -1}, ValueError, "seeds must be a non-negative integer, got -1"),
        ({"episodes": 2, "seeds": "1"}, TypeError, "seeds must be a non-negative integer"),
        ({"episodes": 2, "seeds": 1.0}, TypeError, "seeds must be"),
        ({"episodes": 2, "seeds": None}, TypeError, "seeds must be"),
        ({"episodes": 2, "seeds": [1]}, ValueError, "one per episode: 2 of them, got 1"),
        ({"episodes": 2, "seeds": itertools.count()}, ValueError, "one per episode: 2 of them, got more"),
        ({"seeds": itertools.count()}, ValueError, "1048576 of them, got more"),
        ({"seeds": []}, ValueError, "got none"),
        ({"seeds": {1, 2}}, TypeError, "seeds must have an order"),
        ({"seeds": [1, None]}, TypeError, r"seeds\[1\] must be a non-negative integer"),
        ({"seeds": [1, -2]}, ValueError, r"seeds\[1\] must be"),
        ({"episodes": 1, "n_games": 0}, ValueError, "n_games must be"),
        ({"episodes": 1, "n_threads": 0}, ValueError, "n_threads must be"),
        ({"episodes": 1, "deterministic": 1}, TypeError, "deterministic must be a bool"),
        ({"episodes": 1, "policy": "ppo"}, TypeError, "policy must be"),
        ({"episodes": 1, "policy": rf.policies.Ppo("beta")}, ValueError, "categorical"),
        ({"episodes": 1, "reward": rf.Reward(nonsense=1.0)}, ValueError, "nonsense"),
        ({"episodes": 1, "progress": 7}, TypeError, "progress must be callable"),
    ],
)
def test_arguments_that_cannot_be_are_refused_by_name(arguments: Any, error: type[Exception], match: str) -> None:
    game, infer = cart_pole()
    with pytest.raises(error, match=match):
        rf.evaluate(game, infer, **arguments)
