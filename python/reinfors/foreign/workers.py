"""The owner's side of the worker processes: worlds as `Batch` takes them, each row in one of several processes.

1. Workers are started as programs of their own, never forked: whatever threads and locks are here stay here.
2. All are told before any is waited for, so that they work at the same time. Every answer is taken before an exception
   is raised; where that was not possible, all workers are ended and started anew at the next reset.
3. They never outlive their owner: its collection, its exit and its death each end them.
"""

from __future__ import annotations

import contextlib
import importlib.util
import math
import os
import pickle
import select
import signal
import subprocess
import sys
import time
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reinfors.foreign.checked import Checked
from reinfors.foreign.memory import Memory, Place, Spaces
from reinfors.foreign.worker import receive, send

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

COMMAND = (sys.executable, "-X", "faulthandler", "-m", "reinfors.foreign.worker")
GRACE = 1.0  # seconds in which workers may close their environments
PATIENCE = 5.0  # seconds that a worker may go on with what nobody wants any more
LOOK_EVERY = 100  # milliseconds
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")  # the processes are the parallel ones


@dataclass(frozen=True)
class Recipe:
    """How a worker makes an environment."""

    env: str | Callable[..., Any]
    kwargs: dict[str, Any]
    copyable: bool

    def pickled(self) -> bytes:
        """As bytes that another program can read: functions of a script or a notebook by their code."""
        if isinstance(self.env, str):
            if importlib.util.find_spec("gymnasium") is None:
                raise ModuleNotFoundError(
                    "reinfors.games.Gymnasium needs gymnasium: pip install 'reinfors[gym]'", name="gymnasium"
                )
            with contextlib.suppress(pickle.PicklingError, AttributeError, TypeError):
                return pickle.dumps(GymnasiumMake(self.env, self.kwargs))
        try:
            import cloudpickle  # noqa: PLC0415
        except ModuleNotFoundError as missing:
            raise ModuleNotFoundError("this needs cloudpickle: pip install 'reinfors[gym]'") from missing
        make = GymnasiumMake(self.env, self.kwargs) if isinstance(self.env, str) else Call(self.env, self.kwargs)
        data: bytes = cloudpickle.dumps(make)
        return data


@dataclass(frozen=True)
class GymnasiumMake:
    """Makes an environment by its id."""

    id: str
    kwargs: dict[str, Any]

    def __call__(self) -> Any:  # noqa: ANN401
        """The environment."""
        import gymnasium  # noqa: PLC0415

        return gymnasium.make(self.id, **self.kwargs)


@dataclass(frozen=True)
class Call:
    """Makes an environment by calling the user's callable."""

    make: Callable[..., Any]
    kwargs: dict[str, Any]

    def __call__(self) -> Any:  # noqa: ANN401
        """The environment."""
        return self.make(**self.kwargs)


class Worker:
    """One process, and the rows it has."""

    def __init__(self, number: int, rows: list[int]) -> None:
        self.number, self.rows = number, rows
        env = {**dict.fromkeys(ONE_THREAD, "1"), **os.environ}
        self.process = subprocess.Popen(  # noqa: S603
            COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, start_new_session=True
        )
        self.poll: Any = None
        if hasattr(select, "poll"):  # not on Windows, where an answer is waited for as long as it takes
            self.poll = select.poll()
            self.poll.register(self.process.stdout, select.POLLIN)
        self.tell((list(sys.path), os.getcwd()))  # noqa: PTH109

    def tell(self, order: tuple[Any, ...]) -> None:
        """Gives an order. One that has died is found out when its answer is waited for."""
        with contextlib.suppress(BrokenPipeError):
            send(self.process.stdin, order)  # type: ignore[arg-type]

    def answer(self, is_cancelled: Callable[[], bool]) -> tuple[bool, Any]:
        """Waits for the answer to the last order: whether it was done, and the result or what was raised where.

        Raises:
            EOFError: The process has ended.
            TimeoutError: Nobody wants the answer any more, and it does not come.
        """
        deadline = math.inf
        while self.poll is not None and not self.poll.poll(LOOK_EVERY):
            if is_cancelled():
                deadline = min(deadline, time.monotonic() + PATIENCE)
            if time.monotonic() > deadline:
                raise TimeoutError
        is_done, answer = receive(self.process.stdout)  # type: ignore[arg-type]
        return is_done, answer

    def obituary(self) -> str:
        """How the process ended."""
        try:
            code = self.process.wait(GRACE)
        except subprocess.TimeoutExpired:
            return "closed its output"
        if code < 0:
            return f"was killed by {signal.Signals(-code).name}"
        return f"ended with exit status {code}"


def described(recipe: Recipe) -> Spaces:
    """The spaces of the environment, asked of a worker that is ended again."""
    workers = Workers(recipe, None, 1, 1)
    try:
        return workers.described()
    finally:
        workers.close()


class CheckedWorkers(Checked):
    """Workers under the native batch, which are ended where they keep somebody waiting who wants nothing any more."""

    def heed(self, is_cancelled: Callable[[], bool]) -> None:
        """Learns how to ask whether what is asked from now on is still wanted."""
        self.worlds.is_cancelled = is_cancelled


