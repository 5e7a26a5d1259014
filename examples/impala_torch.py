"""IMPALA in PyTorch, from pixels: the stream runs batches ahead of the learner, and V-trace makes up for their age.

python examples/impala_torch.py --updates 2000 --device cuda
"""

from __future__ import annotations

import argparse
import copy

import numpy as np
import torch
from torch import nn

import reinfors as rf

GAMMA, VALUE_WEIGHT, ENTROPY_WEIGHT, AHEAD = 0.99, 0.5, 0.01, 2
UNIT = 25.0  # rewards are learnt from in this unit: a car that takes bends gets a few of them


class Network(nn.Module):
    """`uint8` (rows, channels, height, width) -> (logits (rows, n_actions), values (rows,))."""

    def __init__(self, channels: int, n_actions: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            *(nn.Conv2d(channels, 16, 8, stride=4), nn.ReLU(), nn.Conv2d(16, 32, 4, stride=2), nn.ReLU()),
            *(nn.Flatten(), nn.LazyLinear(128), nn.ReLU(), nn.Linear(128, n_actions + 1)),
        )

    def forward(self, obs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:  # noqa: D102
        out = self.body(obs.float() / 255)
        return out[:, :-1], out[:, -1]


def main() -> None:
    """Trains and prints how the episodes went and how old the records were."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("updates", 2000), ("games", 32), ("collect", 640)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    game = rf.games.CarRacing(size=(48, 48), gray=True, frame_stack=2, frame_skip=4, max_steps=400, frames="fast")
    learner = rf.learners.Vtrace(gamma=GAMMA, rho_clip=1.0, c_clip=1.0)
    reward = rf.Reward(tile=1000 / UNIT, step=-0.1 / UNIT, off_playfield=-100 / UNIT)
    engine = rf.Engine(game, reward, rf.policies.Ppo(), learner, given.games, seed=0)
    network = Network(engine.obs_shape[0], engine.n_params).to(given.device)
    network(torch.zeros(1, *engine.obs_shape, device=given.device))  # the lazy layer takes its size
    acting = [copy.deepcopy(network)]  # swapped as a whole: the stream's thread never sees half an update
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-4, eps=1e-5)

    @torch.inference_mode()
    def infer(obs: np.ndarray) -> torch.Tensor:
        return acting[0](torch.from_dlpack(obs).to(given.device))[0]

    with engine.collect_stream(given.collect, infer, depth=AHEAD) as stream:
        for update, batch in zip(range(given.updates), stream, strict=False):
            seen = batch.torch(given.device)  # bytes travel, floats are made there
            logits, values = network(seen.obs)
            policy = torch.distributions.Categorical(logits=logits)
            log_probs = policy.log_prob(seen.actions)
            with torch.no_grad():  # what follows the window, and what cut-off episodes stopped with
                beyond = [network(obs)[1] for obs in (seen.last_obs, seen.final_obs)]
            corrected = batch.vtrace(*(tensor.detach().cpu() for tensor in (log_probs, values, *beyond)))
            targets, advantages = (torch.from_numpy(array).to(given.device) for array in corrected)
            loss = VALUE_WEIGHT * (values - targets).square() - log_probs * advantages
            optimizer.zero_grad()
            (loss - ENTROPY_WEIGHT * policy.entropy()).mean().backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            acting[0] = copy.deepcopy(network)
            engine.weights_updated()
            returns = [round(episode["return"] * UNIT) for episode in batch.telemetry["episodes"]]
            print(update, f"lag {batch.telemetry['lag']['mean']:.1f}", returns)


if __name__ == "__main__":
    main()
