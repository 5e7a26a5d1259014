"""`rf.games.Gymnasium`: environments in worker processes equal a plain loop, and no way of dying leaves a process.

What could hang runs in a process of its own with a time limit. Processes are found by a mark in their environment.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import reinfors as rf

gymnasium = pytest.importorskip("gymnasium")

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

MARK = "REINFORS_TEST_MARK"
PATIENCE = 20.0  # seconds
HERE = Path(__file__).resolve().parent

on_linux = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="finds processes in /proc")


class Frail(gymnasium.Env[Any, Any]):  # type: ignore[name-defined]  # imported by pytest
    """Counts its steps. At step 5 of its first episodes its fate meets it, or at a reset."""

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (2,), np.float64)
    action_space = gymnasium.spaces.Discrete(3, start=10)

    def __init__(self, fate: str = "none", at: int = 5, sign: str = "") -> None:
        self.fate, self.at, self.age, self.number, self.sign = fate, at, 0, 0.0, sign

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.age, self.number = 0, 0.0
        if self.fate == "reset" and self.at == 0:
            raise LookupError("no beginning")
        self.at -= self.fate == "reset"
        return self.seen(), {}

    def seen(self) -> Any:
        return np.array([self.age, self.np_random.random() + self.number])

    def step(self, action: Any) -> Any:
        assert self.action_space.contains(action)
        self.age += 1
        if self.age == self.at:
            self.meet()
        return self.seen(), float(action), False, self.age == 12, {}

    def meet(self) -> None:
        """Ends in the way of choice."""
        if self.fate.startswith("raise"):
            raise LookupError("lost at sea")
        if self.fate == "sys.exit":
            sys.exit("had enough")
        if self.fate == "os._exit":
            os._exit(7)
        if self.fate == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.fate == "segfault":
            ctypes.string_at(0)
        if self.fate == "slow":
            time.sleep(2)
        if self.fate in {"nan", "inf"}:
            self.number = float(self.fate)
        if self.sign:
            Path(self.sign).touch()
        while self.fate == "hang":
            time.sleep(0.01)

    def render(self) -> Any:
        return np.full((4, 6, 3), self.age, np.uint8)

    def close(self) -> None:
        while self.fate == "raise and hang":
            time.sleep(0.01)


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Marks all processes that the test starts; afterwards none of them is left."""
    mark = uuid.uuid4().hex
    monkeypatch.setenv(MARK, mark)
    yield mark
    gc.collect()  # frames of exceptions that were expected
    deadline = time.monotonic() + PATIENCE
    while marked(mark) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert marked(mark) == []


def marked(mark: str) -> list[int]:
    """The worker processes with this mark."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            command = (path.parent / "cmdline").read_bytes()
            if f"{MARK}={mark}".encode() in path.read_bytes() and b"reinfors.foreign.worker" in command:
                found.append(int(path.parent.name))
    return found


def engine(game: rf.games.Game, n_games: int = 4, **settings: Any) -> rf.Engine:
    return rf.Engine(game, None, rf.policies.Ppo(), rf.learners.Ppo(), **{"n_games": n_games, "seed": 3, **settings})


def uniform(game: rf.games.Game) -> Any:
    """An `infer` that knows nothing."""
    width = game.n_actions or 2 * len(game.action_low)  # type: ignore[arg-type]
    return lambda obs: (np.zeros((len(obs), width), np.float32), np.zeros(len(obs), np.float32))


def equals_the_plain_loop(env: Any, batches: list[rf.Batch], first_seeds: dict[int, int]) -> int:
    """Plays each slot's actions in `env` and compares every record; returns the number of episodes that ended."""
    ended = 0
    for slot, first_seed in first_seeds.items():
        seeds = [first_seed]
        seeds += [one["seed"] for batch in batches for one in batch.telemetry["episodes"] if one["slot"] == slot][1:]
        obs: NDArray[Any] | None = None
        for batch in batches:
            for row in np.flatnonzero(batch.slot == slot):
                if batch.step[row] == 0:
                    if not seeds:
                        break
                    obs, _ = env.reset(seed=seeds.pop(0))
                assert np.array_equal(batch.obs[row], np.asarray(obs, batch.obs.dtype)), (slot, row)
                obs, reward, terminated, truncated, _ = env.step(batch.actions[row])
                told = batch.rewards[row], batch.terminated[row], batch.truncated[row]
                assert told == (np.float32(reward), terminated, truncated), (slot, row)
                ended += terminated or truncated
    return ended


