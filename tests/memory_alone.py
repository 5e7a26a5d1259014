"""Told by a process of its own, in JSON: what a stream's batches take in memory, or a film.

`memory_alone.py stream` holds each batch until the next one arrives, as a learner does, and tells how often new pages
are needed too. `memory_alone.py film FILE STEPS` writes a film after one of three steps.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import reinfors as rf
from reinfors.bench.contenders import peak_bytes
from reinfors.cli import choice, record

if TYPE_CHECKING:
    from collections.abc import Callable

GAME = rf.games.registered()[0]
DEPTH, BATCHES, RECORDS = 1, 12, 2048


def infer(obs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros((len(obs), 5), np.float32), np.zeros(len(obs), np.float32)


def page_faults() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def stream() -> dict[str, Any]:
    game = rf.games.make(GAME, frames="fast")
    engine = rf.Engine(game, None, rf.policies.Ppo(), rf.learners.Ppo(), n_games=64, n_threads=1, seed=0)
    engine.collect(1, infer)
    before, faults = peak_bytes(), []
    with engine.collect_stream(RECORDS, infer, depth=DEPTH) as batches:
        for _ in range(BATCHES):
            begin = page_faults()
            batch = next(batches)
            faults.append(page_faults() - begin)
    fields = [getattr(batch, name, None) for name in dir(batch) if not name.startswith("_")]
    return {
        "depth": DEPTH,
        "batch_bytes": sum(field.nbytes for field in fields if isinstance(field, np.ndarray)),
        "peak_growth": peak_bytes() - before,
        "page_faults": faults[BATCHES // 2 :],
    }


def film(out: str, steps: str) -> dict[str, Any]:
    game = choice.game(GAME, ["frames=fast"])
    act = choice.RandomPolicy(game, 0)
    record.record(game, act, Path(out), seed=0, most=3, width=600, fps=None)
    before = peak_bytes()
    told = record.record(game, act, Path(out), seed=0, most=int(steps), width=600, fps=None)
    return {"steps": told["steps"], "peak_growth": peak_bytes() - before}


WORK: dict[str, Callable[..., dict[str, Any]]] = {"stream": stream, "film": film}

if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    sys.stdout.write(json.dumps(WORK[what](*arguments)))
