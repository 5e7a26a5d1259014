"""PPO in plain NumPy on CarRacing's pixels: native threads collect the next batch while this file trains on the last.

Read it from top to bottom: network, optimiser, policy, update, film, loop. `make demo` runs it for a minute.

What to expect: episodes are 400 steps long. Their mean return begins near zero, which is chance, and was 115 after 24
updates (seed 0), or 143 after 21 with --continuous. That is a car that takes most bends, not one that drives a lap.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import deque
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

SIZE, STACK, SKIP = 48, 2, 4  # pixels, frames seen at once, steps of the simulator per decision
GAMMA, LAM = 0.97, 0.95
CLIP, ENTROPY, EPOCHS, MINIBATCH, LEARNING_RATE = 0.2, 0.01, 3, 512, 7e-4
VALUE_SCALE = 30.0  # returns are some tens; the network predicts them in these units


def picture(obs: Array) -> Array:
    """uint8 (rows, STACK, SIZE, SIZE) -> float32 (rows, SIZE, SIZE, STACK): grass is bright, road and car are dark."""
    return (np.moveaxis(obs, 1, -1).astype(np.float32) - 128) / 64


def patches(x: Array, size: int, stride: int) -> Array:
    """(rows, h, w, channels) -> (rows, h', w', channels * size * size): convolution as one matrix product."""
    windows = sliding_window_view(x, (size, size), axis=(1, 2))[:, ::stride, ::stride]
    return windows.reshape(*windows.shape[:3], -1)


def network(n_params: int, rng: np.random.Generator) -> dict[str, Array]:
    """Fresh weights of two convolutions and a hidden layer; the outputs are the policy's parameters and one value."""
    shapes = {"conv1": (64 * STACK, 16), "conv2": (9 * 16, 32), "hidden": (800, 128), "out": (128, n_params + 1)}
    weights = {}
    for name, (rows, columns) in shapes.items():
        gain = 0.1 if name == "out" else 2.0
        weights[name] = rng.normal(0, np.sqrt(gain / rows), (rows, columns)).astype(np.float32)
        weights[name + ".bias"] = np.zeros(columns, np.float32)
    return weights


def forward(w: dict[str, Array], x: Array) -> tuple[Array, Array, tuple[Array, ...]]:
    """Pictures -> policy parameters, values, and what the way back needs."""
    p1 = patches(x, 8, 4)  # (rows, 11, 11, 64 * STACK)
    h1 = np.maximum(p1 @ w["conv1"] + w["conv1.bias"], 0)
    p2 = patches(h1, 3, 2)  # (rows, 5, 5, 144)
    h2 = np.maximum(p2 @ w["conv2"] + w["conv2.bias"], 0).reshape(len(x), 800)
    h3 = np.maximum(h2 @ w["hidden"] + w["hidden.bias"], 0)
    out = h3 @ w["out"] + w["out.bias"]
    return out[:, :-1], out[:, -1] * VALUE_SCALE, (p1, h1, p2, h2, h3)


def backward(w: dict[str, Array], kept: tuple[Array, ...], d_out: Array) -> dict[str, Array]:
    """The gradient of every weight from that of the outputs (rows, n_params + 1)."""
    p1, h1, p2, h2, h3 = kept
    d3 = (d_out @ w["out"].T) * (h3 > 0)
    d2 = ((d3 @ w["hidden"].T) * (h2 > 0)).reshape(-1, 32)
    d_patches = (d2 @ w["conv2"].T).reshape(len(h1), 5, 5, 16, 3, 3)
    d1 = np.zeros_like(h1)
    for row, column in np.ndindex(3, 3):  # each patch gives back to the pixels it was made of
        d1[:, row : row + 9 : 2, column : column + 9 : 2] += d_patches[..., row, column]
    d1 = (d1 * (h1 > 0)).reshape(-1, 16)
    gradient = {}
    for name, inputs, d in [("out", h3, d_out), ("hidden", h2, d3), ("conv2", p2, d2), ("conv1", p1, d1)]:
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
        rate = np.float32(LEARNING_RATE * np.sqrt(1 - 0.999**self.steps) / (1 - 0.9**self.steps))
        new = {}
        for name, g in gradient.items():
            self.mean[name] += 0.1 * (g * scale - self.mean[name])
            self.square[name] += 0.001 * ((g * scale) ** 2 - self.square[name])
            new[name] = weights[name] - rate * self.mean[name] / (np.sqrt(self.square[name]) + 1e-5)
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
    return log_p, gradient, np.concatenate([np.zeros_like(mean), np.ones_like(log_std)], axis=1)


