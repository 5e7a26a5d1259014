"""The replay buffer against a plain list of every transition; its priorities against NumPy; its memory."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reinfors as rf

FIELDS = ["obs", "actions", "rewards", "discounts", "next_obs", "terminated", "truncated", "policy_version"]
KINDS: dict[str, dict[str, Any]] = {
    "stacked pixels": {"game": "CarRacing", "size": (8, 8), "gray": True, "frame_stack": 4, "max_steps": 6},
    "stacked colours": {"game": "CarRacing", "size": (6, 8), "frame_stack": 3, "layout": "hwc", "max_steps": 5},
    "vectors": {"game": "CarRacing", "size": (4, 4), "continuous": True, "max_steps": 6},
    "state": {"game": "CartPole"},
    "both": {"game": "CarRacing", "size": (4, 4), "obs": "both", "frame_stack": 2, "max_steps": 6},
}


def engine_of(kind: str, n_step: int = 1, n_games: int = 3, state_shape: Any = None) -> rf.Engine:
    options = dict(KINDS[kind])
    game = rf.games.make(options.pop("game"), **options)
    learner = rf.learners.Transitions(n_step=n_step, gamma=0.9)
    policy = rf.policies.Ppo(state_shape=state_shape)
    return rf.Engine(game, None, policy, learner, n_games=n_games, n_threads=1, seed=0)


def infer_of(engine: rf.Engine) -> Any:
    def infer(obs: Any, state: Any = None, starts: Any = None) -> Any:
        first = next(iter(obs.values())) if isinstance(obs, dict) else obs
        sums = np.asarray(first, np.float64).reshape(len(first), -1).sum(axis=1)
        params = np.sin(sums[:, None] * np.arange(1, engine.n_params + 1)) * 0.5
        return params if state is None else (params, state + np.sin(sums)[:, None])

    return infer


def rows(records: rf.Records, names: list[str]) -> list[bytes]:
    """Every byte of each record, in the order of `names`."""
    columns = []
    for name in names:
        field = getattr(records, name)
        parts = field.values() if isinstance(field, dict) else [field]
        columns += [np.ascontiguousarray(part).reshape(len(part), -1) for part in parts]
    return [b"".join(column[row].tobytes() for column in columns) for row in range(len(records))]


@pytest.mark.parametrize("n_step", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_sampled_is_what_was_added(kind: str, n_step: int) -> None:
    engine = engine_of(kind, n_step, state_shape=(2,))
    infer = infer_of(engine)
    replay = rf.Replay(capacity=40, seed=0)
    names, known = [*FIELDS, "states", "next_states"], []
    for update in range(7):
        batch = engine.collect(3 * 5, infer)
        engine.weights_updated()
        if update == 4:
            continue  # left out: the next batch does not go on where the last ended
        replay.add(batch)
        known += rows(batch, names)
        sample = replay.sample(60)
        assert set(sample.fields) == {*names, "indices", "weights"}
        assert sample.indices.min() >= len(known) - len(replay)
        assert rows(sample, names) == [known[index] for index in sample.indices]
        assert (sample.weights == 1).all()
    assert (len(replay), replay.capacity, len(sample)) == (40, 40, 60)


def test_frames_stay_for_as_long_as_a_stack_shows_them() -> None:
    game = rf.games.CarRacing(size=(96, 96), frame_stack=4, max_steps=200)  # about forty frames are let go at once
    learner = rf.learners.Transitions(n_step=2)
    engine = rf.Engine(game, None, rf.policies.Ppo(), learner, n_games=3, n_threads=1, seed=0)
    infer = infer_of(engine)
    replay, known, held = rf.Replay(12, 0), [], []
    for _ in range(60):
        batch = engine.collect(3, infer)
        replay.add(batch)
        known += rows(batch, FIELDS)
        sample = replay.sample(30)
        assert rows(sample, FIELDS) == [known[index] for index in sample.indices]
        held.append(replay.nbytes)
    assert max(held) < 4 * 2**20, "three frames a step for sixty steps are five mebibytes"


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 60),
    st.lists(st.tuples(st.integers(1, 4), st.booleans()), min_size=1, max_size=6),
    st.integers(0, 2**70),
    st.sampled_from([0.0, 0.5, 1.0]),
)
def test_any_order_of_windows_samples_what_is_there(
    capacity: int, windows: list[tuple[int, bool]], seed: int, alpha: float
) -> None:
    engine = engine_of("stacked pixels", n_step=2)
    infer = infer_of(engine)
    replay, twin = (rf.Replay(capacity, seed, alpha) for _ in range(2))
    known: list[bytes] = []
    for n_steps, is_added in windows:
        batch = engine.collect(3 * n_steps, infer)
        if is_added:
            replay.add(batch)
            twin.add(batch)
            known += rows(batch, FIELDS)
    assert len(replay) == min(len(known), capacity)
    if known:
        sample = replay.sample(20)
        assert rows(sample, FIELDS) == [known[index] for index in sample.indices]
        assert np.array_equal(sample.indices, twin.sample(20).indices)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(0, 1e6), min_size=30, max_size=30), st.floats(0.05, 1), st.floats(0, 1), st.integers(0, 99))
def test_priorities_and_weights_are_numpy_s(priorities: list[float], alpha: float, beta: float, seed: int) -> None:
    engine = engine_of("state")
    replay = rf.Replay(30, seed, alpha)
    replay.add(engine.collect(30, infer_of(engine)))
    replay.update_priorities(np.arange(30), np.array(priorities))
    powers = (np.array(priorities) + 1e-6) ** alpha
    sample = replay.sample(64, beta)
    weights = (30 * powers[sample.indices] / powers.sum()) ** -beta
    np.testing.assert_allclose(sample.weights, weights / weights.max(), rtol=1e-5)
    # One from each equal share of the sum: how often each comes is known but for one at either end.
    counts = np.bincount(sample.indices, minlength=30)
    expected = 64 * powers / powers.sum()
    assert (np.abs(counts - expected) < 2 + 1e-6).all()


def test_a_priority_of_one_that_has_gone_changes_nothing() -> None:
    engine = engine_of("state")
    infer = infer_of(engine)
    replay = rf.Replay(15, 0, alpha=1.0)
    replay.add(engine.collect(15, infer))
    early = replay.sample(15)
    replay.add(engine.collect(15, infer))
    replay.update_priorities(early.indices, np.full(15, 1e9))
    late = replay.sample(15)
    assert late.indices.min() >= 15
    assert (late.weights == 1).all()


def test_what_was_written_into_a_batch_before_is_what_is_kept() -> None:
    engine = engine_of("state")
    batch = engine.collect(9, infer_of(engine))
    batch.rewards[:] = np.arange(9)
    replay = rf.Replay(9, 0)
    replay.add(batch)
    sample = replay.sample(50)
    assert np.array_equal(sample.rewards, sample.indices.astype(np.float32))
    assert sample.obs.flags.writeable


def test_a_step_below_zero_is_refused_and_nothing_is_added() -> None:
    engine = engine_of("stacked pixels")
    batch = engine.collect(9, infer_of(engine))
    batch.step[2] = -1
    replay = rf.Replay(9, 0)
    with pytest.raises(ValueError, match="the batch has -1 as step of row 2, below 0"):
        replay.add(batch)
    assert len(replay) == 0


def test_the_largest_priorities_leave_weights_that_are_numbers() -> None:
    engine = engine_of("state")
    replay = rf.Replay(30, 0, alpha=1.0)
    replay.add(engine.collect(30, infer_of(engine)))
    replay.update_priorities(np.arange(29), np.full(29, np.finfo(np.float32).max))
    sample = replay.sample(290, beta=1.0)
    assert np.array_equal(np.bincount(sample.indices, minlength=30), [10] * 29 + [0])
    assert (sample.weights == 1).all()


def test_a_seed_decides_and_none_is_fresh() -> None:
    engine = engine_of("state")
    batch = engine.collect(300, infer_of(engine))

    def drawn(seed: int | None) -> list[int]:
        replay = rf.Replay(300, seed)
        replay.add(batch)
        return [int(index) for _ in range(2) for index in replay.sample(10).indices]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)
    assert drawn(None) != drawn(None)


def test_a_transition_costs_little_more_than_its_one_frame() -> None:
    game = rf.games.CarRacing(size=(84, 84), gray=True, frame_stack=4)
    learner = rf.learners.Transitions(n_step=3)
    engine = rf.Engine(game, None, rf.policies.Ppo(), learner, n_games=8, seed=0)
    replay = rf.Replay(10_000, 0)
    for _ in range(6):
        replay.add(engine.collect(8 * 64, lambda obs: np.zeros((len(obs), 5))))
    assert len(replay) == 6 * 8 * 64
    # Stacks would be 28,224 bytes, and next observations as many again. Memory comes in chunks of a mebibyte.
    assert replay.nbytes / len(replay) < 84 * 84 + 100 + 2**20 / len(replay)


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ({"capacity": 0}, ValueError, "capacity must be an integer from 1 to 67108864, got 0"),
        ({"capacity": 2**40}, ValueError, "capacity must be"),
        ({"capacity": 1.5}, TypeError, "capacity must be"),
        ({"capacity": True}, TypeError, "capacity must be"),
        ({"capacity": 5, "seed": -1}, ValueError, "seed must be"),
        ({"capacity": 5, "alpha": 1.5}, ValueError, "alpha must be from 0 to 1, got 1.5"),
        ({"capacity": 5, "alpha": np.nan}, ValueError, "alpha must be from 0 to 1, got NaN"),
        ({"capacity": 5, "alpha": "1"}, TypeError, "alpha must be a number"),
    ],
)
def test_a_buffer_that_cannot_be_is_refused(arguments: dict[str, Any], error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        rf.Replay(**arguments)


def test_what_it_cannot_take_or_give_is_refused_and_changes_nothing() -> None:
    engine = engine_of("state")
    infer = infer_of(engine)
    replay = rf.Replay(20, 0, alpha=0.5)
    with pytest.raises(RuntimeError, match="the replay buffer is empty: add a batch of transitions first"):
        replay.sample(5)
    assert len(replay) == replay.nbytes - replay.nbytes == 0
    ppo = rf.Engine(rf.games.CartPole(), None, rf.policies.Ppo(), rf.learners.Ppo(), n_games=2, seed=0)
    of_ppo = ppo.collect(4, lambda obs: (np.zeros((len(obs), 2)), np.zeros(len(obs))))
    with pytest.raises(ValueError, match="batch must be a Batch of the learner Transitions, got Batch"):
        replay.add(of_ppo)
    batch = engine.collect(9, infer)
    unfit: list[Any] = [None, {}, next(iter(batch.minibatches(3)))]
    for bad in unfit:
        with pytest.raises(TypeError, match="batch must be a Batch of the learner Transitions, got"):
            replay.add(bad)
    replay.add(batch)
    for other, what in (("vectors", "observations"), ("both", "observations")):
        stranger = engine_of(other)
        with pytest.raises(ValueError, match=f"the batch has other {what} than those that the replay buffer holds"):
            replay.add(stranger.collect(3, infer_of(stranger)))
    recurrent = engine_of("state", state_shape=(2,))
    with pytest.raises(ValueError, match="the batch has other states"):
        replay.add(recurrent.collect(3, infer_of(recurrent)))
    for size, beta, error in ((0, 0.4, ValueError), (1.5, 0.4, TypeError), (2, 2.0, ValueError), (2, "x", TypeError)):
        with pytest.raises(error, match=r"size must be|beta must be"):
            replay.sample(size, beta)  # type: ignore[arg-type]
    ones = np.ones(2)
    for indices, priorities, error, match in (
        ([0, 1], ones, TypeError, "update_priorities must be given indices as integers"),
        (np.zeros(2), ones, TypeError, "indices as integers"),
        (np.zeros((2, 1), int), ones, ValueError, r"indices must have one dimension of at most 67108864, got \(2, 1\)"),
        (np.array([0, 9]), ones, ValueError, "9 is no index that was sampled here"),
        (np.array([0, -1]), ones, ValueError, "-1 is no index"),
        (np.arange(3), ones, ValueError, "there are 2 priorities for 3 indices"),
        (np.arange(2), -ones, ValueError, "priorities must be finite, not negative and .*, got -1.0"),
        (np.arange(2), ones * np.nan, ValueError, "priorities must be finite, .*, got NaN"),
        (np.arange(2), ones * 1e308, ValueError, "priorities must be .* what float32 can hold, got 1e308"),
        (np.arange(2), np.arange(2), TypeError, "priorities as float32 or float64"),
    ):
        with pytest.raises(error, match=match):
            replay.update_priorities(indices, priorities)  # type: ignore[arg-type]
    uniform = rf.Replay(5, 0)
    uniform.add(batch)
    with pytest.raises(ValueError, match="the replay buffer has no priorities: its alpha is 0"):
        uniform.update_priorities(np.arange(2), ones)
    assert (len(replay), len(uniform)) == (9, 5)
    assert repr(uniform) == "Replay(5 of 5 transitions)"
    assert (replay.sample(30).weights == 1).all()


@pytest.mark.skipif(sys.platform != "linux", reason="limits its memory as Linux does")
def test_a_sample_that_does_not_fit_into_memory_is_refused() -> None:
    script = """
