"""One environment out of a row of one: what the adapters of single environments have in common. Needs NumPy only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reinfors._reinfors import VecEnv

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reinfors._reinfors import Game
    from reinfors.reward import Reward


class RowOfOne:
    """An environment that is the only row of a `VecEnv`, copied and pickled with its state where that can be saved."""

    game: Game
    _env: VecEnv
    _reward: Reward | None = None

    def inspect(self) -> dict[str, NDArray[np.float64]]:
        """Inner state by name, as `VecEnv.inspect` returns it."""
        return self._env.inspect(0)

    def __getstate__(self) -> dict[str, Any]:
        is_fresh = self._env.seeds[0] is None
        return {**self.__dict__, "_env": (self._env.seed, None if is_fresh else self._env.save(0))}

    def __setstate__(self, state: dict[str, Any]) -> None:
        seed, saved = state["_env"]
        self.__dict__.update(state)
        self._env = VecEnv(self.game, 1, 1, seed, self._reward, autoreset="disabled")
        if saved is not None:
            self._env.load(0, saved)


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


def first_info(infos: dict[str, Any]) -> dict[str, Any]:
    """The info of the only environment, out of one column per key."""
    return {key: bool(values[0]) for key, values in infos.items() if not key.startswith("_")}
