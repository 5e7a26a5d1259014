"""What of a reset's options the game knows. Needs nothing but the game."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reinfors._reinfors import Game


def known_flags(game: Game, options: object) -> dict[str, bool]:
    """The game's reset flags among the options; the reference, too, ignores what it does not know."""
    given = options if isinstance(options, dict) else {}
    return {name: bool(given[name]) for name in game.reset_flags if name in given}
