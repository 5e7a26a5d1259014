"""`VecEnv`: shapes and dtypes, seeds, the three modes of automatic reset, saving, and what it refuses."""

from __future__ import annotations

import itertools
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

import reinfors as rf

pytestmark = pytest.mark.conformance

GAMES = rf.games.registered()


def env_of(name: str, n_envs: int = 2, *, max_steps: int | None = 3, **arguments: Any) -> rf.VecEnv:
    arguments.setdefault("n_threads", 1)
    return rf.VecEnv(rf.games.make(name, max_steps=max_steps), n_envs, **arguments)


def rows_of(env: rf.VecEnv) -> int:
    return len(env) * env.game.n_agents


def actions_of(env: rf.VecEnv, rng: np.random.Generator) -> np.ndarray:
    game = env.game
    if game.n_actions is not None:
        return rng.integers(game.n_actions, size=rows_of(env))
    assert game.action_low is not None
    assert game.action_high is not None
    return rng.uniform(game.action_low, game.action_high, size=(rows_of(env), len(game.action_low)))


def noops(env: rf.VecEnv) -> np.ndarray:
    return np.zeros(rows_of(env), np.int64)


@pytest.mark.parametrize("name", GAMES)
def test_arrays_have_the_documented_shapes_and_types(name: str) -> None:
    with env_of(name) as env:
        obs, infos = env.reset(seed=0)
        assert obs.shape == (rows_of(env), *env.game.obs_shape)
        assert (obs.dtype, infos) == (env.game.obs_dtype, {})
        obs, rewards, terminated, truncated, _ = env.step(noops(env))
        assert obs.flags.c_contiguous
        assert obs.flags.writeable
        assert (rewards.dtype, rewards.shape) == (np.float64, (rows_of(env),))
        assert (terminated.dtype, truncated.dtype) == (np.bool_, np.bool_)
        assert np.array_equal(env.observe(), obs)
        picture = env.render(1)
        assert (picture.dtype, picture.ndim, picture.shape[2]) == (np.uint8, 3, 3)
        assert all(value.dtype == np.float64 for value in env.inspect(0).values())


@pytest.mark.parametrize("name", GAMES)
def test_an_integer_seed_means_one_more_for_each_environment(name: str) -> None:
    one, other = env_of(name), env_of(name)
    assert np.array_equal(one.reset(seed=7)[0], other.reset(seed=[7, 8])[0])
    assert one.seeds == [7, 8]
    huge = 2**128 + 5
    assert np.array_equal(one.reset(seed=huge)[0], other.reset(seed=[huge, huge + 1])[0])
    assert not np.array_equal(one.reset(seed=1)[0], other.reset(seed=2)[0])


@pytest.mark.parametrize("name", GAMES)
def test_integers_of_numpy_and_truth_values_are_seeds(name: str) -> None:
    env = env_of(name, 1)
    expected = env.reset(seed=1)[0]
    for seed in (np.int64(1), np.uint8(1), True, [1], (1,), np.array([1])):
        assert np.array_equal(env.reset(seed=seed)[0], expected), seed


@pytest.mark.parametrize(
    ("seed", "error"),
    [
        (3.0, TypeError),
        ("3", TypeError),
        (-1, ValueError),
        ([1], ValueError),
        ([1, 2, 3], ValueError),
        ([1, -1], ValueError),
    ],
)
def test_d11_other_seeds_are_refused(seed: object, error: type[Exception]) -> None:
    env = env_of(GAMES[0])
    before = env.reset(seed=4)[0]
    with pytest.raises(error, match="seed"):
        env.reset(seed=seed)  # type: ignore[arg-type]
    assert np.array_equal(env.observe(), before)


@pytest.mark.parametrize(
    "endless",
    [itertools.count(), itertools.repeat(True), range(10**12), [0] * 3, [0]],
    ids=["count", "repeat", "range", "one more", "one less"],
)
def test_no_more_is_read_of_an_iterable_than_tells_that_it_is_too_long(endless: Any) -> None:
    env = env_of("CarRacing")
    with pytest.raises(ValueError, match="one per environment: 2 of them, got"):
        env.reset(seed=endless)
    with pytest.raises(ValueError, match="one per environment: 2 of them, got"):
        env.reset(options={"reset_mask": endless})
    with pytest.raises((TypeError, ValueError), match="actions must be an array of integers from 0 to 4"):
        env.step(endless)


