"""Reward weights, by the keys that a game declares."""

from __future__ import annotations

import math
from numbers import Real


class Reward:
    """Weights over a game's defaults.

    Which keys there are is the game's to say (`game.reward_keys`): a key it does not have is refused where the
    two meet, in `Engine` or `VecEnv`, with the keys it has.

    Attributes:
        weights: The given weights by key.
    """

    weights: dict[str, float]

    def __init__(self, **weights: float) -> None:
        """Takes one finite number per key.

        Args:
            **weights: What one occurrence of the key is worth.

        Raises:
            TypeError: A weight is no number.
            ValueError: A weight is NaN or infinite.
        """
        for key, weight in weights.items():
            if isinstance(weight, bool) or not isinstance(weight, Real):
                raise TypeError(f"reward {key} must be a number, got {weight!r} ({type(weight).__name__})")
            if not math.isfinite(weight):
                raise ValueError(f"reward {key} must be finite, got {weight!r}")
        self.weights = {key: float(weight) for key, weight in weights.items()}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Reward):
            return NotImplemented
        return self.weights == other.weights

    def __hash__(self) -> int:
        return hash(frozenset(self.weights.items()))

    def __repr__(self) -> str:
        return f"Reward({', '.join(f'{key}={weight!r}' for key, weight in self.weights.items())})"
