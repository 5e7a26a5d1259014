"""What is measured: a process for each contender, which is told how long to run and answers in lines of JSON.

Stands on NumPy and on the one library it measures, so that the same file runs in a peer's own environment, where this
package is absent or of another version. `python contenders.py '{"kind": ...}'` builds the contender, drives it through
the opening of its first episodes, writes what it is, and then answers each `{"seconds": s}` with the steps it took and
the time they took, until its input ends. Between its turns it does nothing, for it is another one's turn.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import statistics
import sys
import time
from abc import ABC, abstractmethod
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Array = Any  # of NumPy, whose version differs between the environments that this runs in

SEED = 0
LINE = 64  # bytes of a cache line
WINDOW = 1024  # records of a batch
DEPTH = 1  # batches that a stream may be ahead
HELD = DEPTH + 2  # batches in memory at once: those, the one in the making, and the learner's
FILLED = 6  # batches of a stream, and several of them have been given back
NAP = 0.02  # seconds between two looks whether a process still works
RESETS = 7  # times that all games begin anew, for the step that does it
OPENING = 60  # steps of an episode whose views change more than those after them: the reference zooms in
ONE_GAME_SLICE = 16  # steps of a single game between two looks at the clock

# The reference's five discrete controls (nothing, right, left, gas, brake) as steering, gas and brake: the same drive
# for a peer that knows the continuous ones only.
FIVE_CONTROLS = np.array([[0, 0, 0], [0.6, 0, 0], [-0.6, 0, 0], [0, 0.2, 0], [0, 0, 0.8]], np.float32)
N_ACTIONS = len(FIVE_CONTROLS)
FAST_ODDS = (0.0, 0.2, 0.2, 0.6, 0.0)
FAST_HOLD = 4  # steps
DRAWN = 256  # actions of a game that are drawn at once, for the time of drawing them not to count


def drive(driver: str, n_games: int) -> Iterator[Array]:
    """Discrete actions of every game, step after step: the same ones whoever is driven."""
    rng = np.random.default_rng(SEED)
    while True:
        if driver == "random":
            yield from rng.integers(N_ACTIONS, size=(DRAWN, n_games))
        else:
            yield from rng.choice(N_ACTIONS, size=(DRAWN, n_games), p=FAST_ODDS).repeat(FAST_HOLD, axis=0)


def touch(obs: Array) -> float:
    """Reads a number of every cache line: a frame that nobody looks at might not have been made."""
    return float(obs.ravel(order="K")[:: LINE // obs.itemsize].max())


class Contender(ABC):
    """Something that can be stepped for a while.

    Attributes:
        opening: Steps of every game before anything counts.
        library: The distribution it comes from.
        first_frame: What the first game shows after a reset with the seed, height by width by colours; None where
            episodes are not seeded one by one.
    """

    library = "reinfors"
    opening = OPENING
    first_frame: Array | None = None

    @abstractmethod
    def slice(self) -> int:
        """Steps for a moment and returns the number of simulated steps."""

    def turn(self, seconds: float) -> dict[str, float]:
        """Steps taken in at least `seconds`, with the seconds of the wall clock and of the processors for them.

        However short that is, there is a slice: a process may be kept from running once it has looked at the clock.
        """
        steps, wall, begin, begin_cpu = 0, 0.0, time.perf_counter(), time.process_time()
        while not steps or wall < seconds:
            steps += self.slice()
            wall = time.perf_counter() - begin
        return {"steps": steps, "wall": wall, "cpu": time.process_time() - begin_cpu}

    def about(self) -> dict[str, Any]:
        """What is to be told of it once."""
        frame = self.first_frame
        digest = None if frame is None else hashlib.sha256(np.ascontiguousarray(frame).tobytes()).hexdigest()
        return {"library": self.library, "version": version(self.library), "first_frame": digest}

    def report(self) -> dict[str, Any]:
        """What is to be told of it after the trials."""
        return {}


def rest() -> None:
    """Waits until no thread of this process has anything left to do."""
    begin = -NAP
    while time.process_time() - begin > NAP / 20:
        begin = time.process_time()
        time.sleep(NAP)


class OneGame(Contender):
    """The loop of Gymnasium's documentation over one environment."""

    def __init__(self, spec: dict[str, Any]) -> None:
        import gymnasium  # noqa: PLC0415 - only the process that measures it

        if spec["library"] == "reinfors":
            import reinfors  # noqa: F401, PLC0415 - registers the id
        self.library = spec["library"]
        self.env = gymnasium.make(spec["env_id"], continuous=False, **spec["options"])
        self.actions = drive(spec["driver"], 1)
        self.first_frame, _ = self.env.reset(seed=SEED)

    def slice(self) -> int:
        """Takes a handful of steps."""
        for _ in range(ONE_GAME_SLICE):
            obs, _, terminated, truncated, _ = self.env.step(next(self.actions)[0])
            touch(obs)
            if terminated or truncated:
                self.env.reset()
        return ONE_GAME_SLICE


