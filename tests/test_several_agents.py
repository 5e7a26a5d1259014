"""Games of several agents in `VecEnv` and `Engine`: whose row is whose, and who ends and is reset with whom."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import reinfors as rf

N_AGENTS = 3
MAX_STEPS = 7


def game_of(**options: Any) -> rf.games.Game:
    return rf.games.SimpleSpread(**{"n_agents": N_AGENTS, "max_steps": MAX_STEPS, **options})


def infer_of(n_params: int, *, has_values: bool = True) -> Any:
    """Answers each row by itself."""

    def infer(obs: np.ndarray) -> Any:
        sums = (obs.astype(np.float64) * np.arange(1, obs.shape[1] + 1)).sum(axis=1)
        params = np.sin(sums[:, None] * np.arange(1, n_params + 1))
        return (params, sums) if has_values else params

    return infer


def engine_of(n_games: int = 4, n_threads: int = 2, learner: Any = None, **options: Any) -> rf.Engine:
    policy = rf.policies.EpsilonGreedy(0.3) if isinstance(learner, rf.learners.Transitions) else rf.policies.Ppo()
    return rf.Engine(game_of(**options), None, policy, learner or rf.learners.Ppo(), n_games, n_threads, seed=3)


def test_a_game_declares_its_agents() -> None:
    assert [rf.games.make(name).n_agents for name in ("CarRacing", "CartPole", "SimpleSpread")] == [1, 1, 3]
    assert rf.games.SimpleSpread(n_agents=5).n_agents == 5
    for wrong in (0, 65, -1):
        with pytest.raises(ValueError, match="option n_agents must be"):
            rf.games.SimpleSpread(n_agents=wrong)


@pytest.mark.parametrize("autoreset", ["same_step", "next_step", "disabled"])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_environments_of_agents_go_the_way_of_each_alone(autoreset: Any, n_threads: int) -> None:
    n_envs, rng = 5, np.random.default_rng(0)
    together = rf.VecEnv(game_of(), n_envs, n_threads, autoreset=autoreset)
    alone = [rf.VecEnv(game_of(), 1, 1, autoreset=autoreset) for _ in range(n_envs)]
    obs, _ = together.reset(seed=10)
    assert np.array_equal(obs, np.concatenate([env.reset(seed=[10 + i])[0] for i, env in enumerate(alone)]))
    over = np.zeros(n_envs, bool)
    for step in range(20):
        if autoreset == "disabled" and over.any():
            together.reset(options={"reset_mask": over})
            [env.reset() for env, is_over in zip(alone, over, strict=True) if is_over]
        actions = rng.integers(5, size=(n_envs, N_AGENTS))
        if step == 4:  # one of them out of step with the others from here on
            mask = np.arange(n_envs) == 2
            together.reset(options={"reset_mask": mask})
            alone[2].reset()
        returned: Any = together.step(actions.ravel())
        each: list[Any] = [env.step(row) for env, row in zip(alone, actions, strict=True)]
        for part in range(4):
            assert np.array_equal(returned[part], np.concatenate([one[part] for one in each])), (step, part)
        ends = (returned[2] | returned[3]).reshape(n_envs, N_AGENTS)
        assert (ends.all(axis=1) == ends.any(axis=1)).all()
        over = ends[:, 0]
        finals = returned[4].get("final_obs")
        assert (finals is not None) == (autoreset == "same_step" and over.any())
        if finals is not None:
            assert np.array_equal(returned[4]["_final_obs"], ends.ravel())
            assert np.array_equal(returned[4]["_final_info"], over)
            expected = [obs for one in each for obs in one[4].get("final_obs", [None] * N_AGENTS)]
            assert all(np.array_equal(*pair) for pair in zip(finals, expected, strict=True))
    assert over.shape == (n_envs,)


def test_wrong_numbers_of_actions_are_refused_by_the_number_of_rows() -> None:
    env = rf.VecEnv(game_of(), 2, 1)
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"of shape \(6,\), got 2 items"):
        env.step([0, 0])
    with pytest.raises(ValueError, match="at most 65536, got 65536 games of 3 agents"):
        rf.VecEnv(game_of(), 65536, 1)
    with pytest.raises(ValueError, match="at most 65536, got 65536 games of 3 agents"):
        engine_of(65536)


@pytest.mark.parametrize("n_games", [4, 17])
def test_every_agent_is_a_slot_whose_records_are_its_own(n_games: int) -> None:
    engine = engine_of(n_games)
    n_slots, steps = n_games * N_AGENTS, 11
    batch = engine.collect(n_slots * steps, infer_of(engine.n_params))
    assert (len(batch), batch.n_slots, batch.n_steps) == (n_slots * steps, n_slots, steps)
    assert batch.time_major("obs").shape == (steps, n_slots, 6 * N_AGENTS)
    assert np.array_equal(batch.time_major("slot"), np.tile(np.arange(n_slots), (steps, 1)))
    assert batch.last_obs.shape == (n_slots, 6 * N_AGENTS)
    ends = (batch.time_major("terminated") | batch.time_major("truncated")).reshape(steps, n_games, N_AGENTS)
    assert (ends.all(axis=2) == ends.any(axis=2)).all()
    assert ends[MAX_STEPS - 1].all()
    episodes = batch.telemetry["episodes"]
    assert [row["slot"] for row in episodes] == list(range(n_slots))
    seeds = np.array([row["seed"] for row in episodes]).reshape(n_games, N_AGENTS)
    assert (seeds == seeds[:, :1]).all()
    assert len(set(seeds[:, 0])) == n_games
    # The first episode of every game again, from its seed and the recorded actions.
    replay = rf.VecEnv(game_of(), n_games, 1, autoreset="disabled")
    obs, _ = replay.reset(seed=seeds[:, 0].tolist())
    totals = np.zeros(n_slots)
    for step in range(MAX_STEPS):
        assert np.array_equal(batch.time_major("obs")[step], obs)
        obs, rewards, *_ = replay.step(batch.time_major("actions")[step])
        assert np.array_equal(batch.time_major("rewards")[step], rewards.astype(np.float32))
        totals += rewards
    assert [row["return"] for row in episodes] == totals.tolist()
    actions = batch.time_major("actions").reshape(steps, n_games, N_AGENTS)
    assert any((actions[..., one] != actions[..., other]).any() for one, other in itertools.combinations(range(3), 2))


LEARNERS = [rf.learners.Ppo(), rf.learners.Vtrace(), rf.learners.Transitions(n_step=2)]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_neither_threads_nor_halves_nor_streams_change_a_record(learner: Any) -> None:
    def content(batch: rf.Batch) -> bytes:
        names = ("obs", "actions", "rewards", "slot", "step")
        return b"".join(np.ascontiguousarray(getattr(batch, name)).tobytes() for name in names)

    def batches(n_threads: int, *, is_streamed: bool = False) -> list[bytes]:
        engine = engine_of(18, n_threads, learner)
        infer = infer_of(engine.n_params, has_values=isinstance(learner, rf.learners.Ppo))
        if is_streamed:
            with engine.collect_stream(500, infer) as stream:
                return [content(next(stream)) for _ in range(3)]
        return [content(engine.collect(500, infer)) for _ in range(3)]

    expected = batches(1)
    assert len(set(expected)) == 3
    assert batches(3) == expected
    assert batches(2, is_streamed=True) == expected


def test_final_observations_are_of_the_agents_that_stopped() -> None:
    engine = engine_of(2, 1, rf.learners.Vtrace())
    batch = engine.collect(2 * N_AGENTS * 9, infer_of(engine.n_params, has_values=False))
    assert batch.final_rows.tolist() == [(MAX_STEPS - 1) * 2 * N_AGENTS + slot for slot in range(2 * N_AGENTS)]
    replay = rf.VecEnv(game_of(), 2, 1, autoreset="disabled")
    seeds = [row["seed"] for row in batch.telemetry["episodes"]][::N_AGENTS]
    replay.reset(seed=seeds)
    for step in range(MAX_STEPS):
        obs = replay.step(batch.time_major("actions")[step])[0]
    assert np.array_equal(batch.final_obs, obs)
    assert not np.array_equal(batch.time_major("obs")[MAX_STEPS], obs)


def test_success_of_a_team_ends_the_episode_for_all_of_it() -> None:
    """One agent in one place with its landmark is there at once; so it is with a chance of a few per cent."""
    game = rf.games.SimpleSpread(n_agents=1, terminate_on_success=True, max_steps=60)
    engine = rf.Engine(game, None, rf.policies.Ppo(), rf.learners.Ppo(), 64, 2, seed=0)
    batch = engine.collect(64 * 120, infer_of(5))
    assert batch.terminated.any()
    assert {row["ended"] for row in batch.telemetry["episodes"]} == {"all_covered", "max_steps"}


def test_a_snapshot_goes_on_exactly_there() -> None:
    engine, other = engine_of(), engine_of(n_threads=1)
    infer = infer_of(engine.n_params)
    engine.collect(4 * N_AGENTS * 5, infer)
    other.restore(engine.snapshot())
    for _ in range(2):
        one, two = engine.collect(100, infer), other.collect(100, infer)
        assert np.array_equal(one.obs, two.obs)
        assert np.array_equal(one.rewards, two.rewards)
    with pytest.raises(ValueError, match="its option n_agents is 3, this engine's is 2"):
        engine_of(n_agents=2).restore(engine.snapshot())


def test_a_window_that_fails_is_made_again() -> None:
    engine, other = engine_of(), engine_of()
    infer, calls = infer_of(engine.n_params), itertools.count()

    def failing(obs: np.ndarray) -> Any:
        if next(calls) == 9:
            raise ValueError("enough")
        return infer(obs)

    with pytest.raises(ValueError, match="enough"):
        engine.collect(4 * N_AGENTS * 12, failing)
    assert np.array_equal(engine.collect(300, infer).obs, other.collect(300, infer).obs)


def test_every_agent_remembers_its_own() -> None:
    policy = rf.policies.Ppo(state_shape=(2,))
    engine = rf.Engine(game_of(), None, policy, rf.learners.Ppo(), 3, 2, seed=1)

    def infer(obs: np.ndarray, state: np.ndarray, starts: np.ndarray) -> Any:
        assert (state[starts] == 0).all()
        remembered = np.stack([state[:, 0] + 1, obs[:, 2]], axis=1)
        return np.zeros((len(obs), 5)), np.zeros(len(obs)), remembered

    batch = engine.collect(3 * N_AGENTS * 10, infer)
    states, steps, obs = (batch.time_major(name) for name in ("states", "step", "obs"))
    assert np.array_equal(states[..., 0], steps)
    within = steps[1:] > 0
    assert np.array_equal(states[1:, :, 1][within], obs[:-1, :, 2][within])
