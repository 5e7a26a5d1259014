"""How actions are chosen from what `infer` returns.

Every policy may remember: with a `state_shape`, `infer(obs, state, starts)` is called with what it returned as last
output for the row before, `float32` (rows, *state_shape), zeros where `starts` (bool, (rows,)) says that an episode
begins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from reinfors._arguments import choice, number, shape

if TYPE_CHECKING:
    from collections.abc import Sequence

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
        state_shape: Shape of what is remembered of an episode; `None` for nothing.
    """

    distribution: Literal["categorical", "gaussian", "beta"] | None = None
    state_shape: Sequence[int] | None = None

    def __post_init__(self) -> None:
        if self.distribution is not None:
            choice("distribution", self.distribution, DISTRIBUTIONS)
        object.__setattr__(self, "state_shape", shape("state_shape", self.state_shape))


@dataclass(frozen=True)
class EpsilonGreedy:
    """The action that `infer` values highest, the first of equals; or, for a share of the actions, any.

    `infer` returns `q_values` of shape (rows, n_actions). The game's actions are numbered.

    The share is lowered while training goes on by assigning to `Engine.epsilon`: each batch is made with one value
    throughout, which its `telemetry["epsilon"]` tells.

    Attributes:
        epsilon: Share of the actions that are drawn uniformly among all, from 0 to 1.
        state_shape: Shape of what is remembered of an episode; `None` for nothing.
    """

    epsilon: float = 0.05
    state_shape: Sequence[int] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", number("epsilon", self.epsilon, 0, 1))
        object.__setattr__(self, "state_shape", shape("state_shape", self.state_shape))


@dataclass(frozen=True)
class Direct:
    """`infer` returns the actions themselves: for SAC, TD3, evolution, scripts.

    Integers of shape (rows,), or numbers of shape (rows, D), `D` being the length of an action vector. A vector is
    recorded as it was returned, in `float32`, and the game is given what is clipped to its bounds.

    Attributes:
        state_shape: Shape of what is remembered of an episode; `None` for nothing.
    """

    state_shape: Sequence[int] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "state_shape", shape("state_shape", self.state_shape))


Policy: TypeAlias = Ppo | EpsilonGreedy | Direct
