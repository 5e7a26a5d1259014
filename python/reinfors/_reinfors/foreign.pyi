"""Games whose worlds are Python's."""

from collections.abc import Callable, Sequence
from typing import Any

from typing_extensions import Self

from reinfors._reinfors.game import Game

__all__ = ["ForeignGame"]

class ForeignGame(Game):
    """A game whose worlds are Python's; `reinfors.games.Gymnasium` and `reinfors.games.Batch` are made of it.

    Its worlds can be neither saved nor loaded, and all of them are stepped on one thread.
    """

    def __new__(
        cls,
        name: str,
        options: dict[str, Any],
        parts: Sequence[tuple[str, Sequence[int], str]],
        actions: list[str] | tuple[Sequence[float], Sequence[float]],
        make: Callable[[int], Any],
        /,
    ) -> Self:
        """Describes the worlds.

        Args:
            name: Public name.
            options: What is shown of it.
            parts: Name, shape and type (`"uint8"` or `"float32"`) of each array of an observation.
            actions: A name for each action, or lower and upper bounds of a vector.
            make: Makes so many worlds, as `reinfors.foreign.checked.Checked` presents them.
        """
