"""PPO in plain NumPy on CarRacing's pixels: native threads collect the next batch while this file trains on the last.

Read it from top to bottom: picture, network, policy, update, loop, film. `make demo` runs it for a minute.

What to expect: training episodes are 200 steps long. Their mean return begins near 19, which is chance, and is near 50
after 13 updates (seed 0). That is a car that finds its way along the first bends, not one that drives a lap.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

# Collection has threads of its own; a second pool of BLAS threads would only take their cores.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from PIL import Image
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

import reinfors as rf

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

GAMMA, LAM = 0.99, 0.95
CLIP, ENTROPY, EPOCHS, MINIBATCH, LEARNING_RATE = 0.2, 0.01, 3, 512, 7e-4
VALUE_SCALE = 50.0  # returns are some tens to hundreds; the network predicts them in these units


def picture(obs: Array) -> Array:
    """The green channel, halved: grass is bright, road is dark, the car is black. -> float32 (rows, 48, 48, 1)."""
    green = obs[:, 1].astype(np.float32)
    halved = green[:, ::2, ::2] + green[:, 1::2, ::2] + green[:, ::2, 1::2] + green[:, 1::2, 1::2]
    return (halved[..., None] - 600.0) / 200.0


def patches(x: Array, size: int, stride: int) -> Array:
    """(rows, h, w, channels) -> (rows, h', w', channels * size * size): convolution as one matrix product."""
    windows = sliding_window_view(x, (size, size), axis=(1, 2))[:, ::stride, ::stride]
    return windows.reshape(*windows.shape[:3], -1)


class Network:
    """Two convolutions and a hidden layer; the outputs are the policy's parameters and one value."""

    def __init__(self, n_params: int, rng: np.random.Generator) -> None:
        shapes = {"conv1": (64, 16), "conv2": (16 * 9, 32), "hidden": (800, 128), "out": (128, n_params + 1)}
        self.weights: dict[str, Array] = {}
        for name, (rows, columns) in shapes.items():
            gain = 0.1 if name == "out" else 2.0
            self.weights[name] = rng.normal(0, np.sqrt(gain / rows), (rows, columns)).astype(np.float32)
            self.weights[name + ".bias"] = np.zeros(columns, np.float32)

    @staticmethod
    def forward(w: dict[str, Array], x: Array) -> tuple[Array, Array, tuple[Array, ...]]:
        """Pictures -> policy parameters, values, and what the way back needs."""
        p1 = patches(x, 8, 4)  # (rows, 11, 11, 64)
        h1 = np.maximum(p1 @ w["conv1"] + w["conv1.bias"], 0)
        p2 = patches(h1, 3, 2)  # (rows, 5, 5, 144)
        h2 = np.maximum(p2 @ w["conv2"] + w["conv2.bias"], 0).reshape(len(x), 800)
        h3 = np.maximum(h2 @ w["hidden"] + w["hidden.bias"], 0)
        out = h3 @ w["out"] + w["out.bias"]
        return out[:, :-1], out[:, -1] * VALUE_SCALE, (p1, h1, p2, h2, h3)

    @staticmethod
    def backward(w: dict[str, Array], kept: tuple[Array, ...], d_out: Array) -> dict[str, Array]:
        """The gradient of every weight from that of the outputs (rows, n_params + 1)."""
        p1, h1, p2, h2, h3 = kept
        d3 = (d_out @ w["out"].T) * (h3 > 0)
        d2 = ((d3 @ w["hidden"].T) * (h2 > 0)).reshape(-1, 32)
        d_patches = (d2 @ w["conv2"].T).reshape(len(h1), 5, 5, 16, 3, 3)
        d1 = np.zeros_like(h1)
        for row in range(3):
            for column in range(3):  # each patch gives back to the pixels it was made of
                d1[:, row : row + 9 : 2, column : column + 9 : 2] += d_patches[..., row, column]
        d1 = (d1 * (h1 > 0)).reshape(-1, 16)
        layers = {"out": (h3, d_out), "hidden": (h2, d3), "conv2": (p2, d2), "conv1": (p1, d1)}
        gradient = {}
        for name, (inputs, d) in layers.items():
            gradient[name] = inputs.reshape(len(d), -1).T @ d
            gradient[name + ".bias"] = d.sum(0)
        return gradient


