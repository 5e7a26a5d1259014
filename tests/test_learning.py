"""The engine end to end on states instead of pixels: a linear policy learns to balance a pole within seconds."""

from __future__ import annotations

import numpy as np

import reinfors as rf

Array = np.ndarray


def terms(obs: Array) -> Array:
    """One, the numbers of the state, and their products: (rows, 15), float64."""
    first, second = np.triu_indices(4)
    wide = obs.astype(np.float64)
    return np.column_stack([np.ones(len(obs)), wide, wide[:, first] * wide[:, second]])


class Linear:
    """Logits linear in the state, values linear in its products."""

    def __init__(self) -> None:
        self.policy, self.value = np.zeros(4), np.zeros(15)

    def infer(self, obs: Array) -> tuple[Array, Array]:
        assert (obs.dtype, obs.shape[1:]) == (np.float32, (4,))
        right = obs @ self.policy
        return np.column_stack([-right, right]) / 2, terms(obs) @ self.value

    def learn(self, batch: rf.Records, rate: float = 2.0) -> None:
        """One step up the policy's gradient, and the least squares of the returns."""
        advantages = (batch.advantages - batch.advantages.mean()) / (batch.advantages.std() + 1e-8)
        surprise = batch.actions - 1 / (1 + np.exp(-(batch.obs @ self.policy)))
        gradient = (surprise * advantages) @ batch.obs / len(batch)
        self.policy += rate * gradient / np.linalg.norm(gradient)
        self.value = np.linalg.lstsq(terms(batch.obs), batch.returns, rcond=None)[0]


def test_a_linear_policy_learns_to_balance() -> None:
    model = Linear()
    engine = rf.Engine(
        game=rf.games.CartPole(),
        reward=None,
        policy=rf.policies.Ppo(),
        learner=rf.learners.Ppo(gamma=0.99, lam=0.95),
        n_games=32,
        n_threads=2,
        seed=0,
    )
    lengths = []
    for _ in range(25):
        batch = engine.collect(4096, model.infer)
        assert (batch.obs.dtype, batch.obs.shape, batch.actions.dtype) == (np.float32, (4096, 4), np.int64)
        model.learn(batch)
        engine.weights_updated()
        lengths.append(np.mean([episode["length"] for episode in batch.telemetry["episodes"]]))
    assert lengths[0] < 30
    assert np.mean(lengths[-5:]) > 300, lengths
