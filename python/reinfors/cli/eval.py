"""`reinfors eval`: what a policy is worth, over the episodes of a list of seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import reinfors as rf
from reinfors.cli.progress import progress

if TYPE_CHECKING:
    from reinfors.cli import choice

CERTAIN = 1e3  # a logit beside zeros: the most probable action is the one that was chosen


def evaluated(
    game: rf.games.Game, act: choice.Act, *, episodes: int, seed: int, threads: int | None
) -> rf.EpisodeStats:
    """Plays the episodes of the seeds from `seed` on."""
    with progress() as bars:
        bar = bars.add_task("episodes", total=episodes)
        return rf.evaluate(
            game,
            lambda obs: as_parameters(game, act(obs)),
            episodes,
            seed,
            deterministic=True,
            n_threads=threads,
            progress=lambda done, total: bars.update(bar, completed=done, total=total),
        )


def as_parameters(game: rf.games.Game, actions: Any) -> tuple[Any, Any]:
    """The distribution whose most probable actions these are."""
    actions = np.asarray(actions)
    if game.n_actions is None:
        wanted = len(game.action_low)  # type: ignore[arg-type]
        if actions.shape[1:] != (wanted,) or actions.dtype.kind not in "iuf":
            raise ValueError(f"a policy must return {wanted} numbers for each observation, got {actions!r:.80}")
        vectors = actions.astype(np.float64)
        return np.concatenate([vectors, np.zeros_like(vectors)], axis=1), np.zeros(len(actions))
    if actions.ndim != 1 or actions.dtype.kind not in "iu" or not ((actions >= 0) & (actions < game.n_actions)).all():
        raise ValueError(
            f"a policy must return one action from 0 to {game.n_actions - 1} for each observation, got {actions!r:.80}"
        )
    return CERTAIN * np.eye(game.n_actions)[actions], np.zeros(len(actions))


def told(stats: rf.EpisodeStats) -> dict[str, Any]:
    """The statistics as plain data."""
    low, high = stats.interval() if len(stats.episodes) > 1 else (None, None)
    return {
        "episodes": stats.episodes,
        "mean": stats.mean,
        "std": stats.std if len(stats.episodes) > 1 else None,
        "interval95": [low, high],
        "length": float(stats.lengths.mean()),
    }
