"""PPO in plain NumPy on small grey pictures: native threads collect the next batch while this trains on the last.

Read it from top to bottom: network, optimiser, policy, update, checkpoint. `examples/ppo_numpy.py` is a loop around it,
`reinfors demo` another. Its figures are tuned to learn to drive in a minute, not to be the best there are.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from reinfors import games

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from reinfors import Batch

    Array = NDArray[Any]

SIZE, STACK = 48, 2  # pixels, frames seen at once
GAMMA, LAM = 0.97, 0.95  # for `reinfors.learners.Ppo`
CLIP, ENTROPY, EPOCHS, MINIBATCH, LEARNING_RATE = 0.2, 0.01, 3, 512, 7e-4
FIRST_LOG_STD = -0.7  # of a policy of vectors
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

    def __init__(self, game: games.Game, *, seed: int, first_mean: Sequence[float] | None = None) -> None:
        """Makes a fresh network.

        Args:
            game: Its observations are `uint8` (2, 48, 48): two grey frames.
            seed: Seed of the weights, the minibatches and of what `act` samples.
            first_mean: The actions that a policy of vectors begins with, as one mean per number; zeros if `None`.

        Raises:
            ValueError: The game has other observations, or `first_mean` another length than its actions.
        """
        if game.obs_shape != (STACK, SIZE, SIZE) or game.obs_dtype != np.uint8:
            wanted = f"uint8 observations of shape {(STACK, SIZE, SIZE)}"
            raise ValueError(f"game must have {wanted}, got {game.obs_dtype} of shape {game.obs_shape}")
        self.game = game
        self.rng = np.random.default_rng(seed)
        self.dimensions = 0 if game.action_low is None else len(game.action_low)
        self.log_prob = gaussian if self.dimensions else categorical
        self.acting = network(2 * self.dimensions or game.n_actions or 0, self.rng)
        if self.dimensions:
            mean = np.zeros(self.dimensions) if first_mean is None else np.asarray(first_mean)
            if mean.shape != (self.dimensions,):
                raise ValueError(f"first_mean must have {self.dimensions} numbers, got shape {mean.shape}")
            self.acting["out.bias"][: 2 * self.dimensions] = [*mean, *[FIRST_LOG_STD] * self.dimensions]
        self.adam = Adam(self.acting)

    def infer(self, obs: Array) -> tuple[Array, Array]:
        """obs: uint8 (rows, STACK, SIZE, SIZE) -> (params (rows, n_params), values (rows,))."""
        return forward(self.acting, picture(obs))[:2]

    def act(self, obs: Array) -> Array:
        """The policy's actions outside the engine: sampled from logits, the mean of a Gaussian."""
        params, _ = self.infer(obs)
        noise = self.rng.gumbel(size=params.shape)  # the largest of logits with Gumbel's noise is a sample
        actions: Array = params[:, : self.dimensions] if self.dimensions else (params + noise).argmax(1)
        return actions

    def train(self, batch: Batch) -> None:
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

    def save(self, path: Path) -> None:
        """Writes the acting weights and which game they are for, as NumPy's `.npz`."""
        about = json.dumps({"game": self.game.name, "options": self.game.options})
        np.savez(path, about=np.array(about), **self.acting)  # type: ignore[arg-type]


def load(path: Path, *, seed: int = 0) -> Learner:
    """The learner that `Learner.save` wrote, its optimiser fresh.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is no such checkpoint.
    """
    try:
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as saved:
            about = json.loads(str(saved["about"]))
            weights = {name: saved[name] for name in saved.files if name != "about"}
        name, options = about["game"], dict(about["options"])
    except (AttributeError, EOFError, LookupError, TypeError, ValueError, BadZipFile) as error:
        raise ValueError(f"{path} must be a checkpoint of reinfors.recipes.ppo_numpy, got another file") from error
    learner = Learner(games.make(name, **options), seed=seed)
    if {name: w.shape for name, w in weights.items()} != {name: w.shape for name, w in learner.acting.items()}:
        raise ValueError(f"{path} must hold this recipe's network, got other weights")
    learner.acting = weights
    return learner
