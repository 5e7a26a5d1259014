"""`CarRacing-v3` and `reinfors/CarRacing-v3`, both made by Gymnasium, with all that they return compared with `==`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .lockstep import Mismatch, require_equal
from .reference import gymnasium, undrawn

REFERENCE = "CarRacing-v3"
OURS = f"reinfors.adapters.gymnasium:reinfors/{REFERENCE}"  # Gymnasium imports what stands before the colon

Returned = tuple[NDArray[np.uint8], float, bool, bool, dict[str, Any]]


class Pair:
    """Both environments under the same options. With `drawn=False` the reference returns blank frames."""

    def __init__(self, *, drawn: bool = True, **options: Any) -> None:
        self.reference: Any = gymnasium.make(REFERENCE, **options)
        self.ours: Any = gymnasium.make(OURS, **options)
        self._drawn = drawn
        if not drawn:
            undrawn(self.reference)

    def reset(self, seed: int | None = None, options: Any = None) -> NDArray[np.uint8]:
        """Resets both; returns our observation."""
        theirs, their_info = self.reference.reset(seed=seed, options=options)
        ours, our_info = self.ours.reset(seed=seed, options=options)
        self._require_equal(ours, theirs, our_info, their_info)
        return ours

    def step(self, action: Any) -> Returned:
        """Steps both; returns ours."""
        theirs, ours = self.reference.step(action), self.ours.step(action)
        for name, mine, expected in zip(("reward", "terminated", "truncated"), ours[1:4], theirs[1:4], strict=True):
            require_equal(name, mine, expected)
        self._require_equal(ours[0], theirs[0], ours[4], theirs[4])
        return ours

    def render(self) -> NDArray[np.uint8]:
        """Renders both; returns our picture."""
        picture = self.ours.render()
        require_equal("picture", picture, self.reference.render())
        return picture

    def _require_equal(
        self, ours: NDArray[np.uint8], theirs: NDArray[np.uint8], our_info: dict[str, Any], their_info: dict[str, Any]
    ) -> None:
        if our_info != their_info:
            raise Mismatch(f"info: {our_info} is not the reference's {their_info}")
        if self._drawn:
            require_equal("observation", ours, theirs)
