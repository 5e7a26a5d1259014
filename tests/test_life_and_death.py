"""Engines and streams that are interrupted, failed, shared, forked, abandoned and forgotten.

Every case runs in a process of its own, under a watchdog: what hangs fails. `test_stream.py` has the cases that a
stream alone can meet.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

WATCHDOG_SECONDS = 120

PRELUDE = """
import faulthandler, gc, multiprocessing, os, signal, sys, threading, time, traceback
import numpy as np
import reinfors as rf

def infer(obs):
    return np.zeros((len(obs), 2)), obs.sum(axis=1)

def slow(obs):
    time.sleep(0.2)
    return infer(obs)

def engine_of(n_games=4, n_threads=2):
    game = rf.games.make("CartPole")
    return rf.Engine(game, None, rf.policies.Ppo(), rf.learners.Ppo(), n_games, n_threads, seed=0)

def content(batch):
    fields = (batch.obs, batch.actions, batch.advantages, batch.policy_version, batch.last_obs)
    return [field.tobytes() for field in fields]

def interrupt(after):
    threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT)).start()

def native_threads():
    return len(os.listdir("/proc/self/task"))

def resident_bytes():
    gc.collect()
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGESIZE")

engine = engine_of()
"""

LINUX = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads Linux's account of threads and memory")


def run(body: str, returncode: int = 0) -> list[str]:
    """Runs a script that must end in time, and returns the words it printed."""
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-W", "error", "-c", PRELUDE + textwrap.dedent(body)],
        capture_output=True,
        text=True,
        timeout=WATCHDOG_SECONDS,
        check=False,
    )
    assert done.returncode == returncode, done.stderr
    return done.stdout.split()


WAITS = {
    "collect, native": "while True: engine.collect(4000, infer)",
    "collect, inside infer": "engine.collect(4000, slow)",
    "next": "stream = engine.collect_stream(4000, slow); next(stream)",
    "next, for a bound on the lag": "stream = engine.collect_stream(4000, slow, max_lag=0); next(stream)",
    "pause": "stream = engine.collect_stream(4000, slow); time.sleep(0.1); stream.pause()",
    "evaluate, native": "rf.evaluate(rf.games.CartPole(max_steps=2**31 - 1), balanced, 64)",
    "evaluate, inside infer": "rf.evaluate(rf.games.CartPole(), slow, 4)",
    "a loop over a stream": "for batch in (stream := engine.collect_stream(400, slow)): pass",
}


@pytest.mark.parametrize("wait", WAITS)
def test_d43_an_interrupt_is_answered_within_two_seconds_and_the_engine_goes_on(wait: str) -> None:
    printed = run(f"""
        def balanced(obs):
            return np.stack([-obs[:, 2] - obs[:, 3], obs[:, 2] + obs[:, 3]], axis=1), obs[:, 0]

        stream = None
        interrupt(0.5)
        begin = time.monotonic()
        try:
            {WAITS[wait]}
        except KeyboardInterrupt:
            print("interrupted", time.monotonic() - begin < 2.5)
        if stream is not None:
            stream.stop()
        print(len(engine.collect(4, infer)))
        """)
    assert printed == ["interrupted", "True", "4"]


def test_d43_an_interrupt_nobody_catches_ends_the_process() -> None:
    run("interrupt(0.5)\nfor batch in engine.collect_stream(4000, slow): pass", returncode=-2)


def test_d43_interrupts_during_stop_are_answered_each_and_it_can_be_called_again() -> None:
    printed = run("""
        def hanging(obs):
            time.sleep(3)
            return infer(obs)

        stream = engine.collect_stream(4, hanging)
        time.sleep(0.1)
        for _ in range(2):
            interrupt(0.3)
            begin = time.monotonic()
            try:
                stream.stop()
            except KeyboardInterrupt:
                print(time.monotonic() - begin < 2.3)
        stream.stop()
        print(len(engine.collect(4, infer)))
        """)
    assert printed == ["True", "True", "4"]


@pytest.mark.parametrize("raised", ["ValueError('x')", "KeyboardInterrupt()", "SystemExit(3)", "OSError(5, 'y')"])
def test_d34_d50_an_exception_of_infer_at_any_call_is_itself_and_leaves_no_record(raised: str) -> None:
    printed = run(f"""
        calls = 0

        def counting(obs):
            global calls
            calls += 1
            return infer(obs)

        error = {raised}
        undisturbed = content(engine_of().collect(12, counting))
        of_a_window = calls
        print(of_a_window >= 4)
        for at in range(1, of_a_window + 1):
            calls = 0

            def failing(obs):
                if calls == at - 1:
                    raise error
                return counting(obs)

            engine = engine_of()
            try:
                engine.collect(12, failing)
            except type(error) as caught:
                names = [frame.name for frame in traceback.extract_tb(caught.__traceback__)]
                print(caught is error and str(caught) == str({raised}) and "failing" in names)
            calls = 0
            print(content(engine.collect(12, counting)) == undisturbed and calls == of_a_window)
        """)
    assert len(printed) >= 9
    assert set(printed) == {"True"}


@pytest.mark.parametrize("raised", ["ValueError('x')", "KeyboardInterrupt()", "SystemExit(3)", "StopIteration()"])
def test_d40_an_exception_in_a_stream_reaches_next_once_and_then_the_stream_is_over(raised: str) -> None:
    printed = run(f"""
        calls = 0

        def failing(obs):
            global calls
            calls += 1
            if calls == 3:
                raise {raised}
            return infer(obs)

        stream = engine.collect_stream(12, failing)
        for _ in range(2):
            try:
                next(stream)
            except BaseException as caught:
                print(type(caught).__name__)
        print(content(engine.collect(12, infer)) == content(engine_of().collect(12, infer)))
        """)
    # The end of an iteration would end a loop over batches in silence: it is the cause of a RuntimeError.
    first = "RuntimeError" if raised.startswith("StopIteration") else raised.partition("(")[0]
    assert printed == [first, "RuntimeError", "True"]


@pytest.mark.parametrize("function", ["infer", "slow"])
@pytest.mark.parametrize(
    "ending", ["stream.stop()", "stream.pause()", "del stream", "stream.__exit__(None, None, None)"]
)
def test_d41_a_stream_is_left_while_its_queue_is_full_or_its_infer_is_busy(function: str, ending: str) -> None:
    printed = run(f"""
        before = native_threads()
        for _ in range(3):
            stream = engine.collect_stream(8, {function}, depth=2)
            time.sleep(0.3)
            begin = time.monotonic()
            {ending}
            print(time.monotonic() - begin < 2)
            print(len(engine.collect(4, infer)))
        deadline = time.monotonic() + 5
        while native_threads() > before and time.monotonic() < deadline:
            time.sleep(0.01)
        print(native_threads() <= before)
        """)
    assert printed == ["True", "4"] * 3 + ["True"]


def test_d41_twenty_abandoned_streams_leave_no_thread() -> None:
    printed = run("""
        before = native_threads()

        def leave(way):
            if way == 0:
                for _ in engine.collect_stream(4, infer):
                    break
            elif way == 1:
                stream = engine.collect_stream(4, infer)
                del stream
            else:
                try:
                    for _ in engine.collect_stream(4, infer):
                        raise KeyError
                except KeyError:
                    pass

        for turn in range(60):
            leave(turn % 3)
        print(len(engine.collect(4, infer)))
        deadline = time.monotonic() + 5
        while native_threads() > before and time.monotonic() < deadline:
            time.sleep(0.01)
        print(native_threads() <= before)
        """)
    assert printed == ["4", "True"]


def test_d42_double_starts_and_uses_after_the_end_are_refused_in_words() -> None:
    printed = run("""
        def refused(call):
            try:
                call()
            except RuntimeError as error:
                assert str(error).strip()
                print("refused")

        stream = engine.collect_stream(4, infer)
        refused(lambda: engine.collect_stream(4, infer))
        refused(lambda: engine.collect(4, infer))
        with stream as outer, outer as inner:
            assert len(next(inner)) == 4
        stream.stop()
        refused(lambda: next(stream))
        assert (stream.pause(), stream.pending()) == ([], 0)
        assert list(zip(range(3), engine_of().collect_stream(4, infer)))[2][1].step.tolist() == [2] * 4
        print(len(engine.collect(4, infer)))
        """)
    assert printed == ["refused"] * 3 + ["4"]


def test_d39_from_inside_infer_everything_is_refused_at_once_and_reading_is_not() -> None:
    printed = run("""
        streams = []

        def meddling(obs):
            calls = [lambda: engine.collect(4, infer), lambda: engine.collect_stream(4, infer), engine.snapshot]
            calls += [getattr(stream, name) for stream in streams for name in ("__next__", "stop", "pause")]
            for call in calls:
                begin = time.monotonic()
                try:
                    call()
                except RuntimeError as error:
                    assert str(error) and time.monotonic() - begin < 1
                else:
                    raise AssertionError(call)
            assert (engine.n_games, engine.policy_version, engine.resolved_config()["n_games"]) == (4, 0, 4)
            assert all(stream.pending() >= 0 for stream in streams)
            other = rf.evaluate(rf.games.CartPole(max_steps=3), infer, 1)
            assert other.lengths.tolist() == [3] and len(engine_of().collect(4, infer)) == 4
            return infer(obs)

        print(len(engine.collect(4, meddling)))
        ready = threading.Event()

        def waiting(obs):
            ready.wait()
            return meddling(obs)

        streams.append(engine.collect_stream(4, waiting))
        ready.set()
        print(len(next(streams[0])))
        streams.pop().stop()
        print(len(engine.collect(4, infer)))
        """)
    assert printed == ["4", "4", "4"]


def test_two_threads_on_one_engine_get_a_batch_or_a_refusal_and_every_window_once() -> None:
    printed = run("""
        windows, refusals = [], []

        def work():
            for _ in range(40):
                try:
                    windows.append(engine.collect(8, slower).telemetry["window"])
                except RuntimeError as error:
                    refusals.append(str(error))

        def slower(obs):
            time.sleep(0.001)
            return infer(obs)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(sorted(windows) == list(range(len(windows))), len(windows) + len(refusals), bool(refusals))
        print(all("collecting" in refusal for refusal in refusals))
        """)
    assert printed == ["True", "120", "True", "True"]


def test_two_threads_on_one_stream_share_its_batches() -> None:
    printed = run("""
        windows = []

        def work(stream):
            for _ in range(20):
                windows.append(next(stream).telemetry["window"])

        for max_lag in (None, 0):
            windows.clear()
            first = engine.collect(4, infer).telemetry["window"] + 1
            with engine.collect_stream(8, infer, depth=2, max_lag=max_lag) as stream:
                threads = [threading.Thread(target=work, args=(stream,)) for _ in range(3)]
                for thread in threads: thread.start()
                for thread in threads: thread.join()
            print(sorted(windows) == list(range(first, first + 60)))
        """)
    assert printed == ["True", "True"]


@pytest.mark.parametrize("function", ["infer", "slow"])
def test_a_stream_that_one_thread_waits_for_can_be_stopped_by_another(function: str) -> None:
    printed = run(f"""
        outcome = []

        def work():
            try:
                while True:
                    next(stream)
            except RuntimeError as error:
                outcome.append(str(error))

        stream = engine.collect_stream(400, {function})
        thread = threading.Thread(target=work)
        thread.start()
        time.sleep(0.3)
        stream.stop()
        thread.join(5)
        print(thread.is_alive(), "stopped" in outcome[0], len(engine.collect(4, infer)))
        """)
    assert printed == ["False", "True", "4"]


ENDINGS = {
    "falling off the end": "",
    "sys.exit": "sys.exit(0)",
    "an engine and a stream deleted": "del engine, stream",
    "a thread that waits for a batch": "threading.Thread(target=lambda: list(stream), daemon=True).start()",
    "a stream in a module's variable": "sys.modules['math'].kept = stream",
    "a cycle": "cycle = [stream]; cycle.append(cycle)",
}


@pytest.mark.parametrize("function", ["infer", "slow"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_the_interpreter_exits_with_a_live_stream(function: str, ending: str) -> None:
    assert run(f"""
        stream = engine.collect_stream(8, {function}, depth=2)
        next(stream)
        print("done", flush=True)
        {ENDINGS[ending]}
        """) == ["done"]


@pytest.mark.parametrize("body", ["while True: pass", "while True: time.sleep(0.001)"])
def test_the_interpreter_ends_with_an_infer_that_never_returns(body: str) -> None:
    assert run(f"""
        def stuck(obs):
            {body}

        stream = engine.collect_stream(4, stuck)
        time.sleep(0.2)
        print("done")
        """) == ["done"]


def test_the_interpreter_ends_with_several_infers_that_swallow_every_exception() -> None:
    begin = time.monotonic()
    printed = run("""
        class Last:
            def __del__(self):
                time.sleep(0.3)  # the interpreter is going, and lets the threads try to come back

        def deaf(obs):
            while True:
                try:
                    time.sleep(0.01)
                except BaseException:
                    pass

        def stream():
            game = rf.games.make("CartPole")
            return rf.Engine(game, None, rf.policies.Ppo(), rf.learners.Ppo(), 1, 1).collect_stream(4, deaf)

        last = Last()
        streams = [stream() for _ in range(3)]
        time.sleep(0.2)
        print("done")
        """)
    assert printed == ["done"]
    assert time.monotonic() - begin < 15  # all are waited for at once


def test_an_uncaught_error_ends_the_process_with_a_live_stream() -> None:
    run("stream = engine.collect_stream(4, slow)\nnext(stream)\nraise SystemExit(7)", returncode=7)


def test_an_exit_inside_infer_reaches_the_main_thread() -> None:
    run("def leaving(obs):\n    sys.exit(5)\nnext(engine.collect_stream(4, leaving))", returncode=5)


def test_signals_can_be_handled_by_the_caller() -> None:
    printed = run("""
        signal.signal(signal.SIGINT, lambda *_: print("handled", flush=True))
        interrupt(0.1)
        stream = engine.collect_stream(4, slow)
        for _ in range(3):
            next(stream)
        stream.stop()
        print("done")
        """)
    assert printed == ["handled", "done"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_fork_is_refused_the_parents_engines_and_has_its_own() -> None:
    printed = run("""
        env = rf.VecEnv(rf.games.CartPole(), 4, 2)
        env.reset(seed=0)
        stream = engine.collect_stream(8, infer)
        next(stream)
        idle = engine_of()
        expected = content(engine_of().collect(8, infer))

        def child(queue):
            refused = 0
            calls = [stream.__next__, stream.stop, stream.pause, stream.pending, idle.weights_updated, idle.snapshot]
            calls += [lambda: engine.collect(8, infer), lambda: idle.collect(8, infer), lambda: env.step([0] * 4)]
            for call in calls:
                try:
                    call()
                except RuntimeError as error:
                    refused += "fork" in str(error)
            own = engine_of()
            with own.collect_stream(8, infer) as own_stream:
                same = content(next(own_stream)) == expected
            stats = rf.evaluate(rf.games.CartPole(max_steps=5), infer, 4)
            queue.put((refused, len(calls), same, idle.policy_version, stats.lengths.tolist()))

        fork = multiprocessing.get_context("fork")
        queue = fork.SimpleQueue()
        process = fork.Process(target=child, args=(queue,))
        process.start()
        process.join(30)
        print(process.exitcode, *queue.get()[:4])
        print(len(next(stream)), len(idle.collect(8, infer)))
        """)
    assert printed == ["0", "9", "9", "True", "0", "8", "8"]


@LINUX
def test_a_thousand_engines_leave_nothing_behind() -> None:
    printed = run("""
        def live():
            engine = engine_of()
            if turn % 2:
                with engine.collect_stream(16, infer, depth=2) as stream:
                    next(stream)
            else:
                engine.collect(16, infer)
            if turn % 5 == 0:
                engine.restore(engine.snapshot())

        threads, memory = native_threads(), 0
        for turn in range(1000):
            live()
            if turn == 100:
                memory = resident_bytes()
        deadline = time.monotonic() + 5
        while native_threads() > threads and time.monotonic() < deadline:
            time.sleep(0.01)
        print(native_threads() <= threads, resident_bytes() - memory < 10_000_000)
        """)
    assert printed == ["True", "True"]


@LINUX
def test_abandoned_streams_whose_infer_is_busy_leave_no_memory() -> None:
    printed = run("""
        threads, memory = native_threads(), []
        for _ in range(2):
            # The allocator's arenas grow with the streams that are alive at once: the first round has them grown.
            for _ in range(200):
                stream = engine_of().collect_stream(16, lambda obs: (time.sleep(0.002), infer(obs))[1])
                del stream
            deadline = time.monotonic() + 5
            while native_threads() > threads and time.monotonic() < deadline:
                time.sleep(0.01)
            memory.append(resident_bytes())
        print(native_threads() <= threads, memory[1] - memory[0] < 10_000_000)
        """)
    assert printed == ["True", "True"]
