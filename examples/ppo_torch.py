"""PPO in PyTorch, from pixels: native threads collect the next batch while this file trains on the last one.

python examples/ppo_torch.py --updates 200 --device cuda
"""

from __future__ import annotations

import argparse
import copy

import numpy as np
import torch
from torch import nn

import reinfors as rf
from reinfors.recipes.tensors import Tensors

CLIP, VALUE_WEIGHT, ENTROPY_WEIGHT, EPOCHS = 0.2, 0.5, 0.01, 2


class Network(nn.Module):
    """`uint8` (rows, channels, height, width) -> (params (rows, n_params), values (rows,))."""

    def __init__(self, channels: int, n_params: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            *(nn.Conv2d(channels, 16, 8, stride=4), nn.ReLU(), nn.Conv2d(16, 32, 4, stride=2), nn.ReLU()),
            *(nn.Flatten(), nn.LazyLinear(128), nn.ReLU(), nn.Linear(128, n_params + 1)),
        )

    def forward(self, obs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:  # noqa: D102
        out = self.body(obs.float() / 255)
        return out[:, :-1], out[:, -1]


def loss_of(network: Network, part: Tensors) -> torch.Tensor:
    """The clipped objective of one minibatch."""
    logits, values = network(part.obs)
    policy = torch.distributions.Categorical(logits=logits)
    ratio = (policy.log_prob(part.actions) - part.behavior_log_probs).exp()
    advantages = (part.advantages - part.advantages.mean()) / (part.advantages.std() + 1e-8)
    gain = torch.minimum(ratio * advantages, ratio.clamp(1 - CLIP, 1 + CLIP) * advantages)
    error = (values - part.returns).square()
    return (VALUE_WEIGHT * error - gain - ENTROPY_WEIGHT * policy.entropy()).mean()


def main() -> None:
    """Trains and prints how the episodes went."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("updates", 200), ("games", 32), ("collect", 2048)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    game = rf.games.CarRacing(size=(48, 48), gray=True, frame_stack=2, frame_skip=4, max_steps=400, frames="fast")
    engine = rf.Engine(game, None, rf.policies.Ppo(), rf.learners.Ppo(gamma=0.99, lam=0.95), given.games, seed=0)
    network = Network(engine.obs_shape[0], engine.n_params).to(given.device)
    network(torch.zeros(1, *engine.obs_shape, device=given.device))  # the lazy layer takes its size
    acting = [copy.deepcopy(network)]  # swapped as a whole: the stream's thread never sees half an update
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-4, eps=1e-5)

    @torch.inference_mode()
    def infer(obs: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        return acting[0](torch.from_dlpack(obs).to(given.device))

    with engine.collect_stream(given.collect, infer) as stream:
        for update, batch in zip(range(given.updates), stream, strict=False):
            on_device = batch.torch(given.device)  # bytes travel, floats are made there
            for part in (part for seed in range(EPOCHS) for part in on_device.minibatches(256, seed)):
                optimizer.zero_grad()
                loss_of(network, part).backward()
                nn.utils.clip_grad_norm_(network.parameters(), 0.5)
                optimizer.step()
            acting[0] = copy.deepcopy(network)
            engine.weights_updated()
            print(update, [round(episode["return"]) for episode in batch.telemetry["episodes"]])


if __name__ == "__main__":
    main()
