"""`reinfors record`: an episode as a GIF or an MP4, drawn as the game draws itself for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import reinfors as rf
from reinfors.cli import choice
from reinfors.cli.film import Film
from reinfors.cli.progress import progress

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray


class Played(NamedTuple):
    """What came of an episode: its steps, and its return, which is the sum of its agents'."""

    steps: int
    total: float


def check_end(game: rf.games.Game, most: int | None) -> None:
    """Refuses an episode that may never end: neither would its film."""
    if most is None and game.max_steps is None:
        raise ValueError(f"{game.name} with max_steps=None may play for ever: give --steps as well")


def frames_per_second(game: rf.games.Game) -> float:
    """Decisions per second of simulated time."""
    row = choice.row_of(game.name)
    skip = game.options.get("frame_skip", 1)
    return (row.render_fps if row else 30) / (skip if isinstance(skip, int) else 1)


def episodes(
    game: rf.games.Game,
    act: choice.Act,
    show: Callable[[int, NDArray[np.uint8]], None],
    *,
    n: int,
    seed: int,
    most: int | None = None,
    width: int | None = None,
) -> list[Played]:
    """Plays `n` episodes at once, of seeds `seed`, `seed + 1` and so on.

    Args:
        game: What is played.
        act: Who plays.
        show: Is given the number of an episode and its next frame, `uint8` (height, width, 3), the first one included.
        n: How many episodes.
        seed: Of the first one.
        most: Steps after which an episode is left; `None` waits for its end.
        width: Of a frame in pixels, its proportions kept; `None` is the game's own. A wider one is drawn in more
            detail.
    """
    envs = rf.VecEnv(game, n, seed=seed, autoreset="disabled")
    obs, _ = envs.reset()
    height_px, width_px = envs.render(0).shape[:2]
    size = None if width is None else (round(width * height_px / width_px), width)
    running, returns, steps = np.ones(n, bool), np.zeros(n), np.zeros(n, int)
    for episode in range(n):
        show(episode, envs.render(episode, size))
    limit = most or game.max_steps
    with progress() as bars:
        bar = bars.add_task("playing and filming", total=limit)
        while running.any() and (most is None or steps.max() < most):
            obs, rewards, terminated, truncated, _ = envs.step(act(obs))
            returns += rewards.reshape(n, -1).sum(axis=1) * running
            steps += running
            for episode in map(int, np.flatnonzero(running)):
                show(episode, envs.render(episode, size))
            running &= ~(terminated | truncated)[:: game.n_agents]
            bars.update(bar, completed=int(steps.max()))
    envs.close()
    return [Played(int(taken), float(total)) for taken, total in zip(steps, returns, strict=True)]


def record(
    game: rf.games.Game,
    act: choice.Act,
    out: Path,
    *,
    seed: int,
    most: int | None,
    width: int | None,
    fps: float | None,
) -> dict[str, Any]:
    """Records one episode, which takes the memory of a few frames however long it is, and tells of it."""
    with Film(out, fps or frames_per_second(game)) as film:
        [played] = episodes(game, act, lambda _, frame: film.add(frame), n=1, seed=seed, most=most, width=width)
    return {"file": str(out), "game": game.name, "seed": seed, "steps": played.steps, "return": played.total}
