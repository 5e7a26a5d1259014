"""The main job with the NumPy recipe, steering by three numbers: native threads collect while this file trains.

Read it from top to bottom: game, learner, engine, loop. Network and update are in `reinfors.recipes.ppo_numpy`, the
same training on numbered actions is `reinfors demo`, which is what `make demo` runs.

What to expect: episodes are 400 steps long. Their mean return begins near zero, which is chance, and rises within a
minute. That is a car that takes most bends, not one that drives a lap.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import deque
from pathlib import Path

# Collection has threads of its own; a second pool of BLAS threads would only take their cores.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import reinfors as rf
from reinfors.recipes.ppo_numpy import GAMMA, LAM, SIZE, STACK, Learner


def main() -> None:
    """Trains for a while and leaves the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="how long to train")
    parser.add_argument("--games", type=int, default=64, help="parallel episode slots")
    parser.add_argument("--collect", type=int, default=2048, help="records per update")
    parser.add_argument("--out", type=Path, default=Path("ppo_numpy.npz"), help="where the weights go")
    given = parser.parse_args()

    # A beginner soon leaves the road and finds nothing to learn on the grass, so that short episodes teach more.
    game = rf.games.CarRacing(
        continuous=True, max_steps=400, size=(SIZE, SIZE), gray=True, frame_stack=STACK, frame_skip=4, frames="fast"
    )
    learner = Learner(game, seed=0, first_mean=[0.0, 0.2, -0.3])  # little gas, no brake
    engine = rf.Engine(
        game=game,
        reward=None,  # the reference's own
        policy=rf.policies.Ppo(),
        learner=rf.learners.Ppo(gamma=GAMMA, lam=LAM),
        n_games=given.games,
        seed=0,
    )
    returns: deque[float] = deque(maxlen=given.games)  # of the last episodes
    stop_at = time.monotonic() + given.seconds
    with engine.collect_stream(given.collect, learner.infer) as stream:
        while time.monotonic() < stop_at:
            batch = next(stream)  # the native workers are collecting the next one by now
            learner.train(batch)
            version = engine.weights_updated()
            returns.extend(episode["return"] for episode in batch.telemetry["episodes"])
            reached = f"{np.mean(returns):.1f}" if returns else "not yet known"
            lag = batch.telemetry["lag"]["mean"]
            print(f"update {version}: episode return {reached}, lag {lag:.1f}", flush=True)
    learner.save(given.out)
    print(f"{given.out}: see it drive with  reinfors record drive.gif --policy {given.out}")


if __name__ == "__main__":
    main()
