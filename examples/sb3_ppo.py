"""Stable-Baselines3's PPO on native environments: one line is other than usual, and no process is started.

python examples/sb3_ppo.py --steps 1000000
"""

from __future__ import annotations

import argparse

from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import VecMonitor

import reinfors as rf


def main() -> None:
    """Trains, saves and scores a policy."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--envs", type=int, default=16)
    parser.add_argument("--out", default="sb3_ppo.zip")
    given = parser.parse_args()

    # Sizes, greys, stacks and skips are the game's own: no wrapper, and nothing is drawn that nobody sees.
    game = rf.games.CarRacing(size=(84, 84), gray=True, frame_stack=4, frame_skip=4, max_steps=1000)
    env = VecMonitor(rf.sb3.VecEnv(game, given.envs, seed=0))
    model = PPO("CnnPolicy", env, n_steps=128, batch_size=256, n_epochs=4, verbose=1, seed=0)
    model.learn(given.steps)
    model.save(given.out)

    mean, spread = evaluate_policy(model, env, n_eval_episodes=given.envs)
    print(f"mean return {mean:.1f} +- {spread:.1f}")


if __name__ == "__main__":
    main()
