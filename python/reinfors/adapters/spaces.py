"""A game's spaces as Gymnasium's, which Stable-Baselines3 uses as well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from reinfors.adapters.bounds import float_bounds

if TYPE_CHECKING:
    from reinfors._reinfors import Game


def observation_space(game: Game) -> spaces.Space[Any]:
    """A `Box` of bytes for pixels, of `float32` for other numbers; a `Dict` of them by part where there are several."""
    if isinstance(game.obs_shape, dict):
        return spaces.Dict({part: _box(game, game.obs_shape[part], game.obs_dtype[part]) for part in game.obs_shape})
    return _box(game, game.obs_shape, game.obs_dtype)


def action_space(game: Game) -> spaces.Space[Any]:
    """A `Discrete` of numbered actions, or a `Box` of `float32` vectors."""
    low, high = game.action_low, game.action_high
    if low is None or high is None:
        return spaces.Discrete(len(game.action_names or ()))
    return spaces.Box(low, high, dtype=np.float32)


def joint_observation_space(game: Game) -> spaces.Box:
    """The space of what all agents observe, one behind the other along the first axis.

    Raises:
        NotImplementedError: An observation has several parts.
    """
    one = observation_space(game)
    if not isinstance(one, spaces.Box):
        raise NotImplementedError(f"only one array of each agent can be put behind another's, got {game}")
    low, high = (np.concatenate([bound] * game.n_agents) for bound in (one.low, one.high))
    return spaces.Box(low, high, dtype=one.dtype)


def _box(game: Game, shape: tuple[int, ...], dtype: np.dtype[Any]) -> spaces.Box:
    if dtype == np.uint8:
        return spaces.Box(0, 255, shape, np.uint8)
    low, high = float_bounds(game, shape)
    return spaces.Box(low, high, dtype=np.float32)
