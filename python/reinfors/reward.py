"""Reward weights, by the keys that a game declares."""

from __future__ import annotations

from reinfors._arguments import number


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
        self.weights = {key: number(f"reward {key}", weight) for key, weight in weights.items()}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Reward):
            return NotImplemented
        return self.weights == other.weights

    def __hash__(self) -> int:
        return hash(frozenset(self.weights.items()))

    def __repr__(self) -> str:
        return f"Reward({', '.join(f'{key}={weight!r}' for key, weight in self.weights.items())})"
