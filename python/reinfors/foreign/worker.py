"""A worker process: `python -m reinfors.foreign.worker` holds some environments and does what its standard input says.

1. Answers go to what was standard output; whatever an environment prints goes to standard error instead.
2. It ends when its input ends, which is when its owner does, in whatever way; an environment that keeps it from reading
   is noticed by a thread that looks whether the owner is still the parent.
3. The owner's Ctrl-C is not its own: the owner says what is to happen.
"""

from __future__ import annotations

import contextlib
import copy
import os
import pickle
import signal
import struct
import sys
import threading
import time
import traceback
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from reinfors.foreign.memory import Memory, Spaces

if TYPE_CHECKING:
    import mmap
    from collections.abc import Callable

    from numpy.typing import NDArray

LENGTH = struct.Struct("<q")
LOOK_EVERY = 0.5  # seconds


def send(pipe: BinaryIO, message: object) -> None:
    """Writes one message."""
    data = pickle.dumps(message)
    pipe.write(LENGTH.pack(len(data)) + data)
    pipe.flush()


def receive(pipe: BinaryIO) -> Any:  # noqa: ANN401
    """Reads one message.

    Raises:
        EOFError: The other side is gone.
    """
    head = pipe.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    data = pipe.read(length := LENGTH.unpack(head)[0])
    if len(data) < length:
        raise EOFError
    return pickle.loads(data)  # noqa: S301  from our own process


class Environments:
    """Some environments, and their rows of the shared memory."""

    def __init__(self, make: Callable[[], Any], rows: list[int], *, copyable: bool) -> None:
        self.make, self.rows, self.copyable = make, rows, copyable
        self.envs: dict[int, Any] = {}
        self.saved: dict[int, Any] = {}
        self.memory: Memory | None = None
        self.spaces: Spaces | None = None
        self.row: int | None = None  # at work, for messages

    def describe(self) -> Spaces:
        """The spaces of a fresh environment, which is kept for the first row."""
        env = self._made()
        if self.copyable:
            _refuse_ez_pickle(env)
        self.envs[self.rows[0]] = env
        return spaces_of(env)

    def attach(self, spaces: Spaces, memory: mmap.mmap, n: int) -> None:
        """Learns where the rows are."""
        self.spaces, self.memory = spaces, Memory(memory, spaces, n)

    def reset(self, seeds: dict[int, int | None]) -> None:
        """Starts episodes; an environment that has failed before is made anew."""
        for row, seed in seeds.items():
            self.row = row
            if row not in self.envs:
                self.envs[row] = self._made()
            obs, _ = self.envs[row].reset(seed=seed)
            self._show(row, obs)

    def step(self) -> None:
        """Steps the rows that are active with the actions in memory."""
        memory = self._memory()
        for row in self.rows:
            if memory.active[row]:
                self.row = row
                obs, reward, terminated, truncated, _ = self.envs[row].step(self._action(row))
                memory.rewards[row], memory.terminated[row], memory.truncated[row] = reward, terminated, truncated
                self._show(row, obs)

    def render(self, row: int) -> NDArray[np.uint8]:
        """The picture of one row."""
        self.row = row
        picture = self.envs[row].render()
        if not isinstance(picture, np.ndarray):
            raise TypeError(f"render() returned {type(picture).__name__}: give render_mode='rgb_array'")
        return picture

    def save(self) -> None:
        """Copies every environment."""
        self.saved = {}
        for row, env in self.envs.items():
            self.row = row
            self.saved[row] = copy.deepcopy(env)

    def load(self) -> None:
        """Puts copies of the copies in place."""
        for row, env in self.saved.items():
            self.row = row
            self.envs[row] = copy.deepcopy(env)

    def drop_failed(self) -> None:
        """Forgets the environment that has raised, which may be in any state."""
        if self.row is not None and (env := self.envs.pop(self.row, None)) is not None:
            with contextlib.suppress(Exception):
                env.close()

    def close(self) -> None:
        """Closes every environment."""
        for env in self.envs.values():
            with contextlib.suppress(Exception):
                env.close()

    def _made(self) -> Any:  # noqa: ANN401
        env = self.make()
        missing = [name for name in ("reset", "step", "observation_space", "action_space") if not hasattr(env, name)]
        if missing:
            raise TypeError(f"an environment has {missing[0]}, got {env!r:.80} ({type(env).__name__})")
        return env

    def _memory(self) -> Memory:
        if self.memory is None:
            raise RuntimeError("there is no memory yet")
        return self.memory

    def _action(self, row: int) -> Any:  # noqa: ANN401
        memory, spaces = self._memory(), self.spaces
        if spaces is None or isinstance(spaces.actions, list):
            return memory.actions[row] + (spaces.first_action if spaces else 0)
        low, high = spaces.actions
        return np.clip(memory.actions[row], low, high).astype(spaces.action_dtype).reshape(spaces.action_shape)

    def _show(self, row: int, obs: Any) -> None:  # noqa: ANN401
        memory = self._memory()
        for name, array in memory.parts.items():
            array[row] = obs[name] if isinstance(obs, dict) else obs