import resource
import numpy as np
import reinfors as rf

learner = rf.learners.Transitions()
engine = rf.Engine(rf.games.CarRacing(), None, rf.policies.EpsilonGreedy(), learner, n_games=2, n_threads=1, seed=0)
replay = rf.Replay(10, 0)
replay.add(engine.collect(4, lambda obs: np.zeros((len(obs), 5))))
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
try:
    replay.sample(2**20)
except ValueError as error:
    print(error)
print(len(replay.sample(5)))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines() == ["size must be so small that the sample fits into memory, got 1048576", "5"]


def test_several_threads_may_use_it() -> None:
    engine = engine_of("stacked pixels")
    batches = [engine.collect(30, infer_of(engine)) for _ in range(8)]
    replay = rf.Replay(100, 0, alpha=0.5)
    replay.add(batches[0])
    failed: list[BaseException] = []

    def draw() -> None:
        try:
            for _ in range(50):
                sample = replay.sample(16)
                replay.update_priorities(sample.indices, sample.weights)
        except BaseException as error:  # noqa: BLE001 - reported by the main thread
            failed.append(error)

    threads = [threading.Thread(target=draw, daemon=True) for _ in range(3)]
    for thread in threads:
        thread.start()
    for batch in batches:
        replay.add(batch)
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert failed == []