@pytest.mark.parametrize("unordered", [{1, 2}, frozenset({1}), {1: 0, 2: 0}, {1: 0}.keys(), b"ab", bytearray(2)])
def test_what_has_no_order_or_means_something_else_is_no_list_of_seeds(unordered: Any) -> None:
    with pytest.raises(TypeError, match="seed must be None, an integer or a list"):
        env_of("CarRacing").reset(seed=unordered)


def test_no_seed_is_fresh_entropy_and_a_seed_of_construction_is_that_of_the_first_reset() -> None:
    unseeded = [env_of(GAMES[0], 1) for _ in range(2)]
    assert unseeded[0].seed != unseeded[1].seed
    assert not np.array_equal(unseeded[0].reset()[0], unseeded[1].reset()[0])
    seeded = env_of(GAMES[0], seed=11)
    assert np.array_equal(seeded.reset()[0], env_of(GAMES[0]).reset(seed=11)[0])


def test_d15_unseeded_resets_continue_the_stream_also_the_automatic_ones() -> None:
    by_hand = env_of(GAMES[0], 1, autoreset="disabled")
    firsts = [by_hand.reset(seed=5)[0]] + [by_hand.reset()[0] for _ in range(2)]
    env = env_of(GAMES[0], 1)
    seen = [env.reset(seed=5)[0]]
    for _ in range(2):
        for _ in range(3):
            env.step(noops(env))
        seen.append(env.step(noops(env))[0])
    assert all(np.array_equal(one, other) for one, other in zip(firsts, seen, strict=True))
    assert not np.array_equal(seen[0], seen[1])


def test_d24_next_step_ignores_the_action_after_the_end() -> None:
    env = env_of(GAMES[0])
    env.reset(seed=[0, 5])
    for step in range(1, 4):
        *_, truncated, infos = env.step(noops(env))
        assert truncated.tolist() == [step == 3] * 2
        assert "final_obs" not in infos
    _, rewards, terminated, truncated, _ = env.step(noops(env))
    assert rewards.tolist() == [0.0, 0.0]
    assert not (terminated | truncated).any()
    assert env.step(noops(env))[1].all()


def test_same_step_hands_out_the_last_observation() -> None:
    env, single = env_of(GAMES[0], autoreset="same_step"), env_of(GAMES[0], autoreset="disabled")
    env.reset(seed=[0, 5])
    single.reset(seed=[0, 5])
    for _ in range(3):
        obs, _, _, truncated, infos = env.step(noops(env))
        last = single.step(noops(single))[0]
    assert truncated.all()
    assert infos["_final_obs"].tolist() == [True, True]
    assert infos["final_info"] == {}
    assert np.array_equal(np.stack(infos["final_obs"]), last)
    assert np.array_equal(obs, single.reset()[0])


def test_disabled_simulates_on_and_a_mask_resets_some() -> None:
    env = env_of(GAMES[0], autoreset="disabled")
    env.reset(seed=[0, 5])
    for step in range(1, 6):
        obs, _, _, truncated, _ = env.step(noops(env))
        assert truncated.tolist() == [step >= 3] * 2
    masked, _ = env.reset(options={"reset_mask": np.array([False, True])})
    assert np.array_equal(masked[0], obs[0])
    assert not np.array_equal(masked[1], obs[1])
    assert env.step(noops(env))[3].tolist() == [True, False]


def test_d25_a_reset_by_hand_clears_counters_and_pending_resets() -> None:
    env = env_of(GAMES[0])
    for n_steps in (3, 2):
        first = env.reset(seed=[0, 5])[0]
        rewards = [env.step(noops(env))[1] for _ in range(n_steps)]
        assert np.array_equal(env.reset(seed=[0, 5])[0], first)
        assert env.step(noops(env))[1].tolist() == rewards[0].tolist()
        assert [bool(env.step(noops(env))[3].all()) for _ in range(2)] == [False, True]


@pytest.mark.parametrize("name", GAMES)
def test_d28_results_do_not_depend_on_threads_and_never_change_afterwards(name: str) -> None:
    histories = []
    for n_threads in (1, 2, 8):
        env = env_of(name, 5, n_threads=n_threads, max_steps=4)
        rng = np.random.default_rng(0)
        kept = [env.reset(seed=1)[0]]
        copies = [kept[0].copy()]
        rewards = []
        for _ in range(10):
            obs, reward, *_ = env.step(actions_of(env, rng))
            kept.append(obs)
            copies.append(obs.copy())
            rewards.append(reward)
        assert all(np.array_equal(one, other) for one, other in zip(kept, copies, strict=True))
        histories.append((np.stack(kept).tobytes(), np.stack(rewards).tobytes()))
    assert histories[0] == histories[1] == histories[2]