class OneUndrawnGame(OneGame):
    """The same loop without the drawing that the reference does at every step: all it observes is black."""

    def __init__(self, spec: dict[str, Any]) -> None:
        super().__init__(spec)
        game: Any = self.env.unwrapped
        shape = game.observation_space.shape
        game._render = lambda _mode: np.zeros(shape, np.uint8)  # noqa: SLF001 - the reference has no option for it


class ManyGames(Contender):
    """`VecEnv`: the caller steps all games at once."""

    def __init__(self, spec: dict[str, Any]) -> None:
        import reinfors as rf  # noqa: PLC0415 - only the process that measures it

        self.spec = spec
        self.envs = self.made()
        self.actions = drive(spec["driver"], spec["n_games"])
        self.steps: int = spec["n_games"] * spec["options"].get("frame_skip", 1)
        obs, _ = self.envs.reset()
        if not spec["options"]:
            self.first_frame = np.moveaxis(obs[0], 0, -1)
        self.cpu_level: str = rf.build_info()["cpu_level"]

    def made(self, **options: Any) -> Any:  # noqa: ANN401 - a `VecEnv`
        """Games of these options beside those of the contender."""
        import reinfors as rf  # noqa: PLC0415 - only the process that measures it

        spec = self.spec
        game = rf.games.make(spec["game"], **spec["options"], **options)
        return rf.VecEnv(game, n_envs=spec["n_games"], n_threads=spec["n_threads"], seed=SEED)

    def about(self) -> dict[str, Any]:
        """With the vector instructions in use."""
        return {**super().about(), "cpu_level": self.cpu_level}

    def slice(self) -> int:
        """Takes one decision in every game."""
        touch(self.envs.step(next(self.actions))[0])
        return self.steps


class ManyResets(ManyGames):
    """The same, and afterwards the steps in which all games begin anew."""

    def report(self) -> dict[str, Any]:
        """What a step that resets every game takes, in times the next one and one of the last of an opening.

        Time of the calling thread, which is all there is where it steps alone but for what is made ready beside it.
        """
        envs = self.made(max_steps=OPENING)
        envs.reset()
        to_next, to_last = [], []
        for _ in range(RESETS):
            is_over, last = False, 0.0
            while not is_over:
                begin = time.thread_time()
                is_over = bool(envs.step(next(self.actions))[3].all())
                last = time.thread_time() - begin
            rest()  # what the next episodes need is made
            times = [time.thread_time()]
            for _ in range(2):
                envs.step(next(self.actions))
                times.append(time.thread_time())
            resetting, following = np.diff(times)
            to_next.append(resetting / following)
            to_last.append(resetting / last)
        return {"reset_to_next": float(np.median(to_next)), "reset_to_last": float(np.median(to_last))}


class Pool(Contender):
    """EnvPool: the caller steps all games at once. It knows continuous controls only."""

    library = "envpool"

    def __init__(self, spec: dict[str, Any]) -> None:
        import envpool  # noqa: PLC0415 - only the process that measures it

        n_games, n_threads = spec["n_games"], spec["n_threads"]
        self.envs = envpool.make(
            spec["env_id"], env_type="gymnasium", num_envs=n_games, num_threads=n_threads, seed=SEED
        )
        self.actions = drive(spec["driver"], n_games)
        self.n_games: int = n_games
        self.first_frame = self.envs.reset()[0][0]

    def slice(self) -> int:
        """Takes one step in every game."""
        touch(self.envs.step(FIVE_CONTROLS[next(self.actions)])[0])
        return self.n_games


