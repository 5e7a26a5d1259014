"""Double DQN with a native, prioritised replay buffer, in PyTorch, from pixels: collecting and learning overlap.

python examples/dqn_torch.py --updates 5000 --device cuda
"""

from __future__ import annotations

import argparse
import copy

import numpy as np
import torch
from torch import nn

import reinfors as rf

BATCH, SAMPLES, GAMMA, N_STEP, TARGET_EVERY = 64, 4, 0.99, 3, 100


def q_network(channels: int, n_actions: int) -> nn.Module:
    """`uint8` pixels divided by 255, (rows, channels, height, width) -> values of actions (rows, n_actions)."""
    return nn.Sequential(
        *(nn.Conv2d(channels, 16, 8, stride=4), nn.ReLU(), nn.Conv2d(16, 32, 4, stride=2), nn.ReLU()),
        *(nn.Flatten(), nn.LazyLinear(128), nn.ReLU(), nn.Linear(128, n_actions)),
    )


def main() -> None:
    """Trains and prints how the episodes went."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("updates", 5000), ("games", 16), ("collect", 128), ("capacity", 200_000)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    game = rf.games.CarRacing(size=(48, 48), gray=True, frame_stack=2, frame_skip=4, max_steps=400, frames="fast")
    learner = rf.learners.Transitions(n_step=N_STEP, gamma=GAMMA)
    engine = rf.Engine(game, None, rf.policies.EpsilonGreedy(epsilon=1.0), learner, given.games, seed=0)
    replay = rf.Replay(given.capacity, seed=0, alpha=0.6)  # each frame once: 2.4 kB a transition
    network = q_network(engine.obs_shape[0], engine.n_params).to(given.device)
    network(torch.zeros(1, *engine.obs_shape, device=given.device))  # the lazy layer takes its size
    target = copy.deepcopy(network)
    acting = [copy.deepcopy(network)]  # swapped as a whole: the stream's thread never sees half an update
    optimizer = torch.optim.Adam(network.parameters(), lr=2.5e-4)

    @torch.inference_mode()
    def infer(obs: np.ndarray) -> torch.Tensor:
        return acting[0](torch.from_dlpack(obs).to(given.device).float() / 255)

    def train() -> None:
        part = replay.sample(BATCH, beta=0.4)
        seen = part.torch(given.device)  # bytes travel, floats are made there
        rows = torch.arange(BATCH, device=given.device)
        with torch.no_grad():
            after = seen.next_obs.float() / 255
            aim = seen.rewards + seen.discounts * target(after)[rows, network(after).argmax(dim=1)]
        error = network(seen.obs.float() / 255)[rows, seen.actions] - aim
        optimizer.zero_grad()
        (seen.weights * nn.functional.huber_loss(error, torch.zeros_like(error), reduction="none")).mean().backward()
        nn.utils.clip_grad_norm_(network.parameters(), 10)
        optimizer.step()
        replay.update_priorities(part.indices, error.abs().detach())

    with engine.collect_stream(given.collect, infer) as stream:
        for update, batch in zip(range(given.updates), stream, strict=False):
            replay.add(batch)
            for _ in range(SAMPLES):
                train()
            if update % TARGET_EVERY == 0:
                target.load_state_dict(network.state_dict())
            acting[0] = copy.deepcopy(network)
            engine.epsilon = max(0.05, 1 - 2 * update / given.updates)
            engine.weights_updated()
            for episode in batch.telemetry["episodes"]:
                print(update, f"epsilon {engine.epsilon:.2f}", f"return {episode['return']:.0f}")


if __name__ == "__main__":
    main()
