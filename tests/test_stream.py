"""`CollectStream`: order, pausing, stopping, dropping, errors.

Signals, exits and forks are in `test_life_and_death.py`.
"""

from __future__ import annotations

import gc
import threading
import time
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import reinfors as rf

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Outputs = tuple[np.ndarray, np.ndarray]

WATCHDOG_SECONDS = 60


def infer(obs: np.ndarray) -> Outputs:
    brightness = obs.reshape(len(obs), -1)[:, ::997].mean(axis=1)
    return np.sin(brightness[:, None] * np.arange(5)), brightness / 255


def engine_of(seed: int = 0) -> rf.Engine:
    return rf.Engine(
        rf.games.make("CarRacing", max_steps=5),
        None,
        rf.policies.Ppo(),
        rf.learners.Ppo(),
        n_games=4,
        n_threads=2,
        seed=seed,
    )


def obs_of(batches: list[rf.Batch]) -> list[bytes]:
    return [batch.obs.tobytes() for batch in batches]


def native_threads() -> int:
    """Threads of this process, those that Python does not know included."""
    return len(list(Path("/proc/self/task").iterdir()))


def settles(condition: Callable[[], bool], seconds: float = 5.0) -> bool:
    """Whether a condition comes true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        gc.collect()
        time.sleep(0.01)
    return True


@pytest.fixture
def expected() -> list[bytes]:
    engine = engine_of()
    return obs_of([engine.collect(8, infer) for _ in range(6)])


def test_a_stream_gives_the_batches_of_collect_in_order(expected: list[bytes]) -> None:
    for depth in (1, 3):
        with engine_of().collect_stream(8, infer, depth=depth) as stream:
            assert obs_of([next(stream) for _ in range(6)]) == expected


def test_pausing_loses_nothing(expected: list[bytes]) -> None:
    engine = engine_of()
    stream = engine.collect_stream(8, infer, depth=3)
    batches = [next(stream)]
    assert settles(lambda: stream.pending() == 3)
    batches += stream.pause()
    assert len(batches) >= 4
    while len(batches) < 6:
        batches.append(engine.collect(8, infer))
    assert obs_of(batches) == expected[: len(batches)]
    with pytest.raises(RuntimeError, match="paused"):
        next(stream)
    assert stream.pause() == []


def test_pending_never_exceeds_the_depth() -> None:
    with engine_of().collect_stream(4, infer, depth=2) as stream:
        assert settles(lambda: stream.pending() == 2)
        time.sleep(0.2)
        assert stream.pending() == 2


def test_stopping_twice_does_nothing_and_frees_the_engine() -> None:
    engine = engine_of()
    stream = engine.collect_stream(4, infer)
    next(stream)
    stream.stop()
    stream.stop()
    assert stream.pending() == 0
    with pytest.raises(RuntimeError, match="stopped"):
        next(stream)
    assert len(engine.collect(4, infer)) == 4


def test_an_engine_held_by_a_stream_says_so() -> None:
    engine = engine_of()
    with engine.collect_stream(4, infer) as stream:
        for call in (
            lambda: engine.collect(4, infer),
            lambda: engine.collect_stream(4, infer),
            engine.snapshot,
            lambda: engine.restore(b""),
        ):
            with pytest.raises(RuntimeError, match="held by a stream"):
                call()
        assert engine.weights_updated() == 1
        with stream as again:
            assert again is stream
    assert len(engine.collect(4, infer)) == 4


def test_an_error_of_infer_reaches_next_after_the_batches_before_it() -> None:
    engine = engine_of()
    error = OSError("of the network")
    calls = 0

    def failing(obs: np.ndarray) -> Outputs:
        nonlocal calls
        calls += 1
        if calls == 8:
            time.sleep(0.1)
            raise error
        return infer(obs)

    stream = engine.collect_stream(8, failing, depth=9)
    assert settles(lambda: calls == 8)
    collected = stream.pending()
    for _ in range(collected):
        next(stream)
    with pytest.raises(OSError, match="of the network") as caught:
        next(stream)
    assert caught.value is error
    assert collected >= 1
    with pytest.raises(RuntimeError, match="of the network"):
        next(stream)
    assert len(engine.collect(8, infer)) == 8


def test_an_end_of_iteration_inside_infer_does_not_end_a_loop() -> None:
    def ending(obs: np.ndarray) -> Outputs:
        del obs
        raise StopIteration

    with pytest.raises(RuntimeError, match="StopIteration"):
        for _ in engine_of().collect_stream(4, ending):
            pass


def test_a_stream_cannot_be_used_from_inside_its_infer() -> None:
    engine = engine_of()
    refusals: list[str] = []
    holder: list[rf.CollectStream] = []
    is_ready = threading.Event()

    def meddling(obs: np.ndarray) -> Outputs:
        assert is_ready.wait(WATCHDOG_SECONDS)
        for call in (holder[0].__next__, holder[0].stop, holder[0].pause, lambda: engine.collect(4, infer)):
            try:
                call()
            except RuntimeError as error:
                refusals.append(str(error))
        assert holder[0].pending() >= 0
        return infer(obs)

    with engine.collect_stream(4, meddling) as stream:
        holder.append(stream)
        is_ready.set()
        next(stream)
        holder_was = list(refusals[:4])
        holder.clear()
        holder.append(stream)
    assert len(holder_was) == 4
    assert all("infer" in refusal or "held by a stream" in refusal for refusal in holder_was)


def abandoned(engine: rf.Engine) -> Iterator[None]:
    """Ways of leaving a stream without stopping it."""
    stream = engine.collect_stream(4, infer)
    for _ in stream:
        break
    del stream
    yield
    stream = engine.collect_stream(4, infer)
    del stream
    yield
    try:
        for _ in engine.collect_stream(4, infer):
            raise KeyError  # noqa: TRY301  the body of the caller's loop
    except KeyError:
        pass
    yield


def test_an_abandoned_stream_leaves_no_thread_and_a_free_engine() -> None:
    gc.collect()
    time.sleep(0.2)  # threads that earlier tests let go
    engine = engine_of()
    before = native_threads()
    for _ in range(7):
        for _ in abandoned(engine):
            assert len(engine.collect(4, infer)) == 4
    assert settles(lambda: native_threads() <= before)
    del engine
    assert settles(lambda: native_threads() < before)


def test_streams_of_many_threads_do_not_wait_for_each_other() -> None:
    expected = obs_of([engine_of(seed).collect(8, infer) for seed in range(3)])
    outcome: dict[int, bytes] = {}

    def drive(seed: int) -> None:
        with engine_of(seed).collect_stream(8, infer) as stream:
            outcome[seed] = next(stream).obs.tobytes()

    threads = [threading.Thread(target=drive, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WATCHDOG_SECONDS)
    assert [outcome[seed] for seed in range(3)] == expected


class Agent:
    """Keeps the stream that asks one of its own methods."""

    def __init__(self) -> None:
        self.engine = engine_of()
        self.stream = self.engine.collect_stream(4, self.infer)

    def infer(self, obs: np.ndarray) -> Outputs:
        return infer(obs)


def stream_in_its_own_closure() -> rf.CollectStream:
    streams: list[rf.CollectStream] = []

    def knowing(obs: np.ndarray) -> Outputs:
        assert len(streams) <= 1
        return infer(obs)

    streams.append(engine_of().collect_stream(4, knowing))
    return streams[0]


@pytest.mark.parametrize("make", [lambda: Agent().stream, stream_in_its_own_closure], ids=["method", "closure"])
def test_a_stream_in_a_cycle_is_collected_with_its_thread_and_its_engine(make: Callable[[], rf.CollectStream]) -> None:
    gc.collect()
    time.sleep(0.2)  # threads that earlier tests let go
    before = native_threads()
    streams = []
    for _ in range(5):
        stream = make()
        next(stream)
        streams.append(weakref.ref(stream))
        del stream
    assert settles(lambda: all(stream() is None for stream in streams))
    assert settles(lambda: native_threads() <= before)


@pytest.mark.parametrize("ending", ["stop", "pause"])
def test_an_ended_stream_lets_go_of_infer(ending: str) -> None:
    agent = Agent()
    stream, watched = agent.stream, weakref.ref(agent)
    next(stream)
    getattr(stream, ending)()
    del agent
    gc.collect()
    assert watched() is None


@pytest.mark.parametrize("argument", ["collect_size", "depth"])
@pytest.mark.parametrize("given", [0, -1, True, 1.5, "3", 2**70])
def test_sizes_that_cannot_be_are_refused(argument: str, given: object) -> None:
    engine = engine_of()
    with pytest.raises((TypeError, ValueError), match=argument):
        engine.collect_stream(**{"collect_size": 4, "infer": infer, argument: given})  # type: ignore[arg-type]
    assert len(engine.collect(4, infer)) == 4
