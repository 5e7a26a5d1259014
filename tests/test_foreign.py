"""`rf.games.Batch`: worlds of the caller's under the engine's contract, and what becomes of them when they fail."""

from __future__ import annotations

import itertools
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import reinfors as rf

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

N = 3


class Walks:
    """`n` walkers on a line: an action adds -1, 0 or 1, beyond 2 the episode ends, after 7 steps it is cut off."""

    def __init__(self, n: int) -> None:
        self.position, self.age = np.zeros(n, np.float32), np.zeros(n, np.int64)
        self.streams = [np.random.default_rng(0) for _ in range(n)]
        self.resets: list[list[int]] = []
        self.is_closed = False

    def reset(self, rows: NDArray[np.int64], seeds: list[int | None]) -> NDArray[np.float32]:
        """Begins within one of the middle."""
        self.resets.append(rows.tolist())
        for row, seed in zip(rows, seeds, strict=True):
            if seed is not None:
                self.streams[row] = np.random.default_rng(seed)
            self.position[row], self.age[row] = self.streams[row].uniform(-1, 1), 0
        return self.seen()[rows]

    def seen(self) -> NDArray[np.float32]:
        return np.stack([self.position, self.age.astype(np.float32)], axis=1)

    def step(self, actions: NDArray[np.int64], active: NDArray[np.bool_]) -> tuple[Any, Any, Any, Any]:
        """Steps those that are active."""
        self.position += np.where(active, actions - 1, 0).astype(np.float32)
        self.age += active
        return self.seen(), self.position.copy(), np.abs(self.position) > 2, self.age >= 7

    def close(self) -> None:
        self.is_closed = True


class SavedWalks(Walks):
    """The same, which can go back."""

    def save(self) -> Any:
        return self.position.copy(), self.age.copy(), [stream.bit_generator.state for stream in self.streams]

    def load(self, saved: Any) -> None:
        self.position, self.age = saved[0].copy(), saved[1].copy()
        for stream, state in zip(self.streams, saved[2], strict=True):
            stream.bit_generator.state = state


def walks(make: Callable[[int], Any] = Walks, **options: Any) -> rf.games.Game:
    return rf.games.Batch(make, **{"obs_shape": (2,), "n_actions": 3, **options})


def engine(game: rf.games.Game, **settings: Any) -> rf.Engine:
    return rf.Engine(game, None, rf.policies.Ppo(), rf.learners.Ppo(), **{"n_games": N, "seed": 5, **settings})


def infer(obs: NDArray[np.float32]) -> tuple[Any, Any]:
    return np.stack([-obs[:, 0], 0 * obs[:, 0], obs[:, 0]], axis=1), obs[:, 1]


def same(one: rf.Batch, other: rf.Batch) -> bool:
    names = ("obs", "actions", "rewards", "values", "advantages", "terminated", "truncated", "slot", "step")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


def replayed(batch: rf.Batch, slot: int) -> None:
    """Plays a slot's episodes that ended in the batch again, alone, and compares."""
    rows = np.flatnonzero(batch.slot == slot)
    ended = iter([episode for episode in batch.telemetry["episodes"] if episode["slot"] == slot])
    world, total = Walks(1), 0.0
    episode: Any = None
    actions: Any = batch.actions
    for row in rows:
        if batch.step[row] == 0:
            if (episode := next(ended, None)) is None:
                return
            obs, total = world.reset(np.array([0]), [episode["seed"]]), 0.0
        assert np.array_equal(batch.obs[row], obs[0])
        obs, reward, terminated, truncated = world.step(actions[[row]], np.array([True]))
        total += reward[0]
        told = batch.rewards[row], batch.terminated[row], batch.truncated[row]
        assert told == (reward[0], terminated[0], truncated[0])
        if terminated[0] or truncated[0]:
            assert episode["return"] == pytest.approx(total)
            assert episode["ended"] == ("terminated" if terminated[0] else "max_steps")


def test_records_are_those_of_the_worlds() -> None:
    batch = engine(walks()).collect(N * 40, infer)
    assert batch.obs.dtype == np.float32
    assert batch.terminated.any()
    assert batch.truncated.any()
    for slot in range(N):
        replayed(batch, slot)


def test_a_stream_gives_the_same_records_with_versions() -> None:
    alone = engine(walks())
    collected = [alone.collect(N * 10, infer) for _ in range(3)]
    streaming = engine(walks())
    with streaming.collect_stream(N * 10, infer) as stream:
        streamed = list(itertools.islice(stream, 3))
        streaming.weights_updated(9)
        assert all(same(*pair) for pair in zip(collected, streamed, strict=True))
        assert any((next(stream).policy_version == 9).all() for _ in range(4))


