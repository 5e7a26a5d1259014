"""One environment out of a row of one: what the adapters of single environments have in common. Needs NumPy only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from reinfors._reinfors import Game


def check_single(game: Game, what: str) -> None:
    """Refuses a game of several agents where one acts.

    Raises:
        ValueError: It has several.
    """
    n_agents: object = getattr(game, "n_agents", 1)  # what is no game is refused by its type later
    if n_agents != 1:
        raise ValueError(
            f"{what} is of games of one agent, and {game.name} has {n_agents}: use reinfors.pettingzoo.ParallelEnv"
        )


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