class Learner:
    """Weights that train, and the last finished set, which acts: `infer` runs on the collecting thread meanwhile."""

    def __init__(self, *, continuous: bool, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.log_prob = gaussian if continuous else categorical
        self.acting = network(6 if continuous else 5, self.rng)
        if continuous:  # begin with little gas, no brake, and a moderate spread
            self.acting["out.bias"][:6] = [0.0, 0.2, -0.3, -0.7, -0.7, -0.7]
        self.adam = Adam(self.acting)

    def infer(self, obs: Array) -> tuple[Array, Array]:
        """obs: uint8 (rows, STACK, SIZE, SIZE) -> (params (rows, n_params), values (rows,))."""
        return forward(self.acting, picture(obs))[:2]

    def act(self, obs: Array) -> Array:
        """The policy's actions outside the engine: sampled from logits, the mean of a Gaussian."""
        params, _ = self.infer(obs)
        noise = self.rng.gumbel(size=params.shape)  # the largest of logits with Gumbel's noise is a sample
        actions: Array = params[:, :3] if self.log_prob is gaussian else (params + noise).argmax(1)
        return actions

    def train(self, batch: rf.PpoBatch) -> None:
        """Several passes of clipped policy gradient (Schulman et al., 2017); then the new weights act."""
        weights, pictures = self.acting, picture(batch.obs)
        advantages = (batch.advantages - batch.advantages.mean()) / (batch.advantages.std() + 1e-8)
        for _ in range(EPOCHS):
            for rows in np.array_split(self.rng.permutation(len(batch)), max(1, len(batch) // MINIBATCH)):
                params, values, kept = forward(weights, pictures[rows])
                log_p, d_log_p, d_entropy = self.log_prob(params, batch.actions[rows])
                ratio = np.exp(log_p - batch.behavior_log_probs[rows])
                clipped = np.where(advantages[rows] > 0, ratio > 1 + CLIP, ratio < 1 - CLIP)
                push = np.where(clipped, 0, ratio * advantages[rows])[:, None]
                d_value = (values - batch.returns[rows])[:, None] / VALUE_SCALE
                d_out = np.hstack([-push * d_log_p - ENTROPY * d_entropy, d_value]) / len(rows)
                weights = self.adam.step(weights, backward(weights, kept, d_out.astype(np.float32)))
        self.acting = weights


def film(learner: Learner, game: rf.games.Game, folder: Path, tracks: int = 3) -> str:
    """Drives an episode on each of some new tracks; leaves a GIF of the median one and a sheet of six moments of it."""
    envs = rf.VecEnv(game, n_envs=tracks, seed=7)
    obs, _ = envs.reset()
    running, returns = np.ones(tracks, bool), np.zeros(tracks)
    frames: list[list[Image.Image]] = [[] for _ in range(tracks)]
    while running.any():
        obs, rewards, terminated, truncated, _ = envs.step(learner.act(obs))
        returns += rewards * running
        for track in range(tracks):
            if running[track]:
                frames[track].append(Image.fromarray(envs.render(track)).resize((300, 200)))
        running &= ~(terminated | truncated)
    chosen = frames[np.argsort(returns)[tracks // 2]]
    moments = [np.asarray(chosen[i]) for i in np.linspace(0, len(chosen) - 1, 6).astype(int)]
    folder.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.vstack([np.hstack(moments[:3]), np.hstack(moments[3:])])).save(folder / "demo.png")
    first, *others = [frame.quantize(64) for frame in chosen]
    first.save(folder / "demo.gif", save_all=True, append_images=others, duration=20 * SKIP, loop=0)
    return f"{folder / 'demo.gif'}: the median of {tracks} new tracks, returns {np.sort(returns).round().tolist()}"


def main() -> None:
    """The main job: collect on native threads, train here, at the same time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="how long to train")
    parser.add_argument("--continuous", action="store_true", help="steer, gas and brake as a Gaussian's three numbers")
    parser.add_argument("--games", type=int, default=64, help="parallel episode slots")
    parser.add_argument("--collect", type=int, default=2048, help="records per update")
    parser.add_argument("--max-steps", type=int, default=400, help="length of an episode in steps of the simulator")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("out"), help="where the GIF and the picture go")
    options = parser.parse_args()

    # A beginner soon leaves the road and finds nothing to learn on the grass, so that short episodes teach more.
    game = rf.games.CarRacing(
        continuous=options.continuous,
        max_steps=options.max_steps,
        size=(SIZE, SIZE),
        gray=True,
        frame_stack=STACK,
        frame_skip=SKIP,
        frames="fast",
    )
    learner = Learner(continuous=options.continuous, seed=options.seed)
    engine = rf.Engine(
        game=game,
        reward=None,  # the reference's own
        policy=rf.policies.Ppo(),
        learner=rf.learners.Ppo(gamma=GAMMA, lam=LAM),
        n_games=options.games,
        seed=options.seed,
    )
    columns = [BarColumn(20), TimeRemainingColumn(), TextColumn("{task.description}")]
    with engine.collect_stream(options.collect, learner.infer) as stream, Progress(*columns) as progress:
        bar = progress.add_task("the first batch is being collected", total=options.seconds)
        returns: deque[float] = deque(maxlen=options.games)  # of the last episodes
        start, records, update = time.monotonic(), 0, 0
        while (elapsed := time.monotonic() - start) < options.seconds:
            batch = next(stream)  # the native workers are collecting the next one by now
            learner.train(batch)
            engine.weights_updated()
            records, update = records + len(batch), update + 1
            returns.extend(episode["return"] for episode in batch.telemetry["episodes"])
            speed, lag = SKIP * records / (time.monotonic() - start), batch.telemetry["lag"]["mean"]
            reached = f"{np.mean(returns):.1f}" if returns else "not yet known"
            line = f"update {update}: {speed:,.0f} steps/s, episode return {reached}, lag {lag:.1f}"
            progress.update(bar, completed=elapsed, description=line)
    print(film(learner, game, options.out))


if __name__ == "__main__":
    main()
