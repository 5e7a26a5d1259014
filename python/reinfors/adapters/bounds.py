"""What a float observation is bounded by, for the spaces of several libraries. Needs NumPy only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reinfors._reinfors import Game, describe

if TYPE_CHECKING:
    from numpy.typing import NDArray


def float_bounds(game: Game, shape: tuple[int, ...]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The least and the greatest numbers, each of `shape`: infinite where a game's worlds live elsewhere.

    Those of a state vector are the bounds of an episode: what is simulated after its end may lie outside.
    """
    if game.state_names is None:
        return np.full(shape, -np.inf, np.float32), np.full(shape, np.inf, np.float32)
    entries = describe(game.id)["state"]
    low, high = (np.array([entry[bound] for entry in entries], np.float32) for bound in ("low", "high"))
    return low, high
