"""`VecEnv.send` and `recv`: a step in the background is the step, and whatever else comes between is refused."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import reinfors as rf

if TYPE_CHECKING:
    from collections.abc import Callable

GAMES = rf.games.registered()
UNDER_WAY = r"a step is under way: recv\(\)"


def env_of(name: str, n_envs: int = 3, **arguments: Any) -> rf.VecEnv:
    env = rf.VecEnv(rf.games.make(name, max_steps=4), n_envs, 2, **arguments)
    env.reset(seed=3)
    return env


def actions_of(env: rf.VecEnv, rng: np.random.Generator) -> np.ndarray:
    assert env.game.n_actions is not None
    return rng.integers(env.game.n_actions, size=len(env) * env.game.n_agents)


def flat(returned: Any) -> list[bytes]:
    """Everything that a step returned, as bytes."""
    *arrays, infos = returned
    finals = [obs.tobytes() for obs in infos.pop("final_obs", []) if obs is not None]
    return [array.tobytes() for array in arrays] + finals + [repr(sorted(infos.items())).encode()]


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("autoreset", ["next_step", "same_step", "disabled"])
def test_what_is_received_is_what_a_step_returns(name: str, autoreset: Any) -> None:
    sent, stepped = env_of(name, autoreset=autoreset), env_of(name, autoreset=autoreset)
    rng = np.random.default_rng(0)
    for _ in range(12):
        actions = actions_of(sent, rng)
        sent.send(actions)
        actions_then = actions.copy()
        actions[:] = 0  # what was sent is a copy
        assert flat(sent.recv()) == flat(stepped.step(actions_then))
    sent.send(actions_of(sent, rng))
    different = stepped.reset(seed=9)[0]
    assert not np.array_equal(sent.recv()[0], different)


def test_two_halves_take_turns_and_each_goes_its_own_way() -> None:
    halves, alone = [env_of(GAMES[0]) for _ in range(2)], env_of(GAMES[0])
    rng = np.random.default_rng(1)
    for _ in range(6):
        actions = actions_of(alone, rng)
        expected = flat(alone.step(actions))
        for half in halves:
            half.send(actions)
        assert [flat(half.recv()) for half in halves] == [expected, expected]


@pytest.mark.parametrize(
    "call",
    [
        lambda env: env.send([0, 0, 0]),
        lambda env: env.step([0, 0, 0]),
        lambda env: env.reset(),
        lambda env: env.observe(),
        lambda env: env.render(0),
        lambda env: env.inspect(0),
        lambda env: env.save(0),
        lambda env: env.load(0, b""),
        lambda env: env.seeds,
    ],
)
def test_while_a_step_is_under_way_all_else_is_refused_and_nothing_is_lost(call: Any) -> None:
    env, plain = env_of(GAMES[0]), env_of(GAMES[0])
    env.send([0, 1, 2])
    with pytest.raises(RuntimeError, match=UNDER_WAY):
        call(env)
    assert flat(env.recv()) == flat(plain.step([0, 1, 2]))


def test_nothing_is_received_that_was_not_sent() -> None:
    env = env_of(GAMES[0])
    with pytest.raises(RuntimeError, match=r"no step is under way: send\(actions\)"):
        env.recv()
    env.send([0, 0, 0])
    env.recv()
    with pytest.raises(RuntimeError, match="no step is under way"):
        env.recv()


@pytest.mark.parametrize(
    ("actions", "error"), [([0, 0], ValueError), ([0, 0, 99], ValueError), ([0.5] * 3, TypeError), (None, TypeError)]
)
def test_wrong_actions_are_refused_when_sent_and_start_nothing(actions: Any, error: type[Exception]) -> None:
    env = env_of(GAMES[0])
    before = env.save(0)
    with pytest.raises(error, match="action"):
        env.send(actions)
    assert env.save(0) == before
    with pytest.raises(RuntimeError, match="no step is under way"):
        env.recv()


def test_a_first_reset_is_needed_and_a_closed_one_is_closed() -> None:
    env = rf.VecEnv(rf.games.make(GAMES[0]), 1, 1)
    with pytest.raises(RuntimeError, match="never reset"):
        env.send([0])
    env.reset()
    env.send([0])
    env.close()
    for call in (env.recv, lambda: env.send([0])):
        with pytest.raises(RuntimeError, match="closed"):
            call()


def test_sending_does_not_wait_and_the_interpreter_is_free_meanwhile() -> None:
    env = rf.VecEnv(rf.games.make("CarRacing", frame_skip=200, max_steps=None), 64, 1)
    env.reset(seed=0)
    actions = np.zeros(64, np.int64)

    def processor_time(work: Callable[[Any], object]) -> float:
        begin = time.process_time()
        work(actions)
        return time.process_time() - begin

    shares, counts = [], []
    for _ in range(5):
        whole = processor_time(env.step)
        shares.append(processor_time(env.send) / whole)
        waiter = threading.Thread(target=env.recv)
        waiter.start()
        counted = 0
        while waiter.is_alive():
            counted += 1
        counts.append(counted)
    # A call that waits has all of the step's work behind it, every time. Where other processes want the processors, one
    # that does not may now and then come back late.
    assert min(shares) < 0.5
    assert max(counts) > 100


def test_dropped_with_a_step_under_way_no_thread_is_left() -> None:
    def threads() -> int:
        return len(list(Path("/proc/self/task").iterdir()))

    env_of(GAMES[0]).close()
    before = threads()
    for _ in range(20):
        env = env_of(GAMES[0])
        env.send([0, 0, 0])
        del env
    assert threads() <= before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_is_refused_rather_than_left_waiting() -> None:
    script = (
        "import os, warnings, reinfors as rf\n"
        "warnings.simplefilter('ignore')\n"
        f"env = rf.VecEnv(rf.games.make({GAMES[0]!r}), 1, 1)\n"
        "env.reset(seed=0)\n"
        "env.send([0])\n"
        "if child := os.fork(): os.waitpid(child, 0)\n"
        "try: env.recv()\n"
        "except RuntimeError as error: print('refused' if 'fork' in str(error) else error, flush=True)\n"
        "else: print('received', flush=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.split() == ["refused", "received"], done.stderr


def test_an_interrupt_ends_the_waiting_and_leaves_the_step_to_be_received() -> None:
    script = """
import os, signal, threading, time
import reinfors as rf

n_envs = 512
game = rf.games.CarRacing(obs="state", frame_skip=1000)
sent, stepped = (rf.VecEnv(game, n_envs, 2, seed=0) for _ in range(2))
sent.reset()
stepped.reset()
threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
sent.send([0] * n_envs)
try:
    sent.recv()
except KeyboardInterrupt:
    begin = time.monotonic()
    obs = sent.recv()[0]
    print("interrupted", time.monotonic() - begin > 0.05)
print((obs == stepped.step([0] * n_envs)[0]).all())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.split() == ["interrupted", "True", "True"], done.stderr