@on_linux
def test_cart_pole_equals_the_plain_loop(mark: str) -> None:
    game = rf.games.Gymnasium("CartPole-v1", workers=2)
    own = engine(game)
    batches = [own.collect(4 * 50, uniform(game)) for _ in range(2)]
    seeds = {slot: one["seed"] for one in reversed(batches[0].telemetry["episodes"]) for slot in [one["slot"]]}
    assert len(seeds) == 4
    assert equals_the_plain_loop(gymnasium.make("CartPole-v1"), batches, seeds) >= 8
    assert len(marked(mark)) == 2


@pytest.mark.parity
@on_linux
def test_car_racing_equals_the_plain_loop_and_our_own(mark: str) -> None:
    pytest.importorskip("Box2D")
    game = rf.games.Gymnasium("CarRacing-v3", continuous=False, max_episode_steps=12, workers=2)
    own = engine(game, 2)
    assert game.obs_dtype == np.uint8
    batches = [own.collect(2 * 20, uniform(game)) for _ in range(2)]
    seeds = {slot: one["seed"] for one in reversed(batches[0].telemetry["episodes"]) for slot in [one["slot"]]}
    with gymnasium.make("CarRacing-v3", continuous=False, max_episode_steps=12) as env:
        assert equals_the_plain_loop(env, batches, seeds) >= 4
    native = rf.games.make("CarRacing", max_steps=12, layout="hwc")
    same = engine(native, 2)
    for batch in batches:
        twin = same.collect(2 * 20, uniform(native))
        for name in ("obs", "actions", "rewards", "terminated", "truncated", "step"):
            assert np.array_equal(getattr(batch, name), getattr(twin, name)), name


def test_any_number_of_workers_gives_the_same_records_streamed_or_not() -> None:
    def batches(workers: int) -> list[rf.Batch]:
        game = rf.games.Gymnasium(Frail, workers=workers)
        own = engine(game, 5)
        if workers == 2:
            with own.collect_stream(5 * 20, uniform(game)) as stream:
                return [next(stream), next(stream)]
        return [own.collect(5 * 20, uniform(game)) for _ in range(2)]

    expected, *others = [batches(workers) for workers in (1, 2, 5)]
    for other in others:
        for one, two in zip(expected, other, strict=True):
            assert np.array_equal(one.obs, two.obs)
            assert np.array_equal(one.rewards, two.rewards)
    assert set(expected[0].rewards) == {10, 11, 12}
    assert expected[0].truncated.sum() == 5


def test_vectors_are_clipped_and_pictures_rendered() -> None:
    game = rf.games.Gymnasium("Pendulum-v1", render_mode="rgb_array")
    assert (game.action_low.tolist(), game.action_high.tolist()) == ([-2], [2])  # type: ignore[union-attr]
    envs = rf.VecEnv(game, 2, seed=1)
    obs, _ = envs.reset()
    plain = gymnasium.make("Pendulum-v1")
    assert np.array_equal(obs[1], plain.reset(seed=2)[0])
    for action in (0.5, 7.0):
        obs, rewards, *_ = envs.step(np.full((2, 1), action))
        expected = plain.step(np.array([min(action, 2)], np.float32))
        assert np.array_equal(obs[1], expected[0])
        assert rewards[1] == expected[1]
    frail = rf.VecEnv(rf.games.Gymnasium(Frail), 2)
    frail.reset()
    assert frail.render(1).shape == (4, 6, 3)
    broken = rf.VecEnv(rf.games.Gymnasium("CartPole-v1"), 1)
    broken.reset()
    with pytest.raises(RuntimeError, match="render_mode='rgb_array'"):
        broken.render(0)


FATES = {
    "raise": "environment 0 raised, asked to step in worker 0: LookupError: lost at sea\n\nTraceback",
    "sys.exit": "SystemExit: had enough",
    "os._exit": "worker 0, of environments 0 to 1, ended with exit status 7, asked to step",
    "kill": "worker 0, of environments 0 to 1, was killed by SIGKILL, asked to step",
    "segfault": "was killed by SIGSEGV",
    "nan": "step must return finite float32 observations, got nan in row 0",
    "inf": "step must return finite float32 observations, got inf in row 0",
}


