"""Steps per second of Gymnasium's CarRacing-v3 and of reinfors on one core, pixels included, in one run.

    make bench                                  # five trials of ten seconds each
    make bench ARGS="--quick"                   # three of two seconds
    make bench ARGS="--json benchmarks/recorded.json"

All contenders take uniformly random discrete actions, reset what has ended and draw every observation. Steps are those
of the simulator; where an action is repeated, a decision takes several. Trials alternate, so that a busy moment of the
machine falls on all of them; the median counts. A debug build is refused.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import gymnasium
import numpy as np

import reinfors as rf

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SEED = 0
N_GAMES = 64
N_ACTIONS = 5
WINDOW = 1024
SLICE_STEPS = 64  # steps of a single environment between two looks at the clock


# What trainers observe: frames nearly the reference's, the options of the recipes people use, no pixels at all.
RECIPES: dict[str, dict[str, Any]] = {
    "fast frames": {"frames": "fast"},
    "gray 96x96, stack 4, skip 8": {"gray": True, "frame_stack": 4, "frame_skip": 8},
    "gray 64x64, stack 2, skip 2": {"size": (64, 64), "gray": True, "frame_stack": 2, "frame_skip": 2},
    "state only": {"obs": "state"},
}


class Contender(Protocol):
    """Something that can be stepped for a while."""

    name: str
    steps_per_decision: int

    def slice(self) -> int:
        """Steps for a moment and returns the number of environment steps done."""


class OneGame:
    """A plain Gymnasium loop over one environment."""

    steps_per_decision = 1

    def __init__(self, name: str, env_id: str) -> None:
        self.name = name
        self.env = gymnasium.make(env_id, continuous=False)
        self.rng = np.random.default_rng(SEED)
        self.first_obs, _ = self.env.reset(seed=SEED)

    def slice(self) -> int:
        """Steps the environment through a handful of random actions."""
        for action in self.rng.integers(N_ACTIONS, size=SLICE_STEPS):
            _, _, terminated, truncated, _ = self.env.step(action)
            if terminated or truncated:
                self.env.reset()
        return SLICE_STEPS


class ManyGames:
    """`VecEnv` with all games on one thread."""

    def __init__(self, name: str = "", **options: Any) -> None:  # noqa: ANN401
        self.name = f"reinfors, {name or f'VecEnv of {N_GAMES}'}"
        self.steps_per_decision: int = options.get("frame_skip", 1)
        self.envs = rf.VecEnv(rf.games.CarRacing(**options), n_envs=N_GAMES, n_threads=1, seed=SEED)
        self.rng = np.random.default_rng(SEED)
        self.envs.reset()

    def slice(self) -> int:
        """Takes one decision in every game."""
        self.envs.step(self.rng.integers(N_ACTIONS, size=N_GAMES))
        return N_GAMES * self.steps_per_decision


class Collected:
    """`Engine.collect` with an `infer` that costs nothing: what arrives in a batch."""

    name = f"reinfors, Engine of {N_GAMES}"
    steps_per_decision = 1

    def __init__(self) -> None:
        self.engine = rf.Engine(
            game=rf.games.CarRacing(),
            reward=None,
            policy=rf.policies.Ppo(),
            learner=rf.learners.Ppo(gamma=0.99, lam=0.95),
            n_games=N_GAMES,
            n_threads=1,
            seed=SEED,
        )
        self.logits = np.zeros((2 * N_GAMES, N_ACTIONS), np.float32)
        self.values = np.zeros(2 * N_GAMES, np.float32)

    def infer(self, obs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Equal logits, so that actions are uniformly random, and values of zero."""
        return self.logits[: len(obs)], self.values[: len(obs)]

    def slice(self) -> int:
        """Collects a batch."""
        return len(self.engine.collect(WINDOW, self.infer))


class Speed(NamedTuple):
    """Steps per second of one trial. On an idle machine the two are equal; on a busy one the second is the fairer."""

    wall: float
    cpu: float


class Result(NamedTuple):
    """The trials of one contender."""

    name: str
    trials: list[Speed]
    steps_per_decision: int

    @property
    def median(self) -> Speed:
        """The figures that count."""
        return Speed(*(statistics.median(figures) for figures in zip(*self.trials, strict=True)))