def test_resets_of_a_step_are_one_call() -> None:
    made: list[Walks] = []

    def make(n: int) -> Walks:
        made.append(Walks(n))
        return made[-1]

    engine(walks(make)).collect(N * 30, infer)
    assert made[0].resets[0] == [0, 1, 2]
    assert any(len(rows) > 1 for rows in made[0].resets[1:])
    assert made[0].is_closed


def failing(calls: list[int], at: int) -> Callable[[Any], Any]:
    """An `infer` whose call number `at` fails."""

    def answer(obs: Any) -> Any:
        calls.append(len(obs))
        if len(calls) == at:
            raise ZeroDivisionError("the caller's own")
        return infer(obs)

    return answer


def test_worlds_that_can_be_loaded_take_a_failed_window_back() -> None:
    untroubled = engine(walks(SavedWalks))
    expected = [untroubled.collect(N * 10, infer) for _ in range(2)]
    troubled = engine(walks(SavedWalks))
    first = troubled.collect(N * 10, infer)
    with pytest.raises(ZeroDivisionError):
        troubled.collect(N * 10, failing([], at=6))
    assert same(first, expected[0])
    assert same(troubled.collect(N * 10, infer), expected[1])


def test_other_worlds_begin_new_episodes_after_a_failed_window() -> None:
    troubled = engine(walks())
    first = troubled.collect(N * 10, infer)
    with pytest.raises(ZeroDivisionError):
        troubled.collect(N * 10, failing([], at=6))
    after = troubled.collect(N * 40, infer)
    assert (after.step[:N] == 0).all()
    assert not np.array_equal(after.obs[:N], first.last_obs)
    for slot in range(N):
        replayed(after, slot)


def test_a_stopped_stream_discards_its_window_in_the_same_way() -> None:
    own = engine(walks())
    with own.collect_stream(N * 10, infer) as stream:
        next(stream)
    assert (own.collect(N, infer).step == 0).all()
    kept = own.collect_stream(N * 10, infer)
    last = [next(kept), *kept.pause()][-1]
    assert np.array_equal(own.collect(N, infer).obs, last.last_obs), "a pause is lossless"


class Broken(Walks):
    """Fails in a way of choice, in step number 4."""

    def __init__(self, n: int, answer: Callable[[Any], Any]) -> None:
        super().__init__(n)
        self.answer, self.steps = answer, 0

    def step(self, actions: Any, active: Any) -> Any:
        self.steps += 1
        answer = super().step(actions, active)
        return self.answer(answer) if self.steps == 4 else answer


def with_observation(number: float) -> Any:
    """An answer with this number in row 1."""
    return lambda answer: (np.where([[0, 0], [0, 1], [0, 0]], number, answer[0].astype(np.float64)), *answer[1:])


def divided(answer: Any) -> Any:
    raise ZeroDivisionError("the simulator's own")


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        (divided, ZeroDivisionError, "the simulator's own"),
        (lambda answer: answer[:3], TypeError, r"step must return \(obs, rewards, terminated, truncated\)"),
        (lambda answer: (answer[0][:2], *answer[1:]), ValueError, r"observations of shape \(3, 2\), got \(2, 2\)"),
        (lambda answer: (answer[0].astype(str), *answer[1:]), TypeError, "observations of float32, got"),
        (lambda answer: (answer[0], answer[1] * np.nan, *answer[2:]), ValueError, "finite rewards, got nan for row 0"),
        (lambda answer: (answer[0], answer[1][:1], *answer[2:]), ValueError, "3 rewards, got float32 of shape"),
        (with_observation(np.nan), ValueError, "step must return finite float32 observations, got nan in row 1"),
        (with_observation(-np.inf), ValueError, "step must return finite float32 observations, got -inf in row 1"),
        (with_observation(1e300), ValueError, "step must return finite float32 observations, got inf in row 1"),
        (lambda answer: (*answer[:2], answer[2] * 1.0, answer[3]), ValueError, "terminated as 3 bools, got float"),
    ],
)
def test_what_worlds_do_wrong_is_raised_and_the_engine_goes_on(answer: Any, error: Any, words: str) -> None:
    own = engine(walks(partial(Broken, answer=answer)))
    with pytest.raises(error, match=words):
        own.collect(N * 10, infer)
    assert (own.collect(N * 10, infer).step[:N] == 0).all()
    with own.collect_stream(N * 10, infer) as stream:
        assert len(next(stream)) == N * 10


