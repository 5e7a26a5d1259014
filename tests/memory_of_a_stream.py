"""Told by a process of its own, in JSON: what a stream's batches take in memory, and how often new pages are needed.

Holds each batch until the next one arrives, as a learner does.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

import numpy as np

import reinfors as rf

DEPTH, BATCHES, RECORDS = 1, 12, 2048


def infer(obs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros((len(obs), 5), np.float32), np.zeros(len(obs), np.float32)


def page_faults() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def peak_bytes() -> int:
    """Most memory that this process has had so far: what `resource` tells of begins with its parent's."""
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:")]
    return 1024 * int(line.split()[1])


def main() -> None:
    game = rf.games.make(rf.games.registered()[0], frames="fast")
    engine = rf.Engine(game, None, rf.policies.Ppo(), rf.learners.Ppo(), n_games=64, n_threads=1, seed=0)
    engine.collect(1, infer)
    before, faults = peak_bytes(), []
    with engine.collect_stream(RECORDS, infer, depth=DEPTH) as stream:
        for _ in range(BATCHES):
            begin = page_faults()
            batch = next(stream)
            faults.append(page_faults() - begin)
    fields = [getattr(batch, name, None) for name in dir(batch) if not name.startswith("_")]
    told = {
        "depth": DEPTH,
        "batch_bytes": sum(field.nbytes for field in fields if isinstance(field, np.ndarray)),
        "peak_growth": peak_bytes() - before,
        "page_faults": faults[BATCHES // 2 :],
    }
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main()
