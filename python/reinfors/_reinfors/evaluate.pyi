"""Whole episodes of given seeds; `reinfors.evaluation` makes statistics of them."""

from collections.abc import Callable
from typing import TypedDict

from reinfors import policies
from reinfors._reinfors.engine import _Infer
from reinfors._reinfors.game import Game
from reinfors.reward import Reward

__all__ = ["play_episodes"]

# A call, because `return` is a keyword.
_EpisodeRow = TypedDict("_EpisodeRow", {"seed": int, "return": float, "length": int, "ended": str})

def play_episodes(
    game: Game,
    infer: _Infer,
    seeds: list[int],
    policy: policies.Policy,
    reward: Reward | None,
    deterministic: bool,
    n_games: int | None,
    n_threads: int | None,
    on_end: Callable[[int, int], object] | None,
) -> list[_EpisodeRow]:
    """Plays one episode per seed, in parallel; the arguments are those of `reinfors.evaluate`.

    Returns:
        One dict per seed, in the order of the seeds.

    Raises:
        TypeError: An argument has the wrong type, or `infer` returns another type than accepted.
        ValueError: A value is not allowed, or `infer` returns another shape or a number that is not finite.
    """