@pytest.mark.parametrize("name", GAMES)
def test_a_saved_environment_continues_exactly(name: str) -> None:
    env, other = env_of(name, max_steps=None), env_of(name, 3, max_steps=None, n_threads=2)
    env.reset(seed=3)
    other.reset(seed=9)
    rng = np.random.default_rng(2)
    for _ in range(5):
        env.step(actions_of(env, rng))
    other.load(2, env.save(1))
    n_agents = env.game.n_agents
    for _ in range(5):
        actions = actions_of(env, rng)
        obs, rewards, *_ = env.step(actions)
        one, two = actions[:n_agents], actions[n_agents:]
        others, other_rewards, *_ = other.step(np.concatenate([one, one, two]))
        assert np.array_equal(obs[n_agents:], others[2 * n_agents :])
        assert np.array_equal(rewards[n_agents:], other_rewards[2 * n_agents :])


def test_a_save_of_another_configuration_is_refused_by_name() -> None:
    env = env_of(GAMES[0], max_steps=3)
    env.reset(seed=0)
    other = env_of(GAMES[0], max_steps=4)
    other.reset(seed=1)
    before = other.save(0)
    with pytest.raises(ValueError, match="max_steps"):
        other.load(0, env.save(0))
    for damaged in (b"", before[:-1], before[:20] + b"\x55" + before[21:]):
        with pytest.raises(ValueError, match="cannot load"):
            other.load(0, damaged)
    with pytest.raises(TypeError, match="bytes"):
        other.load(0, "text")  # type: ignore[arg-type]
    assert other.save(0) == before


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64])
def test_numbered_actions_may_have_any_integer_type(dtype: type) -> None:
    env = env_of(GAMES[0], autoreset="disabled")
    env.reset(seed=0)
    expected = env.step([1, 2])[0]
    env.reset(seed=0)
    assert np.array_equal(env.step(np.array([1, 2], dtype))[0], expected)


@pytest.mark.parametrize(
    ("actions", "error"),
    [
        ([0], ValueError),
        ([[0], [0]], ValueError),
        (0, ValueError),
        ([0, 10**6], ValueError),
        ([0, -1], ValueError),
        ([0.0, 0.0], TypeError),
        ([True, False], TypeError),
        (["0", "1"], TypeError),
        (None, TypeError),
        ([None, 0], TypeError),
        ([[0], 1], TypeError),
    ],
)
def test_wrong_actions_are_refused_before_anything_moves(actions: Any, error: type[Exception]) -> None:
    env = env_of(GAMES[0])
    env.reset(seed=0)
    before = [env.save(i) for i in range(2)]
    with pytest.raises(error, match="action"):
        env.step(actions)
    assert [env.save(i) for i in range(2)] == before


def continuous_env(n_envs: int = 1) -> rf.VecEnv:
    env = rf.VecEnv(rf.games.make("CarRacing", continuous=True), n_envs, 1)
    env.reset(seed=0)
    return env


def test_float32_and_float64_actions_are_each_taken_as_they_are() -> None:
    states = []
    for dtype in (np.float32, np.float64):
        env = continuous_env()
        for action in [[0.0, 0.2, 0.0]] * 10 + [[-0.6, 0.0, 0.0]] * 5:
            env.step(np.array([action], dtype))
        states.append(env.save(0))
    assert states[0] != states[1]
    env = continuous_env()
    for action in [[0.0, 0.2, 0.0]] * 10 + [[-0.6, 0.0, 0.0]] * 5:
        env.step([action])
    assert env.save(0) == states[1]


@pytest.mark.parametrize(
    "actions",
    [
        np.zeros((1, 3), np.float32)[:, ::-1],
        np.asfortranarray(np.zeros((1, 3))),
        np.zeros((1, 3), ">f4"),
        np.zeros((1, 3), int),
    ],
)
def test_vectors_may_have_any_layout(actions: np.ndarray) -> None:
    actions.flags.writeable = False
    env, plain = continuous_env(), continuous_env()
    assert np.array_equal(env.step(actions)[0], plain.step([[0.0, 0.0, 0.0]])[0])