@on_linux
@pytest.mark.parametrize("fate", FATES)
def test_a_failing_step_reaches_the_caller_and_the_engine_goes_on(fate: str, mark: str) -> None:
    game = rf.games.Gymnasium(Frail, fate=fate, workers=2)
    own = engine(game)
    error = ValueError if fate in {"nan", "inf"} else RuntimeError
    with pytest.raises(error) as raised:
        own.collect(4 * 8, uniform(game))
    assert FATES[fate] in str(raised.value)
    if fate == "raise":
        assert 'raise LookupError("lost at sea")' in str(raised.value)
    again = own.collect(4 * 4, uniform(game))  # up to just before it
    assert (again.step[:4] == 0).all()
    with own.collect_stream(4 * 8, uniform(game)) as stream, pytest.raises(error):
        next(stream)
    assert len(marked(mark)) in {0, 2}


@on_linux
def test_a_failing_reset_reaches_the_caller_and_is_tried_again(mark: str) -> None:
    with pytest.raises(RuntimeError, match=r"(?s)environment 0 raised, asked to reset.*LookupError: no beginning"):
        engine(rf.games.Gymnasium(Frail, fate="reset", at=0))
    game = rf.games.Gymnasium(Frail, fate="reset", at=1)
    own = engine(game, 2)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="no beginning"):
            own.collect(2 * 20, uniform(game))
    assert marked(mark)


def test_an_environment_that_cannot_be_made_is_told_with_its_traceback() -> None:
    with pytest.raises(RuntimeError, match=r"(?s)Traceback.*NameNotFound.*`NoSuchEnv` doesn't exist"):
        rf.games.Gymnasium("NoSuchEnv-v0")
    with pytest.raises(RuntimeError, match=r"TypeError: an environment has reset, got 0"):
        rf.games.Gymnasium(int)
    with pytest.raises(RuntimeError, match=r"observations must be a Box.*FlattenObservation"):
        rf.games.Gymnasium("FrozenLake-v1")
    with pytest.raises(RuntimeError, match="copyable must be False for"):
        rf.games.Gymnasium("BipedalWalker-v3", copyable=True)


@pytest.mark.parametrize("copyable", [False, True])
def test_a_copyable_environment_takes_a_failed_window_back(copyable: bool) -> None:
    game = rf.games.Gymnasium("CartPole-v1", copyable=copyable, workers=2)
    untroubled = engine(game)
    expected = [untroubled.collect(4 * 10, uniform(game)) for _ in range(2)][1]
    troubled = engine(game)
    troubled.collect(4 * 10, uniform(game))
    calls = []

    def failing(obs: Any) -> Any:
        calls.append(len(obs))
        if len(calls) == 7:
            raise ZeroDivisionError
        return uniform(game)(obs)

    with pytest.raises(ZeroDivisionError):
        troubled.collect(4 * 10, failing)
    after = troubled.collect(4 * 10, uniform(game))
    assert np.array_equal(after.obs, expected.obs) == copyable
    assert (after.step[:4] == 0).all() != copyable


def alone(script: str, *, mark: str, kill: signal.Signals | None = None) -> subprocess.CompletedProcess[str]:
    """Runs a script that may say "ready" and is then sent a signal."""
    prelude = "import os, sys, time\nimport numpy as np\nimport reinfors as rf\nfrom test_workers import *\n"
    env = {**os.environ, MARK: mark, "PYTHONPATH": str(HERE)}
    command = [sys.executable, "-W", "error", "-c", prelude + script]
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command, env=env, text=True, **pipes)
    try:
        if kill is not None:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            assert marked(mark), "workers are running"
            process.send_signal(kill)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    return subprocess.CompletedProcess(command, process.returncode, out, err)


COLLECT = "game = rf.games.Gymnasium(Frail, fate={fate!r}, workers=2)\nown = engine(game)\n"


@on_linux
def test_an_exit_with_an_engine_and_a_stream_in_use_leaves_nothing(mark: str) -> None:
    script = COLLECT.format(fate="none") + "stream = own.collect_stream(400, uniform(game))\nnext(stream)\n"
    done = alone(script, mark=mark)
    assert (done.returncode, done.stderr) == (0, "")


