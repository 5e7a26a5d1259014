"""How actions are chosen from what `infer` returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from reinfors._arguments import choice

DISTRIBUTIONS = ("categorical", "gaussian", "beta")


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

    distribution: Literal["categorical", "gaussian", "beta"] | None = None

    def __post_init__(self) -> None:
        if self.distribution is not None:
            choice("distribution", self.distribution, DISTRIBUTIONS)
