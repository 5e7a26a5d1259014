"""PPO in JAX, from pixels: native threads collect the next batch while this file trains on the last one.

python examples/ppo_jax.py --updates 200
"""

from __future__ import annotations

import argparse

import jax
import jax.numpy as jnp
import numpy as np

import reinfors as rf

CLIP, VALUE_WEIGHT, ENTROPY_WEIGHT, LEARNING_RATE, EPOCHS = 0.2, 0.5, 0.01, 3e-4, 2
Weights = list[jax.Array]


@jax.jit
def forward(weights: Weights, obs: jax.Array) -> tuple[jax.Array, jax.Array]:
    """`uint8` (rows, channels, 48, 48) -> (params (rows, n_params), values (rows,))."""
    x = obs.astype(jnp.float32) / 255
    for kernel, stride in zip(weights[:2], (4, 2), strict=True):
        x = jax.nn.relu(jax.lax.conv_general_dilated(x, kernel, (stride, stride), "VALID"))
    out = jax.nn.relu(x.reshape(len(x), -1) @ weights[2]) @ weights[3]
    return out[:, :-1], out[:, -1]


def loss(weights: Weights, part: dict[str, jax.Array]) -> jax.Array:
    """The clipped objective of one minibatch."""
    logits, values = forward(weights, part["obs"])
    log_p = jax.nn.log_softmax(logits)
    ratio = jnp.exp(log_p[jnp.arange(len(log_p)), part["actions"]] - part["behavior_log_probs"])
    advantages = jax.nn.standardize(part["advantages"], epsilon=1e-8)
    gain = jnp.minimum(ratio * advantages, jnp.clip(ratio, 1 - CLIP, 1 + CLIP) * advantages)
    negative_entropy = (jnp.exp(log_p) * log_p).sum(axis=1)
    return (VALUE_WEIGHT * (values - part["returns"]) ** 2 - gain + ENTROPY_WEIGHT * negative_entropy).mean()


@jax.jit
def adam(state: tuple[Weights, Weights, Weights], count: int, part: dict[str, jax.Array]) -> tuple[Weights, ...]:
    """One step: weights and the moments of their slopes."""
    slopes = jax.grad(loss)(state[0], part)
    first = [0.9 * m + 0.1 * slope for m, slope in zip(state[1], slopes, strict=True)]
    second = [0.999 * v + 0.001 * slope**2 for v, slope in zip(state[2], slopes, strict=True)]
    rate = LEARNING_RATE * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
    return [w - rate * m / (jnp.sqrt(v) + 1e-5) for w, m, v in zip(state[0], first, second, strict=True)], first, second


def main() -> None:
    """Trains and prints how the episodes went."""
    parser = argparse.ArgumentParser()
    for name, default in (("updates", 200), ("games", 32), ("collect", 2048)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    game = rf.games.CarRacing(size=(48, 48), gray=True, frame_stack=2, frame_skip=4, max_steps=400, frames="fast")
    engine = rf.Engine(game, None, rf.policies.Ppo(), rf.learners.Ppo(gamma=0.99, lam=0.95), given.games, seed=0)
    shapes = [(16, 2, 8, 8), (32, 16, 4, 4), (512, 128), (128, engine.n_params + 1)]
    weights = [0.06 * jax.random.normal(jax.random.key(seed), shape) for seed, shape in enumerate(shapes)]
    state, count, acting = (weights, [0 * w for w in weights], [0 * w for w in weights]), 0, [weights]

    def infer(obs: np.ndarray) -> tuple[jax.Array, jax.Array]:
        rows, padding = len(obs), [(0, max(given.games // 2 - len(obs), 0)), *[(0, 0)] * 3]
        params, values = forward(acting[0], jax.device_put(np.pad(obs, padding) if padding[0][1] else obs))
        return params[:rows], values[:rows]  # few final observations are padded, lest JAX compile anew

    with engine.collect_stream(given.collect, infer) as stream:
        for update, batch in zip(range(given.updates), stream, strict=False):
            for part in (part for seed in range(EPOCHS) for part in batch.minibatches(256, seed)):
                count += 1
                state = adam(state, count, {name: jax.device_put(getattr(part, name)) for name in part.fields})
            acting[0] = state[0]
            engine.weights_updated()
            print(update, [round(episode["return"]) for episode in batch.telemetry["episodes"]])


if __name__ == "__main__":
    main()