@on_linux
def test_an_exit_while_an_environment_hangs_leaves_nothing(mark: str) -> None:
    script = COLLECT.format(fate="hang") + "stream = own.collect_stream(400, uniform(game))\ntime.sleep(1)\n"
    begin = time.monotonic()
    done = alone(script, mark=mark)
    assert (done.returncode, done.stderr) == (0, "")
    assert time.monotonic() - begin < PATIENCE


@on_linux
def test_an_interrupt_ends_a_hanging_collect_and_the_engine_goes_on(mark: str) -> None:
    script = COLLECT.format(fate="hang") + (
        "try:\n"
        "    print('ready', flush=True)\n"
        "    own.collect(4 * 20, uniform(game))\n"
        "except KeyboardInterrupt:\n"
        "    print(len(own.collect(4 * 4, uniform(game))))\n"
    )
    done = alone(script, mark=mark, kill=signal.SIGINT)
    assert (done.returncode, done.stdout, done.stderr) == (0, "16\n", "")


@on_linux
def test_an_exception_is_told_although_the_environment_then_hangs_in_its_close(mark: str) -> None:
    script = COLLECT.format(fate="raise and hang") + (
        "try:\n"
        "    own.collect(4 * 20, uniform(game))\n"
        "except RuntimeError as error:\n"
        "    print('lost at sea' in str(error))\n"
    )
    done = alone(script, mark=mark)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


def until(is_so: Callable[[], bool]) -> bool:
    """Whether it becomes so in time."""
    deadline = time.monotonic() + PATIENCE
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.05)
    return is_so()


@on_linux
@pytest.mark.parametrize("copyable", [False, True])
def test_stopping_a_stream_does_not_wait_for_an_environment_that_hangs(
    copyable: bool, mark: str, tmp_path: Path
) -> None:
    sign = tmp_path / "hangs"
    game = rf.games.Gymnasium(Frail, fate="hang", sign=str(sign), workers=2, copyable=copyable)
    own = engine(game)
    with own.collect_stream(4 * 20, uniform(game)) as stream:
        assert until(sign.exists)
        assert stream.pending() == 0
        begin = time.monotonic()
    assert 3 < time.monotonic() - begin < PATIENCE, "it has had its time, and no more"
    assert (own.collect(4 * 4, uniform(game)).step[:4] == 0).all()
    assert len(marked(mark)) == 2


@on_linux
def test_stopping_a_stream_waits_for_an_environment_that_is_slow(mark: str) -> None:
    game = rf.games.Gymnasium(Frail, fate="slow", at=3, workers=2)
    own = engine(game)
    before = marked(mark)
    stream = own.collect_stream(4 * 20, uniform(game))
    time.sleep(0.5)
    stream.stop()
    assert marked(mark) == before, "the same workers go on"


