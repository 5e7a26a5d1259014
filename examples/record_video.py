"""An episode as a film, of several cars beside each other: what `reinfors record` does, in your own hands.

python examples/record_video.py --out drive.mp4 --policy ppo_numpy.npz
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import imageio.v2 as imageio
import numpy as np

import reinfors as rf
from reinfors.recipes import ppo_numpy

FPS = 50  # CarRacing's steps of the simulator in a second


def main() -> None:
    """Plays an episode of each seed and writes one film of all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--policy", type=Path, help="weights that ppo_numpy.py left; at random without")
    parser.add_argument("--cars", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=250, help="decisions after which the film ends")
    parser.add_argument("--width", type=int, default=320, help="of each car's picture, in pixels")
    parser.add_argument("--out", default="drive.mp4", help="ends in .mp4")
    given = parser.parse_args()

    driver = ppo_numpy.load(given.policy) if given.policy else None
    game = driver.game if driver else rf.games.CarRacing(continuous=True, frame_skip=4)
    envs = rf.VecEnv(game, given.cars, seed=given.seed, autoreset="disabled")
    rng = np.random.default_rng(given.seed)
    size = (given.width * 2 // 3 // 2 * 2, given.width // 2 * 2)  # drawn at this size; codecs want even numbers
    skip = game.options["frame_skip"]
    assert isinstance(skip, int)

    obs, _ = envs.reset()
    running, returns = np.ones(given.cars, bool), np.zeros(given.cars)
    film: Any
    with imageio.get_writer(given.out, fps=FPS / skip, macro_block_size=2) as film:
        for _ in range(given.steps):
            film.append_data(np.concatenate([envs.render(i, size) for i in range(given.cars)], axis=1))
            actions = driver.act(obs) if driver else rng.uniform([-1, 0, 0], [1, 1, 0.2], (given.cars, 3))
            obs, rewards, terminated, truncated, _ = envs.step(actions)
            returns += rewards * running
            running &= ~(terminated | truncated)
            if not running.any():
                break
    print(f"{given.out}: seeds {given.seed} to {given.seed + given.cars - 1} returned {returns.round().tolist()}")


if __name__ == "__main__":
    main()
