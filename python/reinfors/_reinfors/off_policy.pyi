"""Corrections for records of a policy that is not the one that learns."""

import numpy as np
from numpy.typing import NDArray

from reinfors._reinfors.engine import _Output

__all__ = ["vtrace"]

def vtrace(
    behavior_log_probs: _Output,
    target_log_probs: _Output,
    rewards: _Output,
    discounts: _Output,
    values: _Output,
    last_values: _Output,
    truncated: NDArray[np.bool_] | None = None,
    final_values: _Output | None = None,
    rho_clip: float = 1.0,
    c_clip: float = 1.0,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Targets and advantages by V-trace (Espeholt et al., 2018), computed in float64 and rounded once.

    With `rho = min(rho_clip, pi / mu)` and `c = min(c_clip, pi / mu)`, the target is `v[t] = V[t] + rho[t] * (r[t] +
    d[t] * V[t+1] - V[t]) + d[t] * c[t] * (v[t+1] - V[t+1])`, the advantage `rho[t] * (r[t] + d[t] * v[t+1] - V[t])`.
    Where an episode was cut off, `V[t+1]` and `v[t+1]` are the value of its final observation; at the end `V[T]` and
    `v[T]` are `last_values`. `Batch.vtrace` fills in what a batch knows.

    Args:
        behavior_log_probs: Log-densities of the actions under the policy that acted, (T, N), `float32` or `float64`.
        target_log_probs: The same under the policy that learns, (T, N).
        rewards: (T, N).
        discounts: What the value of what follows is multiplied with, 0 where an episode terminated, (T, N).
        values: Values of what was seen, (T, N).
        last_values: Values of what is seen after the last step, (N,).
        truncated: Where an episode was cut off, `bool` (T, N); nowhere if `None`.
        final_values: Values of what such an episode stopped with, (T, N), read there only.
        rho_clip: Largest weight of a temporal difference.
        c_clip: Largest weight with which a correction is passed on.

    Returns:
        Targets of the values, and advantages of the policy gradient, each (T, N).

    Raises:
        TypeError: An argument is no such array, or `truncated` comes without `final_values`.
        ValueError: Shapes do not belong together, a clip is not above 0, or a result is more than float32 can hold.
    """