class Workers:
    """`n` environments in at most `most` processes."""

    def __init__(self, recipe: Recipe, spaces: Spaces | None, most: int, n: int) -> None:
        self.make, self.copyable, self.spaces = recipe.pickled(), recipe.copyable, spaces
        self.n, self.n_workers = n, min(most, n)
        self.process = os.getpid()
        self.workers: list[Worker] = []
        self.memory: Memory | None = None
        self.end: Callable[[], object] = lambda: None
        self.is_cancelled: Callable[[], bool] = lambda: False
        if recipe.copyable:
            self.save, self.load = self._save, self._load

    def described(self) -> Spaces:
        """The spaces of the environment."""
        self._start()
        spaces: Spaces = self._ask("describe", dict.fromkeys(self.workers, ()))[0]
        return spaces

    def reset(self, rows: NDArray[np.int64], seeds: list[int | None]) -> dict[str, Any]:
        """Starts episodes in `rows`, as `Steppable` has it."""
        memory = self._started()
        wanted = dict(zip(rows.tolist(), seeds, strict=True))
        orders = {
            worker: ({row: wanted[row] for row in worker.rows if row in wanted},)
            for worker in self.workers
            if wanted.keys() & set(worker.rows)
        }
        self._ask("reset", orders)
        return {name: array[rows] for name, array in memory.parts.items()}

    def step(self, actions: NDArray[Any], active: NDArray[np.bool_]) -> tuple[Any, Any, Any, Any]:
        """Steps the rows that are active, as `Steppable` has it."""
        memory = self._started()
        memory.actions[...], memory.active[...] = actions, active
        self._ask("step", dict.fromkeys(self.workers, ()))
        return memory.parts, memory.rewards, memory.terminated, memory.truncated

    def render(self, row: int) -> NDArray[np.uint8]:
        """The picture of one row."""
        self._started()
        worker = next(worker for worker in self.workers if row in worker.rows)
        picture: NDArray[np.uint8] = self._ask("render", {worker: (row,)})[0]
        return picture

    def close(self) -> None:
        """Ends all workers; the next reset starts new ones."""
        self.end()
        self.workers, self.memory = [], None

    def _save(self) -> None:
        self._started()
        self._ask("save", dict.fromkeys(self.workers, ()))

    def _load(self, saved: None) -> None:
        del saved  # the workers have it
        if not self.workers:
            raise RuntimeError("the workers that had the copies are gone")
        self._ask("load", dict.fromkeys(self.workers, ()))

    def _started(self) -> Memory:
        """The shared memory, of workers that are started if there are none."""
        if self.memory is None or not self.workers:
            self._start()
            self.spaces = self.spaces or self.described()
            place, mapped = Place.fresh(self.spaces.size(self.n))
            try:
                self._ask("attach", dict.fromkeys(self.workers, (self.spaces, place, self.n)))
            finally:
                place.delete()
            self.memory = Memory(mapped, self.spaces, self.n)
        return self.memory

    def _start(self) -> None:
        if self.workers:
            return
        bounds = [self.n * i // self.n_workers for i in range(self.n_workers + 1)]
        processes: list[subprocess.Popen[bytes]] = []
        self.end = weakref.finalize(self, _end, processes, os.getpid())
        try:
            for number in range(self.n_workers):
                worker = Worker(number, list(range(bounds[number], bounds[number + 1])))
                processes.append(worker.process)
                self.workers.append(worker)
            self._ask("make", {worker: (self.make, worker.rows, self.copyable) for worker in self.workers})
        except BaseException:
            self.close()
            raise

    def _ask(self, order: str, arguments: dict[Worker, tuple[Any, ...]]) -> list[Any]:
        """Gives the order to each worker and takes each answer.

        Raises:
            RuntimeError: An environment raised, or a worker ended.
        """
        if self.process != os.getpid():
            raise RuntimeError(
                f"the workers belong to process {self.process}, this is its fork {os.getpid()}: make the object anew"
            )
        answers, errors, is_over = [], [], False
        try:
            for worker, own in arguments.items():
                worker.tell((order, *own))
            for worker in arguments:
                is_done, answer = worker.answer(self.is_cancelled)
                if is_done:
                    answers.append(answer)
                else:
                    errors.append((worker, *answer))
            is_over = True
        except (EOFError, TimeoutError) as error:
            fate = worker.obituary() if isinstance(error, EOFError) else "gave no answer and is ended"
            told = f"worker {worker.number}, of environments {worker.rows[0]} to {worker.rows[-1]}, {fate}"
            raise RuntimeError(f"{told}, asked to {order}") from error
        finally:
            if not is_over:
                self.close()
        for worker, row, text in errors:
            where = f"environment {row}" if row is not None else "the environment"
            last = text.strip().splitlines()[-1]
            raise RuntimeError(f"{where} raised, asked to {order} in worker {worker.number}: {last}\n\n{text}")
        return answers


def _end(processes: list[subprocess.Popen[bytes]], owner: int) -> None:
    """Ends workers: their input ends, which lets them close their environments; what does not end is killed."""
    if os.getpid() != owner:
        return
    for process in processes:
        with contextlib.suppress(OSError):
            process.stdin.close()  # type: ignore[union-attr]
    deadline = time.monotonic() + GRACE
    for process in processes:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        # Only now: whoever waits for an answer in another thread has the pipe until it ends.
        process.stdout.close()  # type: ignore[union-attr]