class OneOldGame(Contender):
    """`Env` of reinfors 0.4: one game, whose time limit is the caller's to keep."""

    def __init__(self, spec: dict[str, Any]) -> None:
        import reinfors as rf  # noqa: PLC0415 - only the process that measures it

        game: Any = getattr(rf.games, spec["game"])()
        old: Any = rf
        self.env = old.Env(game, None, SEED)
        self.env.reset()
        self.longest = game.truncation_horizon()
        self.actions = drive(spec["driver"], 1)

    def slice(self) -> int:
        """Takes a handful of steps."""
        for _ in range(ONE_GAME_SLICE):
            self.env.step({0: int(next(self.actions)[0])})
            touch(self.env.observe(0))
            if self.env.done() or self.env.ticks >= self.longest:
                self.env.reset()
        return ONE_GAME_SLICE


class Collected(Contender):
    """`Engine.collect` with an `infer` that costs nothing, of this version and of 0.4: what arrives in a batch.

    Equal logits make uniformly random actions; `infer` touches every observation once.
    """

    def __init__(self, spec: dict[str, Any]) -> None:
        n_games = spec["n_games"]
        self.spec = spec
        self.engine = self.made()
        self.logits = np.zeros((2 * n_games, N_ACTIONS), np.float32)
        self.values = np.zeros(2 * n_games, np.float32)
        self.skip: int = spec["options"].get("frame_skip", 1)
        self.window = WINDOW
        self.before = peak_bytes()

    def made(self) -> Any:  # noqa: ANN401 - of either version
        """An engine."""
        import reinfors as rf  # noqa: PLC0415 - only the process that measures it

        return rf.Engine(
            game=getattr(rf.games, self.spec["game"])(**self.spec["options"]),
            reward=None,
            policy=rf.policies.Ppo(),
            learner=rf.learners.Ppo(gamma=0.99, lam=0.95),
            n_games=self.spec["n_games"],
            n_threads=self.spec["n_threads"],
            seed=SEED,
        )

    def infer(self, obs: Array) -> tuple[Array, Array]:
        """Equal logits and values of zero."""
        touch(obs)
        return self.logits[: len(obs)], self.values[: len(obs)]

    def collect(self) -> Any:  # noqa: ANN401 - of either version
        """A batch."""
        return self.engine.collect(self.window, self.infer)

    def slice(self) -> int:
        """Collects a batch."""
        return len(self.collect().actions) * self.skip

    def report(self) -> dict[str, Any]:
        """What a batch takes in memory."""
        return self.memory(self.collect())

    def memory(self, batch: Any) -> dict[str, float]:  # noqa: ANN401 - of either version
        """Bytes of a record in the batch, and of the process at most beyond what it began with, per record."""
        fields = [getattr(batch, name, None) for name in dir(batch) if not name.startswith("_")]
        arrays = [field for field in fields if isinstance(field, np.ndarray)]
        records = len(batch.actions)
        return {
            "bytes_per_record": sum(array.nbytes for array in arrays) / records,
            "peak_bytes_per_record": (peak_bytes() - self.before) / records,
        }


