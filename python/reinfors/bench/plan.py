"""What is compared with what: the sections of the benchmark and the contenders of each."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from reinfors.envs import PUBLIC_ENVS

if TYPE_CHECKING:
    from collections.abc import Sequence

# The names of sections say nothing of this machine: a record is read on others too.
ENV = PUBLIC_ENVS[0]
N_GAMES = 64
ALL_THREADS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

FAST = {"frames": "fast"}
STATE = {"obs": "state"}
BASELINE = "baseline"
GRAY_96 = {"gray": True, "frame_stack": 4, "frame_skip": 8}
GRAY_64 = {"size": (64, 64), "gray": True, "frame_stack": 2, "frame_skip": 2}

ONE_GAME = "One game in a plain loop"
VECTOR = f"{N_GAMES} games stepped by the caller, one thread"
VECTOR_ALL = f"{N_GAMES} games stepped by the caller, all threads"
ENGINE = f"{N_GAMES} games collected into batches, one thread"
ENGINE_ALL = f"{N_GAMES} games collected into batches, all threads"
STREAM = "Collecting and training for as long, all threads"
HALVES = "Stepping, and an infer that takes as long"
NETWORK = f"{N_GAMES} games and a PyTorch network on the same cores, all threads"
STATE_ONLY = "State only, one thread"
RECIPES = f"Other observations, {N_GAMES} games stepped by the caller, one thread"

DRIVERS = ("random", "fast")
GYMNASIUM, ENVPOOL, OLD = "Gymnasium", "EnvPool", "reinfors 0.4"
HERE = "reinfors"
WITH_TORCH = "reinfors and PyTorch"


@dataclass(frozen=True)
class Entry:
    """One contender of one section.

    Attributes:
        section: Heading of the rows that it is compared with.
        peer: Whose it is: one of `GYMNASIUM`, `ENVPOOL`, `OLD`, `HERE` and `WITH_TORCH`.
        what: What is asked of it, in a word or two.
        kind: Key of `contenders.KINDS`.
        options: Options of the game.
        driver: `"random"`: uniform actions; `"fast"`: held ones, mostly gas.
        cpu_level: Vector instructions that ours is kept to, as `REINFORS_CPU` names them; none: the processor's best.
    """

    section: str
    peer: str
    what: str
    kind: str
    options: dict[str, Any] = field(default_factory=dict)
    driver: str = "random"
    n_games: int = N_GAMES
    n_threads: int = 1
    cpu_level: str = ""

    @property
    def name(self) -> str:
        """How it is called in a section."""
        driver = "" if self.driver == "random" else f", {self.driver} driver"
        return f"{self.peer}, {self.what}{driver}"

    @property
    def steps_per_decision(self) -> int:
        """Simulated steps that an action is repeated for."""
        skip: int = self.options.get("frame_skip", 1)
        return skip

    def spec(self) -> dict[str, Any]:
        """What the contender's process is told."""
        distributions = {GYMNASIUM: "gymnasium", ENVPOOL: "envpool"}
        env_id = f"reinfors/{ENV.id}" if self.peer == HERE else ENV.id
        return {**asdict(self), "library": distributions.get(self.peer, "reinfors"), "env_id": env_id, "game": ENV.game}


def _one_game(driver: str) -> list[Entry]:
    def entry(peer: str, what: str, kind: str, options: dict[str, Any] | None = None) -> Entry:
        return Entry(ONE_GAME, peer, what, kind, options or {}, driver, n_games=1)

    listed = [
        entry(GYMNASIUM, ENV.id, "one game"),
        entry(HERE, "exact frames", "one game"),
        entry(HERE, "fast frames", "one game", FAST),
    ]
    # Two peers are driven at random only, for time's sake.
    others = [entry(ENVPOOL, "pool of one", "pool"), entry(OLD, "Env", "one old game")]
    return listed + others if driver == DRIVERS[0] else listed


def _vector(section: str, driver: str, n_threads: int) -> list[Entry]:
    def entry(peer: str, what: str, kind: str, options: dict[str, Any] | None = None) -> Entry:
        return Entry(section, peer, what, kind, options or {}, driver, n_threads=n_threads)

    kind = "vector and resets" if (section, driver) == (VECTOR, DRIVERS[0]) else "vector"
    return [
        entry(HERE, "exact frames", kind),
        entry(HERE, "fast frames", kind, FAST),
        entry(ENVPOOL, "synchronous", "pool"),
    ]


def _baseline(options: dict[str, Any], section: str, what: str) -> Entry:
    return Entry(section, HERE, f"{what}, {BASELINE}", "vector", options, cpu_level=BASELINE)


def _state_only() -> list[Entry]:
    return [
        Entry(STATE_ONLY, GYMNASIUM, f"{ENV.id} without its drawing", "one undrawn game", n_games=1),
        Entry(STATE_ONLY, HERE, "state", "vector and resets", STATE),
        _baseline(STATE, STATE_ONLY, "state"),
    ]


def _engine(section: str, n_threads: int) -> list[Entry]:
    return [
        Entry(section, HERE, "exact frames", "engine", n_threads=n_threads),
        Entry(section, HERE, "fast frames", "engine", FAST, n_threads=n_threads),
        Entry(section, OLD, "Engine", "engine", n_threads=n_threads),
    ]


def _overlapped() -> list[Entry]:
    return [
        Entry(STREAM, HERE, "collect_stream", "stream", n_threads=ALL_THREADS),
        Entry(STREAM, OLD, "collect_stream", "stream", n_threads=ALL_THREADS),
        *(
            Entry(HALVES, HERE, f"Engine.collect, {threads}", "engine with a slow infer", n_threads=n_threads)
            for threads, n_threads in (("one thread", 1), ("all threads", ALL_THREADS))
        ),
    ]


def _networks() -> list[Entry]:
    return [
        Entry(NETWORK, WITH_TORCH, what, "engine with a network", options, n_threads=ALL_THREADS)
        for what, options in (("exact frames", {}), ("fast frames", FAST))
    ]


def _recipes() -> list[Entry]:
    recipes: dict[str, dict[str, Any]] = {
        "gray 96x96, stack 4, skip 8, exact": GRAY_96,
        "gray 96x96, stack 4, skip 8, fast": GRAY_96 | FAST,
        "gray 64x64, stack 2, skip 2, exact": GRAY_64,
        "gray 64x64, stack 2, skip 2, fast": GRAY_64 | FAST,
    }
    return [Entry(RECIPES, HERE, what, "vector", options) for what, options in recipes.items()]


def entries(drivers: Sequence[str] = DRIVERS) -> list[Entry]:
    """Every contender, in the order of turns: those that are compared with each other are near each other."""
    first, *others = drivers
    listed = _one_game(first) + _vector(VECTOR, first, 1) + [_baseline({}, VECTOR, "exact frames")]
    listed += _vector(VECTOR_ALL, first, ALL_THREADS)
    listed += _engine(ENGINE, 1) + _engine(ENGINE_ALL, ALL_THREADS)
    listed += _overlapped() + _networks() + _state_only() + _recipes()
    for driver in others:
        listed += _one_game(driver) + _vector(VECTOR, driver, 1)
    return listed
