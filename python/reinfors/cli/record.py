"""`reinfors record`: an episode as a GIF or an MP4, drawn as the game draws itself for people."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

import reinfors as rf
from reinfors.cli import choice
from reinfors.cli.progress import progress
from reinfors.cli.refusal import library

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Frame = NDArray[np.uint8]

GIF_FPS = 50  # viewers slow down what is faster
FORMATS = (".gif", ".mp4")


def check_format(out: Path) -> None:
    """Refuses another ending than those that can be written, and one whose library is missing."""
    if out.suffix.lower() not in FORMATS:
        raise ValueError(f"a recording ends in {' or '.join(FORMATS)}, got {out.name}")
    library("imageio", "video")
    if out.suffix.lower() == ".mp4":
        library("imageio_ffmpeg", "video")


def check_place(out: Path) -> None:
    """Refuse, before anything is played, a place where no file can be written; what is there stays."""
    out.parent.mkdir(parents=True, exist_ok=True)
    is_new = not out.exists()
    with out.open("ab"):
        pass
    if is_new:
        out.unlink()


def check_end(game: rf.games.Game, most: int | None) -> None:
    """Refuses an episode that may never end: its frames are held until it has."""
    if most is None and game.max_steps is None:
        raise ValueError(f"{game.name} with max_steps=None may play for ever: give --steps as well")


def frames_per_second(game: rf.games.Game) -> float:
    """Decisions per second of simulated time."""
    row = choice.row_of(game.name)
    skip = game.options.get("frame_skip", 1)
    return (row.render_fps if row else 30) / (skip if isinstance(skip, int) else 1)


def episodes(
    game: rf.games.Game, act: choice.Act, *, n: int, seed: int, most: int | None = None, width: int | None = None
) -> list[tuple[list[Frame], float]]:
    """Plays `n` episodes at once, of seeds `seed`, `seed + 1` and so on.

    Args:
        game: What is played.
        act: Who plays.
        n: How many episodes.
        seed: Of the first one.
        most: Steps after which an episode is left; `None` waits for its end.
        width: Of a frame in pixels, its proportions kept; `None` is the game's own. A wider one is drawn in more
            detail.

    Returns:
        Of each episode: its frames, and its return, which is the sum of its agents'.
    """
    envs = rf.VecEnv(game, n, seed=seed, autoreset="disabled")
    obs, _ = envs.reset()
    height_px, width_px = envs.render(0).shape[:2]
    size = None if width is None else (round(width * height_px / width_px), width)
    films = [[envs.render(i, size)] for i in range(n)]
    running, returns, steps = np.ones(n, bool), np.zeros(n), 0
    limit = most or game.max_steps
    with progress() as bars:
        bar = bars.add_task("playing", total=limit)
        while running.any() and (most is None or steps < most):
            obs, rewards, terminated, truncated, _ = envs.step(act(obs))
            returns += rewards.reshape(n, -1).sum(axis=1) * running
            for i in np.flatnonzero(running):
                films[i].append(envs.render(int(i), size))
            running &= ~(terminated | truncated)[:: game.n_agents]
            steps += 1
            bars.update(bar, completed=min(steps, limit or steps))
    envs.close()
    return [(film, float(total)) for film, total in zip(films, returns, strict=True)]


def write(out: Path, frames: list[Frame], fps: float) -> None:
    """Writes frames as a film; more frames than a GIF can show in time are left out."""
    with progress() as bars:
        if out.suffix.lower() == ".mp4":
            height, width = (length - length % 2 for length in frames[0].shape[:2])  # what the codec can halve
            with library("imageio.v2", "video").get_writer(out, fps=fps, macro_block_size=2) as film:
                for frame in bars.track(frames, description=f"writing {out.name}"):
                    film.append_data(frame[:height, :width])
            return
        bars.add_task(f"writing {out.name}", total=None)  # all at once, by the library
        every = max(1, math.ceil(fps / GIF_FPS))
        delay = max(1, round(100 * every / fps)) * 10  # milliseconds, counted in hundredths of a second
        with library("imageio.v3", "video").imopen(out, "w", plugin="pillow") as film:
            film.write(frames[::every], duration=delay, loop=0)


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
    """Records one episode and tells of it."""
    [(frames, total)] = episodes(game, act, n=1, seed=seed, most=most, width=width)
    write(out, frames, fps or frames_per_second(game))
    return {"file": str(out), "game": game.name, "seed": seed, "steps": len(frames) - 1, "return": total}
