"""What is made of the records."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real


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
        for name, given in (("gamma", self.gamma), ("lam", self.lam)):
            if isinstance(given, bool) or not isinstance(given, Real):
                raise TypeError(f"{name} must be a number from 0 to 1, got {given!r} ({type(given).__name__})")
            if not 0 <= given <= 1:
                raise ValueError(f"{name} must be from 0 to 1, got {given!r}")
