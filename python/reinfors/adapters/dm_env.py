"""`dm_env.Environment` on a single environment, for Acme, dm_control's tools and whatever else speaks of time steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dm_env
import numpy as np
from dm_env import specs

from reinfors._reinfors import VecEnv
from reinfors.adapters.bounds import float_bounds
from reinfors.adapters.single import batch_of_one, check_single, first

if TYPE_CHECKING:
    from reinfors._reinfors import Game
    from reinfors.reward import Reward


class Environment(dm_env.Environment):
    """One environment of any game.

    An episode that terminates ends with discount 0, one that is cut off at the game's `max_steps` with discount 1. The
    step after the last one starts the next episode, whatever its action. Rewards are Python floats. The environment
    holds nothing but memory: `close` has nothing to do.
    """

    def __init__(self, game: Game, *, seed: int | None = None, reward: Reward | None = None) -> None:
        """Makes the environment; `reset`, or the first `step`, starts its first episode.

        Args:
            game: What is played.
            seed: Of the random stream: a non-negative integer of any size, or `None` for fresh entropy.
            reward: Weights, or `None` for the game's defaults.

        Raises:
            TypeError: An argument has the wrong type.
            ValueError: A reward key is not the game's, or the game has several agents.
        """
        check_single(game, "dm_env's Environment")
        self.game = game
        self._env = VecEnv(game, 1, 1, seed, reward, autoreset="disabled")
        self._is_over = True

    def reset(self) -> Any:  # noqa: ANN401
        """Starts an episode and returns its first time step, which has neither reward nor discount."""
        observations, _ = self._env.reset()
        self._is_over = False
        return dm_env.restart(first(observations))

    def step(self, action: Any) -> Any:  # noqa: ANN401
        """Advances by one step, or starts the next episode after the last one.

        Args:
            action: An integer, or a vector of finite numbers.

        Returns:
            A time step: type, reward, discount, observation.

        Raises:
            TypeError: The action has the wrong type.
            ValueError: The action has the wrong shape, is outside the numbered ones or not finite.
        """
        if self._is_over:
            return self.reset()
        observations, rewards, terminated, truncated, _ = self._env.step(batch_of_one(action))
        observation, reward = first(observations), float(rewards[0])
        self._is_over = bool(terminated[0] or truncated[0])
        if terminated[0]:
            return dm_env.termination(reward, observation)
        if truncated[0]:
            return dm_env.truncation(reward, observation)
        return dm_env.transition(reward, observation)

    def observation_spec(self) -> Any:  # noqa: ANN401
        """A `BoundedArray`, or a dict of them by part."""
        shape, dtype = self.game.obs_shape, self.game.obs_dtype
        if isinstance(shape, dict):
            return {part: _observed(self.game, part, shape[part], dtype[part]) for part in shape}
        return _observed(self.game, "observation", shape, dtype)

    def action_spec(self) -> Any:  # noqa: ANN401
        """A `DiscreteArray` of numbered actions, or a `BoundedArray` of `float32` vectors."""
        low, high = self.game.action_low, self.game.action_high
        if low is None or high is None:
            return specs.DiscreteArray(len(self.game.action_names or ()), np.int64, "action")
        return specs.BoundedArray(low.shape, np.float32, low, high, "action")


def _observed(game: Game, name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:  # noqa: ANN401
    if dtype == np.uint8:
        return specs.BoundedArray(shape, np.uint8, 0, 255, name)
    return specs.BoundedArray(shape, np.float32, *float_bounds(game, shape), name)