def spaces_of(env: Any) -> Spaces:  # noqa: ANN401
    """What is observed and done.

    Raises:
        ValueError: A space that is not supported.
    """
    from gymnasium import spaces  # noqa: PLC0415  a wrapper of another library may come without

    observed = env.observation_space
    boxes = dict(observed.spaces) if isinstance(observed, spaces.Dict) else {"obs": observed}
    parts = []
    for name, box in boxes.items():
        if not isinstance(box, spaces.Box) or 0 in box.shape:
            raise ValueError(
                f"observations must be a Box, or a Dict of them, got {box!r:.200}: wrap the environment, for instance "
                "in gymnasium.wrappers.FlattenObservation"
            )
        parts.append((name, tuple(box.shape), "uint8" if box.dtype == np.uint8 else "float32"))
    done = env.action_space
    if isinstance(done, spaces.Discrete):
        return Spaces(parts, [str(action) for action in range(int(done.n))], int(done.start), "int64", ())
    if not isinstance(done, spaces.Box) or done.dtype.kind != "f" or not done.shape or 0 in done.shape:
        raise ValueError(f"actions must be Discrete, or a Box of floats, got {done!r:.200}: wrap the environment")
    most = float(np.finfo(np.float32).max)
    low, high = (np.clip(bound.ravel(), -most, most).astype(np.float32).tolist() for bound in (done.low, done.high))
    return Spaces(parts, (low, high), 0, str(done.dtype), tuple(done.shape))


def _refuse_ez_pickle(env: Any) -> None:  # noqa: ANN401
    """Copies of such an environment are fresh ones: it would be put back to nowhere in silence."""
    from gymnasium.utils import EzPickle  # noqa: PLC0415

    layer = env
    while layer is not None:
        if isinstance(layer, EzPickle):
            raise ValueError(  # noqa: TRY004  the argument copyable has the wrong value
                f"copyable must be False for {type(layer).__name__}: it is derived from gymnasium.utils.EzPickle, so "
                "that its copy is a new environment and does not continue"
            )
        layer = vars(layer).get("env")


def _end_with(owner: int) -> None:
    """Ends this process when its parent is another, whatever its environments are at."""
    while os.getppid() == owner:
        time.sleep(LOOK_EVERY)
    os._exit(1)


def main() -> None:
    """Answers until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    orders, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.dup2(2, 1)
    if sys.platform != "win32":
        threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    environments: Environments | None = None
    with contextlib.suppress(EOFError, BrokenPipeError):
        sys.path[:], directory = receive(orders)
        os.chdir(directory)
        while True:
            order, *arguments = receive(orders)
            try:
                if order == "make":
                    make, rows, copyable = arguments
                    environments = Environments(pickle.loads(make), rows, copyable=copyable)  # noqa: S301
                    answer: Any = None
                elif order == "attach":
                    spaces, where, n = arguments
                    answer = environments.attach(spaces, where.open(), n)  # type: ignore[union-attr]
                else:
                    answer = getattr(environments, order)(*arguments)
            except BaseException:  # noqa: BLE001  also an exit: the owner is told of each
                row = None if environments is None else environments.row
                send(answers, (False, (row, traceback.format_exc())))
                if environments is not None:
                    environments.drop_failed()  # afterwards: its close may take as long as it likes
            else:
                send(answers, (True, answer))
    if environments is not None:
        environments.close()


if __name__ == "__main__":
    main()