class Inferred(Collected):
    """`Engine.collect` with a convolutional network in PyTorch on the processor: the one of DQN (Mnih et al. 2015)."""

    opening = 0  # it is played without the network, which takes long

    def __init__(self, spec: dict[str, Any]) -> None:
        import torch  # noqa: PLC0415 - only the process that measures it

        super().__init__(spec)
        self.engine.collect(OPENING * spec["n_games"], self.infer)
        self.window = 4 * spec["n_games"]
        torch.manual_seed(SEED)
        self.torch = torch
        self.network = torch.nn.Sequential(
            *(torch.nn.Conv2d(3, 32, 8, 4), torch.nn.ReLU()),
            *(torch.nn.Conv2d(32, 64, 4, 2), torch.nn.ReLU()),
            *(torch.nn.Conv2d(64, 64, 3, 1), torch.nn.ReLU(), torch.nn.Flatten()),
            *(torch.nn.Linear(64 * 8 * 8, 512), torch.nn.ReLU(), torch.nn.Linear(512, N_ACTIONS + 1)),
        )
        self.seconds: dict[str, float] = {}

    def infer(self, obs: Array) -> tuple[Array, Array]:
        """Logits and values of a network that has learned nothing."""
        if not hasattr(self, "network"):
            return super().infer(obs)
        with self.torch.inference_mode():
            pixels = self.torch.tensor(obs).float() / 255
            out = self.network(pixels).numpy()
        return out[:, :N_ACTIONS], out[:, N_ACTIONS]

    def about(self) -> dict[str, Any]:
        """With the version of PyTorch."""
        told = super().about()
        return {**told, "version": f"{told['version']} with PyTorch {self.torch.__version__}"}

    def collect(self) -> Any:  # noqa: ANN401 - of either version
        """A batch, whose times are added up."""
        batch = super().collect()
        for name, seconds in batch.telemetry["seconds"].items():
            self.seconds[name] = self.seconds.get(name, 0.0) + seconds
        return batch

    def report(self) -> dict[str, Any]:
        """Where the time went, as shares of that in which games did not stand still; they overlap."""
        busy = self.seconds["total"] - self.seconds["wait"]
        return {"shares": {name: self.seconds[name] / busy for name in ("step", "render", "infer")}}


class Streamed(Collected):
    """`collect_stream`, and training on each batch for as long as collecting the next one takes.

    All games begin together, and a batch of openings takes five times another one. So how long it is to be is measured
    batch by batch: a second engine of the same seed collects the same ones alone, just before, at nearly the same clock
    of the processor. Training is waiting, as for a device of its own.
    """

    opening = 0  # it is played before there is a second engine, for the memory of the first to be seen

    def __init__(self, spec: dict[str, Any]) -> None:
        super().__init__(spec)
        self.engine.collect(1, self.infer)
        self.before = peak_bytes()
        self.stream = self.engine.collect_stream(WINDOW, self.infer, depth=DEPTH)
        for taken in range(FILLED):
            self.batch = next(self.stream)
            if taken % 2:
                rest()  # as a slow learner, who finds the queue full
        told = self.memory(self.batch)
        self.told = {
            "pages": told["bytes_per_record"] * len(self.batch.actions) / resource.getpagesize(),
            "batches_held": HELD,
            "batches_at_peak": told["peak_bytes_per_record"] / told["bytes_per_record"],
        }
        self.new_pages: list[float] = []
        self.engine = self.made()
        self.engine.collect(1, self.infer)
        for _ in range(FILLED):
            self.collect()
        rest()

    def turn(self, seconds: float) -> dict[str, float]:
        """Batches collected alone for half of the time, and the same ones from the stream while it is trained."""
        self.collect()
        alone: list[float] = []
        while sum(alone) < seconds / 2:
            begin = time.perf_counter()
            self.collect()
            alone.append(time.perf_counter() - begin)
        # The stream had rested with a batch in its queue. It goes on when this one is taken.
        self.batch = next(self.stream)
        steps, trained, faults = 0, 0.0, page_faults()
        begin, begin_cpu = time.perf_counter(), time.process_time()
        for duration in alone:
            begin_training = time.perf_counter()
            time.sleep(duration)
            trained += time.perf_counter() - begin_training
            self.batch = next(self.stream)
            steps += len(self.batch.actions)
        wall, cpu = time.perf_counter() - begin, time.process_time() - begin_cpu
        self.new_pages.append((page_faults() - faults) / len(alone))
        rest()
        return {"steps": steps, "wall": wall, "cpu": cpu, "against": max(sum(alone), trained)}

    def report(self) -> dict[str, Any]:
        """What the stream's first batches took in memory, and pages that a batch of the trials needed anew."""
        return {**self.told, "new_pages": statistics.median(self.new_pages)}


