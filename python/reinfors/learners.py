"""What is made of the records."""

from __future__ import annotations

from dataclasses import dataclass

from reinfors._arguments import number


@dataclass(frozen=True)
class Ppo:
    """Advantages by generalised advantage estimation, and the returns they imply (Schulman et al., 2016).

    Attributes:
        gamma: Discount per step, from 0 to 1.
        lam: Decay of the estimator, from 0 (one step) to 1 (the whole episode).
    """

    gamma: float = 0.99
    lam: float = 0.95

    def __post_init__(self) -> None:
        number("gamma", self.gamma, 0, 1)
        number("lam", self.lam, 0, 1)
