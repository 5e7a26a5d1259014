"""How actions are chosen from what `infer` returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Distribution = Literal["categorical", "gaussian", "beta"]


@dataclass(frozen=True)
class Ppo:
    """Actions sampled from a distribution, the log-density of each raw sample recorded.

    `infer` returns `params` of shape (rows, n_params), `D` being the length of an action vector:

    - `"categorical"`: logits, one per action.
    - `"gaussian"`: `D` means, then `D` logarithms of standard deviations.
    - `"beta"`: `D` alphas, then `D` betas, all positive; samples are scaled to the action bounds.

    Attributes:
        distribution: The distribution; `None` is categorical for numbered actions and Gaussian for vectors.
    """

    distribution: Distribution | None = None

    def __post_init__(self) -> None:
        allowed = get_args(Distribution)
        if self.distribution is not None and not isinstance(self.distribution, str):
            given = type(self.distribution).__name__
            raise TypeError(f"distribution must be None or one of {', '.join(allowed)}, got a {given}")
        if self.distribution is not None and self.distribution not in allowed:
            raise ValueError(f"distribution must be None or one of {', '.join(allowed)}, got {self.distribution!r}")