@pytest.mark.parametrize(
    ("actions", "error"),
    [
        ([0.0, 0.0, 0.0], ValueError),
        ([[0.0, 0.0]], ValueError),
        ([[0.0, 0.0, 0.0, 0.0]], ValueError),
        (np.zeros((1, 3, 1)), ValueError),
        ([[0.0, np.nan, 0.0]], ValueError),
        ([[np.inf, 0.0, 0.0]], ValueError),
        (np.zeros((1, 3), complex), TypeError),
        (np.zeros((1, 3), object), TypeError),
        (np.zeros((1, 3), np.longdouble), TypeError),
        (np.zeros((1, 3), bool), TypeError),
    ],
)
def test_wrong_vectors_are_refused_before_anything_moves(actions: Any, error: type[Exception]) -> None:
    env = continuous_env()
    before = env.save(0)
    with pytest.raises(error, match="action"):
        env.step(actions)
    assert env.save(0) == before


@pytest.mark.parametrize(
    "call",
    [
        lambda env: env.reset(options={"reset_mask": np.array([True, False])}),
        lambda env: env.step(noops(env)),
        lambda env: env.observe(),
        lambda env: env.render(0),
        lambda env: env.inspect(0),
        lambda env: env.save(0),
    ],
)
def test_before_the_first_reset_and_after_closing_there_is_nothing_to_do(call: Any) -> None:
    env = env_of(GAMES[0])
    with pytest.raises(RuntimeError, match="never reset"):
        call(env)
    env.reset(seed=0)
    env.close()
    env.close()
    assert env.closed
    with pytest.raises(RuntimeError, match="closed"):
        call(env)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"nonsense": True}, ValueError),
        ({"reset_mask": np.array([False, False])}, ValueError),
        ({"reset_mask": np.array([True])}, ValueError),
        ({"reset_mask": np.array([1, 0])}, TypeError),
        ({"reset_mask": 3}, TypeError),
        ([1], TypeError),
    ],
)
def test_wrong_options_of_a_reset_are_refused(options: Any, error: type[Exception]) -> None:
    env = env_of(GAMES[0])
    before = env.reset(seed=0)[0]
    with pytest.raises(error):
        env.reset(options=options)
    assert np.array_equal(env.observe(), before)


def test_rewards_follow_the_weights() -> None:
    game = rf.games.make(GAMES[0], max_steps=3)
    free = rf.VecEnv(game, 1, 1, reward=rf.Reward(**dict.fromkeys(game.reward_keys, 0.0)))
    free.reset(seed=0)
    assert free.step([0])[1].tolist() == [0.0]
    with pytest.raises(ValueError, match="|".join(game.reward_keys)):
        rf.VecEnv(game, 1, 1, reward=rf.Reward(nonsense=1.0))


def test_three_hundred_environments_on_more_threads_than_cores() -> None:
    env = env_of(GAMES[0], 300, n_threads=16)
    env.reset(seed=0)
    assert len(env.step(noops(env))[1]) == 300
    assert env_of(GAMES[0], 2, n_threads=2**40).n_threads == 2


def test_threads_of_the_caller_are_told_when_they_collide() -> None:
    env = env_of(GAMES[0], 64, max_steps=None)
    env.reset(seed=0)
    outcomes: list[str] = []

    def drive() -> None:
        for _ in range(30):
            try:
                env.step(noops(env))
            except RuntimeError as error:
                outcomes.append(str(error))

    threads = [threading.Thread(target=drive) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(outcomes) <= {"this VecEnv is in use by another thread"}
    assert env.step(noops(env))[1].shape == (64,)


@pytest.mark.parametrize("first_use", ["reset", "observe"])
def test_an_interrupt_of_the_first_call_is_an_interrupt_and_nothing_breaks(first_use: str) -> None:
    script = f"""
import os, signal, threading
import reinfors as rf
env = rf.VecEnv(rf.games.make("CarRacing"), 400, 1)
threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    env.reset()
    env.{first_use}()
    while True:
        env.observe()
except KeyboardInterrupt:
    print("interrupted", len(env.reset(seed=0)[0]))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.split() == ["interrupted", "400"], done.stderr


def test_gymnasiums_own_constants_name_the_modes() -> None:
    vector = pytest.importorskip("gymnasium.vector")
    for mode in vector.AutoresetMode:
        assert env_of("CarRacing", autoreset=mode).autoreset == mode.name.lower()


@pytest.mark.parametrize("index", [2**63, 2**64 - 1])
def test_an_unsigned_index_is_reported_as_it_is(index: int) -> None:
    env = env_of("CarRacing")
    env.reset(seed=0)
    with pytest.raises(ValueError, match=f"action {index} of row 1 must be from 0 to 4"):
        env.step(np.array([0, index], np.uint64))
    with pytest.raises(TypeError, match="masked"):
        env.step(np.ma.masked_array([0, 1], [False, True]))
