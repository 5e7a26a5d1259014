"""What is made of the records of a window: the fields of a `Batch` beside those that every batch has."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TypeAlias

from reinfors._arguments import integer, number

SMALLEST = sys.float_info.min  # above 0


@dataclass(frozen=True)
class Ppo:
    """Advantages by generalised advantage estimation, and the returns they imply (Schulman et al., 2016).

    For `policies.Ppo`; `infer` returns values `(rows,)` as second output.

    Attributes:
        gamma: Discount per step, from 0 to 1.
        lam: Decay of the estimator, from 0 (one step) to 1 (the whole episode).
    """

    gamma: float = 0.99
    lam: float = 0.95

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", number("gamma", self.gamma, 0, 1))
        object.__setattr__(self, "lam", number("lam", self.lam, 0, 1))


@dataclass(frozen=True)
class Vtrace:
    """What V-trace corrects when the policy that learns is not the one that acted (Espeholt et al., 2018).

    The batch has `behavior_log_probs`, `discounts` (`gamma`, or 0 where an episode terminated), `last_obs`, and the
    observations that cut-off episodes stopped with (`final_obs`, after the records `final_rows`). `Batch.vtrace` makes
    targets and advantages of them and of the learner's own log-densities and values. `infer` returns no values.

    For policies whose actions have a density: `policies.Ppo` and `policies.EpsilonGreedy`.

    Attributes:
        gamma: Discount per step, from 0 to 1.
        rho_clip: Largest weight of a temporal difference, above 0.
        c_clip: Largest weight with which a correction is passed on to earlier steps, above 0.
    """

    gamma: float = 0.99
    rho_clip: float = 1.0
    c_clip: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", number("gamma", self.gamma, 0, 1))
        object.__setattr__(self, "rho_clip", number("rho_clip", self.rho_clip, SMALLEST, sys.float_info.max))
        object.__setattr__(self, "c_clip", number("c_clip", self.c_clip, SMALLEST, sys.float_info.max))


@dataclass(frozen=True)
class Transitions:
    """Transitions over up to `n_step` steps, for value learning and replay. Any policy; `infer` returns no values.

    The batch has in each row `obs` and `actions`, in `rewards` the discounted sum of the steps covered, `next_obs`
    after them (the final observation where the episode ended), `discounts` to multiply the value of `next_obs` with
    (`gamma` to the number of steps covered, 0 where the episode terminated), and `terminated` and `truncated` of the
    last step covered. Fewer than `n_step` steps are covered where the episode or the batch ends before.

    Attributes:
        n_step: Steps that a transition covers, at least 1.
        gamma: Discount per step, from 0 to 1.
    """

    n_step: int = 1
    gamma: float = 0.99

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_step", integer("n_step", self.n_step, 1, 2**32 - 1))
        object.__setattr__(self, "gamma", number("gamma", self.gamma, 0, 1))


Learner: TypeAlias = Ppo | Vtrace | Transitions