def test_a_first_observation_is_finite_and_what_nobody_looks_at_is_not_asked() -> None:
    class Unborn(Walks):
        def reset(self, rows: Any, seeds: Any) -> Any:
            return super().reset(rows, seeds) * [1, np.nan]

    class Beyond(Walks):
        def step(self, actions: Any, active: Any) -> Any:
            obs, rewards, terminated, truncated = super().step(actions, active)
            return np.where(active[:, None], obs, np.nan), np.where(active, rewards, np.nan), terminated, truncated

    with pytest.raises(ValueError, match="reset must return finite float32 observations, got nan in row 0"):
        engine(walks(Unborn))
    envs = rf.VecEnv(walks(Beyond), 2, seed=3)
    envs.reset()
    for _ in range(20):
        assert np.isfinite(envs.step(np.array([2, 0]))[0]).all()


def test_a_failure_keeps_its_traceback() -> None:
    with pytest.raises(ZeroDivisionError) as raised:
        engine(walks(partial(Broken, answer=divided))).collect(N * 10, infer)
    assert raised.traceback[-1].name == "divided"


def test_worlds_that_cannot_be_made_are_told_where_the_engine_is_made() -> None:
    def make(n: int) -> Any:
        raise FileNotFoundError(f"no simulator for {n}")

    with pytest.raises(FileNotFoundError, match="no simulator"):
        engine(walks(make))
    envs = rf.VecEnv(walks(make), 2)
    with pytest.raises(FileNotFoundError, match="no simulator"):
        envs.reset()
    with pytest.raises(TypeError, match="must return worlds with reset and step"):
        engine(walks(lambda n: n))


def test_states_cannot_be_saved_and_say_so() -> None:
    own, envs = engine(walks(SavedWalks)), rf.VecEnv(walks(), 2, seed=0)
    envs.reset()
    refused = "Batch cannot be saved, loaded, snapshot or restored: its worlds live outside reinfors"
    for call in (own.snapshot, partial(own.restore, b""), partial(envs.save, 0), partial(envs.load, 0, b"")):
        with pytest.raises(ValueError, match=refused):
            call()
    with pytest.raises(TypeError, match="cannot be pickled"):
        __import__("pickle").dumps(walks())


def test_one_thread_steps_all_and_there_is_nothing_to_weigh() -> None:
    assert engine(walks(), n_threads=8).n_threads == 1
    with pytest.raises(ValueError, match=r'unknown reward key "tile"; the keys of Batch are none'):
        rf.VecEnv(walks(), 1, reward=rf.Reward(tile=1))


@pytest.mark.parametrize("autoreset", ["next_step", "same_step", "disabled"])
def test_a_vec_env_steps_them(autoreset: Any) -> None:
    envs = rf.VecEnv(walks(), 2, seed=3, autoreset=autoreset)
    obs, _ = envs.reset()
    world = Walks(1)
    assert np.array_equal(obs[1], world.reset(np.array([0]), [4])[0])
    for step in range(1, 8):
        obs, rewards, terminated, truncated, infos = envs.step(np.array([1, 1]))
        last = world.step(np.array([1]), np.array([True]))
        assert (rewards[1], terminated[1], truncated[1]) == (last[1][0], last[2][0], last[3][0]), step
    shown = infos["final_obs"][1] if autoreset == "same_step" else obs[1]
    assert np.array_equal(shown, last[0][0])
    if autoreset != "disabled":
        if autoreset == "next_step":
            obs, *_ = envs.step(np.array([1, 1]))
        assert np.array_equal(obs[1], world.reset(np.array([0]), [None])[0])


def test_a_vec_env_whose_worlds_fail_is_reset() -> None:
    envs = rf.VecEnv(walks(partial(Broken, answer=divided)), 2, seed=0)
    envs.reset()
    for _ in range(3):
        envs.step(np.array([1, 1]))
    with pytest.raises(ZeroDivisionError):
        envs.step(np.array([1, 1]))
    with pytest.raises(RuntimeError, match="call reset"):
        envs.step(np.array([1, 1]))
    envs.reset()
    envs.step(np.array([1, 1]))