class Halved(Collected):
    """`Engine.collect` with an `infer` that takes as long as stepping: it waits, as for a device of its own.

    How long that is, a second engine of the same seed tells batch by batch, whose `infer` touches observations only.
    """

    def __init__(self, spec: dict[str, Any]) -> None:
        super().__init__(spec)
        self.waiting = self.made()
        self.calls: list[tuple[float, float]] = []
        self.duration = self.inferred = self.due = 0.0

    def infer(self, obs: Array) -> tuple[Array, Array]:
        """Equal logits and values of zero; notes when it was called and when it returned."""
        begin = time.perf_counter()
        answer = super().infer(obs)
        self.calls.append((begin, time.perf_counter()))
        return answer

    def infer_waiting(self, obs: Array) -> tuple[Array, Array]:
        """The same, after a while. What one call has taken too long, the next one lacks."""
        begin = time.perf_counter()
        self.due += self.duration
        answer = super().infer(obs)
        time.sleep(max(0.0, self.due - (time.perf_counter() - begin)))
        took = time.perf_counter() - begin
        self.inferred += took
        self.due -= took
        return answer

    def slice(self) -> int:
        """A batch of either engine; the steps of one of them."""
        self.waiting.collect(WINDOW, self.infer)
        return super().slice()

    def turn(self, seconds: float) -> dict[str, float]:
        """Batch by batch, with an `infer` that costs nothing and with one that takes as long as stepping did."""
        steps, stepped, wall, cpu, self.inferred = 0, 0.0, 0.0, 0.0, 0.0
        while stepped + wall < seconds:
            self.calls = []
            self.collect()
            end = time.perf_counter()
            begins, ends = np.array(self.calls).T
            alone = float(end - begins[0] - (ends - begins).sum())
            stepped += alone
            # Both halves are asked about before each step, and once more behind the last one.
            self.duration = alone / (len(self.calls) - 2)
            begin, begin_cpu = time.perf_counter(), time.process_time()
            batch = self.waiting.collect(WINDOW, self.infer_waiting)
            wall += time.perf_counter() - begin
            cpu += time.process_time() - begin_cpu
            steps += len(batch.actions)
        return {"steps": steps, "wall": wall, "cpu": cpu, "against": stepped + self.inferred}

    def report(self) -> dict[str, Any]:
        """Two engines' memory is nobody's."""
        return {}


KINDS: dict[str, Callable[[dict[str, Any]], Contender]] = {
    "one game": OneGame,
    "one undrawn game": OneUndrawnGame,
    "vector": ManyGames,
    "vector and resets": ManyResets,
    "pool": Pool,
    "one old game": OneOldGame,
    "engine": Collected,
    "engine with a network": Inferred,
    "stream": Streamed,
    "engine with a slow infer": Halved,
}


def peak_bytes() -> int:
    """Most memory that this process has had so far; what `resource` tells may begin with its parent's."""
    status = Path("/proc/self/status")
    if status.exists():
        [line] = [line for line in status.read_text().splitlines() if line.startswith("VmHWM:")]
        return 1024 * int(line.split()[1])
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def page_faults() -> int:
    """Pages of memory that this process has been given so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def serve(spec: dict[str, Any]) -> None:
    """Answers until the input ends."""
    # What libraries print must not stand among the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def answer(values: dict[str, Any]) -> None:
        print(json.dumps(values), file=answers, flush=True)

    if spec["n_threads"] == 1 and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    if spec["cpu_level"]:
        os.environ["REINFORS_CPU"] = spec["cpu_level"]
    contender = KINDS[spec["kind"]](spec)
    steps = 0
    while steps < contender.opening * spec["n_games"]:
        steps += contender.slice()
    answer(contender.about())
    for line in sys.stdin:
        order = json.loads(line)
        answer(contender.turn(order["seconds"]) if "seconds" in order else contender.report())
    answers.close()
    # Threads that stand still in native code are not waited for.
    os._exit(0)


if __name__ == "__main__":
    here = str(Path(__file__).parent)
    *more_packages, contender = sys.argv[1:]
    sys.path[:] = [path for path in sys.path if path != here] + more_packages
    serve(json.loads(contender))