class Adam:
    """Adam (Kingma and Ba, 2015) with the gradient's norm clipped to one half."""

    def __init__(self, weights: dict[str, Array]) -> None:
        self.mean = {name: np.zeros_like(w) for name, w in weights.items()}
        self.square = {name: np.zeros_like(w) for name, w in weights.items()}
        self.steps = 0

    def step(self, weights: dict[str, Array], gradient: dict[str, Array]) -> dict[str, Array]:
        """New weights; the old ones stay as they are, since a collecting thread may be reading them."""
        self.steps += 1
        norm = np.sqrt(sum(float(np.vdot(g, g)) for g in gradient.values()))
        scale = min(1.0, 0.5 / (norm + 1e-8))
        rate = LEARNING_RATE * np.sqrt(1 - 0.999**self.steps) / (1 - 0.9**self.steps)
        new = {}
        for name, g in gradient.items():
            self.mean[name] += 0.1 * (g * scale - self.mean[name])
            self.square[name] += 0.001 * ((g * scale) ** 2 - self.square[name])
            new[name] = weights[name] - np.float32(rate) * self.mean[name] / (np.sqrt(self.square[name]) + 1e-5)
        return new


def categorical(logits: Array, actions: Array) -> tuple[Array, Array, Array]:
    """Log-probability of each action, its gradient and the entropy's with respect to the logits."""
    shifted = logits - logits.max(1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    p = np.exp(log_p)
    taken = np.eye(logits.shape[1], dtype=np.float32)[actions]
    entropy = -(p * log_p).sum(1, keepdims=True)
    return (log_p * taken).sum(1), taken - p, -p * (log_p + entropy)


def gaussian(params: Array, actions: Array) -> tuple[Array, Array, Array]:
    """The same for a mean and a log standard deviation per control."""
    mean, log_std = np.split(params, 2, axis=1)
    z = (actions - mean) / np.exp(log_std)
    log_p = (-0.5 * z**2 - log_std - 0.5 * np.log(2 * np.pi)).sum(1)
    gradient = np.concatenate([z / np.exp(log_std), z**2 - 1], axis=1)
    entropy = np.concatenate([np.zeros_like(mean), np.ones_like(log_std)], axis=1)
    return log_p, gradient, entropy


def train(weights: dict[str, Array], adam: Adam, batch: rf.PpoBatch, rng: np.random.Generator) -> dict[str, Array]:
    """Several passes of clipped policy gradient (Schulman et al., 2017) over one batch."""
    log_prob = categorical if batch.actions.ndim == 1 else gaussian
    pictures = picture(batch.obs)
    advantages = (batch.advantages - batch.advantages.mean()) / (batch.advantages.std() + 1e-8)
    for _ in range(EPOCHS):
        for rows in np.array_split(rng.permutation(len(pictures)), max(1, len(pictures) // MINIBATCH)):
            params, values, kept = Network.forward(weights, pictures[rows])
            log_p, d_log_p, d_entropy = log_prob(params, batch.actions[rows])
            ratio = np.exp(log_p - batch.behavior_log_probs[rows])
            advantage = advantages[rows]
            clipped = np.where(advantage > 0, ratio > 1 + CLIP, ratio < 1 - CLIP)
            d_policy = -np.where(clipped, 0, ratio * advantage)[:, None] * d_log_p - ENTROPY * d_entropy
            d_value = (values - batch.returns[rows]) / VALUE_SCALE
            d_out = np.concatenate([d_policy, d_value[:, None]], axis=1, dtype=np.float32) / len(rows)
            weights = adam.step(weights, Network.backward(weights, kept, d_out))
    return weights


class Learner:
    """Weights that train, and the last finished set, which acts: `infer` runs on the collecting thread meanwhile."""

    def __init__(self, *, continuous: bool, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        n_params = 6 if continuous else 5
        self.acting = Network(n_params, self.rng).weights
        if continuous:  # begin with little gas, no brake, and a moderate spread
            self.acting["out.bias"][:6] = [0.0, 0.2, -0.3, -0.7, -0.7, -0.7]
        self.adam = Adam(self.acting)

    def infer(self, obs: Array) -> tuple[Array, Array]:
        """obs: uint8 (rows, 3, 96, 96) -> (params (rows, n_params), values (rows,))."""
        params, values, _ = Network.forward(self.acting, picture(obs))
        return params, values

    def train(self, batch: rf.PpoBatch) -> None:
        """Learns from one batch and lets the new weights act."""
        self.acting = train(self.acting, self.adam, batch, self.rng)


def film(learner: Learner, *, continuous: bool, folder: Path, steps: int = 400) -> None:
    """Drives on a new track with the learner's policy; leaves a GIF of it and a sheet of six moments."""
    game = rf.games.CarRacing(continuous=continuous)
    env = rf.VecEnv(game, n_envs=1, n_threads=1, seed=7)
    obs, _ = env.reset()
    frames = []
    for step in range(steps):
        params, _ = learner.infer(obs)
        if game.n_actions:
            p = np.exp(params[0] - params[0].max())
            actions = learner.rng.choice(game.n_actions, size=1, p=p / p.sum())
        else:
            actions = params[:, :3]  # the mean; the game clips it to its bounds
        obs, _, terminated, _, _ = env.step(actions)
        if step % 2 == 0:
            frames.append(Image.fromarray(env.render(0)).resize((300, 200)))
        if terminated[0]:
            break
    folder.mkdir(parents=True, exist_ok=True)
    moments = [np.asarray(frames[i]) for i in np.linspace(0, len(frames) - 1, 6).astype(int)]
    Image.fromarray(np.vstack([np.hstack(moments[:3]), np.hstack(moments[3:])])).save(folder / "demo.png")
    small = [frame.quantize(64) for frame in frames]
    small[0].save(folder / "demo.gif", save_all=True, append_images=small[1:], duration=40, loop=0)


def main() -> None:
    """The main job: collect on native threads, train here, at the same time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="how long to train")
    parser.add_argument("--continuous", action="store_true", help="steer, gas and brake as a Gaussian's three numbers")
    parser.add_argument("--games", type=int, default=64, help="parallel episode slots")
    parser.add_argument("--collect", type=int, default=4096, help="records per update")
    parser.add_argument("--max-steps", type=int, default=200, help="length of a training episode")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("out"), help="where the GIF and the picture go")
    options = parser.parse_args()

    # A beginner soon leaves the road and finds nothing to learn on the grass, so that short episodes teach more.
    game = rf.games.CarRacing(continuous=options.continuous, max_steps=options.max_steps)
    learner = Learner(continuous=options.continuous, seed=options.seed)
    engine = rf.Engine(
        game=game,
        reward=rf.Reward(tile=1000.0, step=-0.1, off_playfield=-100.0),
        policy=rf.policies.Ppo(),
        learner=rf.learners.Ppo(gamma=GAMMA, lam=LAM),
        n_games=options.games,
        seed=options.seed,
    )
    columns = [BarColumn(), TimeRemainingColumn(), TextColumn("{task.description}")]
    with engine.collect_stream(options.collect, learner.infer) as stream, Progress(*columns) as progress:
        bar = progress.add_task("the first batch is being collected", total=options.seconds)
        start, steps, update = time.monotonic(), 0, 0
        while (elapsed := time.monotonic() - start) < options.seconds:
            batch = next(stream)  # the native workers are collecting the next one by now
            learner.train(batch)
            engine.weights_updated()
            steps, update = steps + len(batch), update + 1
            telemetry = batch.telemetry
            line = (
                f"update {update}: {steps / (time.monotonic() - start):,.0f} steps/s, "
                f"reward per 100 steps {100 * batch.rewards.mean():6.1f}, lag {telemetry['lag']['mean']:.0f}"
            )
            if returns := [episode["return"] for episode in telemetry["episodes"]]:
                progress.console.print(
                    f"{line}, mean return of {len(returns)} episodes {np.mean(returns):.1f}", soft_wrap=True
                )
            progress.update(bar, completed=elapsed, description=line)
    film(learner, continuous=options.continuous, folder=options.out)
    print(f"{options.out / 'demo.gif'} and {options.out / 'demo.png'} show what was learnt")


if __name__ == "__main__":
    main()