def test_parts_and_vectors() -> None:
    class Parts:
        def __init__(self, n: int) -> None:
            self.n = n

        def seen(self, rows: int) -> dict[str, Any]:
            return {"picture": np.full((rows, 2, 3), 7, np.uint8), "state": np.ones((rows, 4))}

        def reset(self, rows: Any, seeds: Any) -> Any:
            return self.seen(len(rows))

        def step(self, actions: Any, active: Any) -> Any:
            ends = np.zeros(self.n, bool)
            return self.seen(self.n), actions.sum(1), ends, ends

        def render(self, row: int) -> Any:
            return np.full((4, 5, 3), row, np.uint8)

    shapes, dtypes = {"picture": (2, 3), "state": (4,)}, {"picture": "uint8", "state": "float32"}
    game = rf.games.Batch(Parts, obs_shape=shapes, obs_dtype=dtypes, action_low=[-1, 0], action_high=[1, 2])
    envs = rf.VecEnv(game, 2)
    obs, _ = envs.reset()
    assert {name: (array.dtype, array.shape) for name, array in obs.items()} == {
        "picture": (np.uint8, (2, 2, 3)),
        "state": (np.float32, (2, 4)),
    }
    assert np.array_equal(envs.step(np.array([[0.5, 1], [-1, 0]]))[1], [1.5, -1])
    assert (envs.render(1) == 1).all()
    unseen = rf.VecEnv(walks(), 1)
    unseen.reset()
    with pytest.raises(TypeError, match="have no method render"):
        unseen.render(0)


def test_an_evaluation_plays_them() -> None:
    stats = rf.evaluate(walks(), lambda obs: (np.tile([0.0, 0.0, 1.0], (len(obs), 1)), obs[:, 0]), episodes=4)
    assert {episode["ended"] for episode in stats.episodes} == {"terminated"}
    still = np.array([[0.0, 1.0, 0.0]])
    broken = walks(partial(Broken, answer=divided))
    with pytest.raises(ZeroDivisionError):
        rf.evaluate(broken, lambda obs: (still.repeat(len(obs), 0), obs[:, 0]), episodes=4)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_actions": None}, "give either n_actions, or action_low and action_high"),
        ({"action_low": [0], "action_high": [1]}, "give either n_actions"),
        ({"n_actions": 0}, "n_actions must be from 1"),
        ({"obs_shape": (2, 0)}, "obs_shape must be a tuple of positive integers"),
        ({"obs_shape": {}}, "at least one part"),
        ({"obs_dtype": "int64"}, "obs_dtype must be 'uint8' or 'float32'"),
        ({"n_actions": None, "action_low": [1], "action_high": [0]}, "action_low must be below action_high"),
    ],
)
def test_a_wrong_description_is_refused(options: Any, words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        walks(**options)


def test_a_jax_environment_steps_all_worlds_at_once_and_goes_back() -> None:
    jax = pytest.importorskip("jax")
    jnp = jax.numpy

    class Springs:
        """Masses on springs, pulled by the action; the whole state is one immutable array."""

        def __init__(self, n: int) -> None:
            self.state = jnp.zeros((n, 2))
            self.advance = jax.jit(
                jax.vmap(lambda state, action: state + 0.1 * jnp.stack([state[1], action[0] - state[0]]))
            )

        def reset(self, rows: Any, seeds: Any) -> Any:
            starts = jnp.stack([jax.random.uniform(jax.random.key(seed % 2**31), (2,)) for seed in seeds])
            self.state = self.state.at[rows].set(starts)
            return self.state[rows]

        def step(self, actions: Any, active: Any) -> Any:
            self.state = self.advance(self.state, jnp.asarray(actions, jnp.float32))
            return self.state, -jnp.abs(self.state[:, 0]), self.state[:, 0] > 2, jnp.zeros(len(self.state), bool)

        def save(self) -> Any:
            return self.state

        def load(self, saved: Any) -> None:
            self.state = saved

    game = rf.games.Batch(Springs, obs_shape=(2,), action_low=[-1], action_high=[1])
    own, twin = engine(game), engine(game)

    def gaussian(obs: Any) -> tuple[Any, Any]:
        return np.concatenate([obs[:, :1], np.zeros((len(obs), 1))], axis=1), obs[:, 0]

    expected = [own.collect(N * 10, gaussian) for _ in range(2)]
    twin.collect(N * 10, gaussian)
    calls: list[int] = []

    def failing_there(obs: Any) -> tuple[Any, Any]:
        calls.append(len(obs))
        return gaussian(obs if len(calls) < 5 else obs["nothing"])

    with pytest.raises(IndexError):
        twin.collect(N * 10, failing_there)
    assert same(twin.collect(N * 10, gaussian), expected[1])
    assert expected[1].obs.std() > 0
