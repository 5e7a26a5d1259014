"""One environment out of a row of one: what the adapters of single environments have in common. Needs NumPy only."""

from __future__ import annotations

from typing import Any

import numpy as np


def first(observations: Any) -> Any:  # noqa: ANN401
    """The observation of the only environment, by part where there are several."""
    if isinstance(observations, dict):
        return {part: rows[0] for part, rows in observations.items()}
    return observations[0]


def batch_of_one(action: Any) -> Any:  # noqa: ANN401
    """The action as the only row of an array, masks included, or as it is where it is no array."""
    if isinstance(action, (list, tuple, np.ndarray, np.generic)):
        return np.asanyarray(action)[np.newaxis]
    return [action]
