"""`reinfors demo`: the NumPy recipe learns a game for a minute, and a film shows what it learnt.

What to expect of the first game: episodes are 400 steps long. Their mean return begins near zero, which is chance,
and was 115 after 24 updates (seed 0). That is a car that takes most bends, not one that drives a lap.
"""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

import reinfors as rf
from reinfors.cli import choice, record
from reinfors.cli.film import Film, check_format
from reinfors.cli.progress import progress
from reinfors.cli.refusal import library
from reinfors.envs import PUBLIC_ENVS
from reinfors.recipes.ppo_numpy import GAMMA, LAM, Learner

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

FILMED = 3  # new worlds, of which the median is shown
WIDTH = 300  # pixels


def game() -> rf.games.Game:
    """The first game that has a demo, under the demo's options."""
    row = next(env for env in PUBLIC_ENVS if env.demo is not None)
    return rf.games.make(row.game, **(row.demo or {}))


def train(learner: Learner, *, seconds: float, n_games: int, collect: int, seed: int) -> dict[str, Any]:
    """The main job: collect on native threads, train here, at the same time."""
    engine = rf.Engine(
        game=learner.game,
        reward=None,  # the reference's own
        policy=rf.policies.Ppo(),
        learner=rf.learners.Ppo(gamma=GAMMA, lam=LAM),
        n_games=n_games,
        seed=seed,
    )
    skip = learner.game.options["frame_skip"]
    returns: deque[float] = deque(maxlen=n_games)  # of the last episodes
    records, update, speed = 0, 0, 0.0
    with engine.collect_stream(collect, learner.infer) as stream, progress() as bars:
        bar = bars.add_task("the first batch is being collected", total=seconds)
        start = time.monotonic()
        while (elapsed := time.monotonic() - start) < seconds:
            batch = next(stream)  # the native workers are collecting the next one by now
            learner.train(batch)
            engine.weights_updated()
            records, update = records + len(batch), update + 1
            returns.extend(episode["return"] for episode in batch.telemetry["episodes"])
            speed, lag = skip * records / (time.monotonic() - start), batch.telemetry["lag"]["mean"]
            reached = f"{np.mean(returns):.1f}" if returns else "not yet known"
            line = f"update {update}: {speed:,.0f} steps/s, episode return {reached}, lag {lag:.1f}"
            bars.update(bar, completed=elapsed, description=line)
    mean = float(np.mean(returns)) if returns else None
    return {"updates": update, "steps_per_second": round(speed), "episode_return": mean}


def film(learner: Learner, folder: Path) -> dict[str, Any]:
    """Plays in some new worlds; leaves a film of the median one and a sheet of six moments of it."""
    imageio = library("imageio.v3", "video")
    shown: list[list[NDArray[np.uint8]]] = [[] for _ in range(FILMED)]  # which is the median is known at their ends
    played = record.episodes(
        learner.game, learner.act, lambda i, frame: shown[i].append(frame), n=FILMED, seed=7, width=WIDTH
    )
    frames = shown[sorted(range(FILMED), key=lambda i: played[i].total)[FILMED // 2]]
    with Film(folder / "demo.gif", record.frames_per_second(learner.game)) as gif:
        for frame in frames:
            gif.add(frame)
    moments = [frames[i] for i in np.linspace(0, len(frames) - 1, 6).astype(int)]
    imageio.imwrite(folder / "demo.png", np.vstack([np.hstack(moments[:3]), np.hstack(moments[3:])]))
    return {"film": str(folder / "demo.gif"), "film_returns": sorted(round(episode.total, 1) for episode in played)}


def run(*, seconds: float, n_games: int, collect: int, seed: int, out: Path, as_json: bool) -> None:
    """Trains, films and saves."""
    library("imageio", "video")
    check_format(out / "demo.gif")
    learner = Learner(game(), seed=seed)
    result = train(learner, seconds=seconds, n_games=n_games, collect=collect, seed=seed)
    out.mkdir(parents=True, exist_ok=True)
    learner.save(out / "demo.npz")
    result |= {"checkpoint": str(out / "demo.npz"), **film(learner, out)}
    if as_json:
        print(choice.as_json(result))
        return
    reached = "no episode ended" if result["episode_return"] is None else f"return {result['episode_return']:.1f}"
    print(
        f"{result['updates']} updates, {result['steps_per_second']:,} steps/s, {reached}\n"
        f"{result['film']}: the median of {FILMED} new worlds, returns {result['film_returns']}\n"
        f"{result['checkpoint']}: reinfors eval --policy {result['checkpoint']}"
    )