def measured(contender: Contender, seconds: float) -> Speed:
    """Steps per second over at least `seconds`."""
    steps, start, start_cpu = 0, time.perf_counter(), time.process_time()
    while (elapsed := time.perf_counter() - start) < seconds:
        steps += contender.slice()
    return Speed(steps / elapsed, steps / (time.process_time() - start_cpu))


def race(contenders: Sequence[Contender], trials: int, seconds: float) -> Iterator[tuple[int, Contender, Speed]]:
    """Every contender `trials` times, in an order that turns round, after a warm-up that does not count."""
    for contender in contenders:
        measured(contender, seconds / 10)
    for trial in range(trials):
        for contender in contenders if trial % 2 == 0 else reversed(contenders):
            yield trial, contender, measured(contender, seconds)


def machine() -> dict[str, Any]:
    """Everything a figure depends on."""
    cpu = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        cpu = names[0] if names else cpu
    packages = ("gymnasium", "box2d", "pygame-ce", "numpy")
    return {
        "when": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "cpu": cpu,
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "system": platform.platform(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in packages},
        "build": rf.build_info(),
        "commit": commit(),
        "command": " ".join(["python", *sys.argv]),
    }


def commit() -> str:
    """The checkout's commit, marked where files differ from it; "unknown" outside a checkout."""
    describe = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        return subprocess.run(describe, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def on_one_core() -> None:
    """Keeps this process, with every thread it starts, on one core where the system allows it."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def table(results: Sequence[Result]) -> str:
    """Medians, the spread of the first, the ratios to the first contender, and the cost of a decision."""
    columns = f"{'steps/s':>9}{'lowest':>9}{'highest':>9}{'ratio':>7}{'per CPU second':>16}{'ratio':>7}"
    lines = [f"{'':38}{columns}{'us/step':>9}{'us/decision':>13}"]
    base = results[0].median
    for result in results:
        median, walls = result.median, [trial.wall for trial in result.trials]
        cost = 1e6 / median.cpu
        lines.append(
            f"{result.name:38}{median.wall:9,.0f}{min(walls):9,.0f}{max(walls):9,.0f}{median.wall / base.wall:7.1f}"
            f"{median.cpu:16,.0f}{median.cpu / base.cpu:7.1f}{cost:9.1f}{cost * result.steps_per_decision:13.1f}"
        )
    return "\n".join(lines)


def main() -> None:
    """Runs the race and prints it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="three trials of two seconds")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results here as well")
    arguments = parser.parse_args()
    if rf.build_info()["profile"] != "release":
        sys.exit("a debug build is not measured: run `make bench`, which builds the release profile")
    trials, seconds = (3, 2.0) if arguments.quick else (5, 10.0)

    about = machine()
    on_one_core()
    gymnasium_loop = OneGame("Gymnasium, one game", "CarRacing-v3")
    reinfors_loop = OneGame("reinfors, one game", "reinfors/CarRacing-v3")
    if not np.array_equal(gymnasium_loop.first_obs, reinfors_loop.first_obs):
        sys.exit("the first observations differ: the contenders do not do the same work")
    contenders: list[Contender] = [gymnasium_loop, reinfors_loop, ManyGames(), Collected()]
    contenders += [ManyGames(name, **options) for name, options in RECIPES.items()]

    results = {contender.name: Result(contender.name, [], contender.steps_per_decision) for contender in contenders}
    for trial, contender, speed in race(contenders, trials, seconds):
        results[contender.name].trials.append(speed)
        print(f"\rtrial {trial + 1} of {trials}: {contender.name:38}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)

    print(f"{about['cpu']}, one core, load {about['load']} at the start; {about['system']}; Python {about['python']}")
    print(", ".join(f"{name} {number}" for name, number in about["packages"].items()))
    print(f"reinfors {about['build']['version']} ({about['build']['profile']}), commit {about['commit']}")
    print(f"median of {trials} trials of {seconds:g} s, alternating; random discrete actions, 96x96x3 unless named;")
    print("us are microseconds of CPU time\n")
    print(table(list(results.values())))
    if arguments.json:
        rows = {
            name: {
                "median": r.median._asdict(),
                "trials": [trial._asdict() for trial in r.trials],
                "steps_per_decision": r.steps_per_decision,
            }
            for name, r in results.items()
        }
        record = {"machine": about, "trials": trials, "seconds": seconds, "steps_per_second": rows}
        arguments.json.write_text(json.dumps(record, indent=2) + "\n")


if __name__ == "__main__":
    main()