@on_linux
def test_a_dropped_stream_frees_the_engine_of_an_environment_that_hangs(
    mark: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("reinfors.foreign.workers.PATIENCE", 0.3)
    sign = tmp_path / "hangs"
    game = rf.games.Gymnasium(Frail, fate="hang", sign=str(sign), workers=2)
    own = engine(game)
    stream = own.collect_stream(4 * 20, uniform(game))
    assert until(sign.exists)
    sign.unlink()
    del stream
    assert len(own.collect(4 * 4, uniform(game))) == 16, "which waits for the stream to leave"
    assert len(marked(mark)) == 2
    stream = own.collect_stream(4 * 20, uniform(game))
    assert until(sign.exists)
    del stream, own
    assert until(lambda: not marked(mark))


@on_linux
@pytest.mark.parametrize("is_closed", [False, True])
def test_environments_are_closed_or_dropped_while_one_hangs_in_the_background(
    is_closed: bool, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reinfors.foreign.workers.PATIENCE", 0.3)
    envs = rf.VecEnv(rf.games.Gymnasium(Frail, fate="hang", at=1, workers=2), 4)
    envs.reset()
    envs.send(np.zeros(4, np.int64))
    assert len(marked(mark)) == 2
    if is_closed:
        envs.close()
        assert marked(mark) == []
    del envs
    assert until(lambda: not marked(mark))


@on_linux
def test_an_interrupt_ends_waiting_for_an_environment_that_hangs_in_the_background(mark: str) -> None:
    script = (
        "import reinfors.foreign.workers as workers\nworkers.PATIENCE = 0.3\n"
        "envs = rf.VecEnv(rf.games.Gymnasium(Frail, fate='hang', at=1, workers=2), 4)\n"
        "envs.reset()\n"
        "envs.send(np.zeros(4, np.int64))\n"
        "try:\n"
        "    print('ready', flush=True)\n"
        "    envs.recv()\n"
        "except KeyboardInterrupt:\n"
        "    envs.close()\n"
        "    print('closed')\n"
    )
    done = alone(script, mark=mark, kill=signal.SIGINT)
    assert (done.returncode, done.stdout, done.stderr) == (0, "closed\n", "")


@on_linux
@pytest.mark.parametrize("fate", ["none", "hang"])
def test_the_owner_s_death_ends_the_workers(fate: str, mark: str) -> None:
    script = COLLECT.format(fate=fate) + "print('ready', flush=True)\nown.collect(1 << 24, uniform(game))\n"
    assert alone(script, mark=mark, kill=signal.SIGKILL).returncode == -signal.SIGKILL


@on_linux
def test_a_worker_killed_from_outside_is_told(mark: str) -> None:
    script = COLLECT.format(fate="none") + (
        "os.kill(marked(os.environ[MARK])[0], signal.SIGKILL)\n"
        "try:\n"
        "    own.collect(400, uniform(game))\n"
        "except RuntimeError as error:\n"
        "    print(error)\n"
        "print(len(own.collect(400, uniform(game))))\n"
    )
    told = alone(script, mark=mark)
    assert "was killed by SIGKILL, asked to step" in told.stdout, told.stderr
    assert told.stdout.endswith("400\n")


@on_linux
def test_a_fork_is_refused_and_does_not_end_its_parent_s_workers(mark: str) -> None:
    script = COLLECT.format(fate="none") + (
        "envs = rf.VecEnv(game, 2)\nenvs.reset()\n"
        "import warnings\nwarnings.simplefilter('ignore')\n"
        "if (child := os.fork()) == 0:\n"
        "    try:\n"
        "        envs.step(np.array([0, 0]))\n"
        "    except RuntimeError as error:\n"
        "        print(error, flush=True)\n"
        "    del envs, own\n"
        "    sys.exit()\n"
        "os.waitpid(child, 0)\n"
        "print(envs.step(np.array([0, 0]))[1].tolist(), len(own.collect(4, uniform(game))))\n"
    )
    done = alone(script, mark=mark)
    assert "this is its fork" in done.stdout, done.stderr
    assert done.stdout.endswith("[10.0, 10.0] 4\n"), done.stderr
    assert done.returncode == 0


@on_linux
def test_a_script_without_a_guard_and_a_local_class_work(mark: str) -> None:
    script = (
        "import gymnasium\n"
        "class Mine(gymnasium.Wrapper):\n"
        "    def step(self, action):\n        return self.env.step(1)\n"
        "game = rf.games.Gymnasium(lambda: Mine(gymnasium.make('CartPole-v1')))\n"
        "print(len(engine(game).collect(40, uniform(game))))\n"
    )
    done = alone(script, mark=mark)
    assert (done.stdout, done.stderr) == ("40\n", "")


@on_linux
def test_what_an_environment_prints_is_not_taken_for_an_answer(mark: str) -> None:
    script = (
        "class Loud(Frail):\n"
        "    def step(self, action):\n        print('step', flush=True)\n        return super().step(action)\n"
        "game = rf.games.Gymnasium(Loud)\n"
        "print(len(engine(game).collect(40, uniform(game))))\n"
    )
    done = alone(script, mark=mark)
    assert done.stdout == "40\n", done.stderr
    assert done.stderr.count("step") == 40


@on_linux
def test_a_dropped_engine_ends_its_workers_at_once(mark: str) -> None:
    own = engine(rf.games.Gymnasium(Frail, workers=2))
    assert len(marked(mark)) == 2
    del own
    assert marked(mark) == []


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"env": 3}, TypeError, "env must be the id"),
        ({"env": ""}, TypeError, "env must be the id"),
        ({"env": "CartPole-v1", "workers": 0}, ValueError, "workers must be from 1"),
        ({"env": "CartPole-v1", "workers": True}, TypeError, "workers must be an integer"),
        ({"env": "CartPole-v1", "copyable": 1}, TypeError, "copyable must be a bool"),
    ],
)
def test_a_wrong_argument_is_refused_before_a_process_is_started(arguments: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        rf.games.Gymnasium(**arguments)
