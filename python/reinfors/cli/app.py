"""The arguments of every subcommand. What they do is in the files of their names, imported when they are called."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Optional

import typer

from reinfors.cli.refusal import refusals

ONE_THREAD = "OPENBLAS_NUM_THREADS"

app = typer.Typer(
    name="reinfors",
    help="Environments and sampling for reinforcement learning, at native speed.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _complete_game(incomplete: str) -> list[str]:
    """The names that the shell offers."""
    from reinfors.cli.choice import names

    return [name for name in names() if name.startswith(incomplete)]


GameName = Annotated[
    Optional[str],
    typer.Option("--game", "-g", help="Class or public id of the game.", autocompletion=_complete_game),
]
Given = Annotated[
    Optional[list[str]],
    typer.Option("--option", "-o", help="Option of the game, as name=value. Repeatable."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the worlds and of random actions.")]
Policy = Annotated[
    str,
    typer.Option(
        "--policy", "-p", help="random, a recipe's FILE.npz, or MODULE:NAME or FILE.py:NAME of a callable on obs."
    ),
]
Checkpoint = Annotated[
    Optional[Path],
    typer.Option(help="File that the callable is called with to make the policy."),
]


def _version(*, wanted: bool) -> None:
    if wanted:
        from reinfors import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _root(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Tell the version.", callback=lambda wanted: _version(wanted=wanted), is_eager=True
        ),
    ] = False,
) -> None:
    """Environments and sampling for reinforcement learning, at native speed."""


@app.command()
def envs(
    *,
    name: Annotated[Optional[str], typer.Argument(metavar="GAME", autocompletion=_complete_game)] = None,
    given: Given = None,
    json: Json = False,
) -> None:
    """List the games, or tell a game's options, spaces and rewards."""
    from reinfors.cli import choice
    from reinfors.cli import envs as show

    with refusals():
        if name is None:
            show.show_all(as_json=json)
        else:
            show.show(choice.game(name, given or []), as_json=json)


@app.command()
def info(*, json: Json = False) -> None:
    """Tell versions, the instructions in use and the number of threads."""
    from reinfors.cli import info as show

    show.show(as_json=json)


@app.command()
def demo(
    *,
    seconds: Annotated[float, typer.Option(min=0.1, help="How long to train.")] = 60,
    games: Annotated[int, typer.Option(min=1, help="Parallel episode slots.")] = 64,
    collect: Annotated[int, typer.Option(min=1, help="Records per update.")] = 2048,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="Folder of the film, the picture and the weights.")] = Path("out"),
    json: Json = False,
) -> None:
    """Train a small NumPy network for a minute and film what it learnt."""
    if ONE_THREAD not in os.environ:
        # Collection has threads of its own, and a second pool of BLAS threads takes their cores. NumPy reads this when
        # it is loaded, which it is by now: once more, with it set.
        words = f"demo --seconds {seconds} --games {games} --collect {collect} --seed {seed}".split()
        command = [sys.executable, "-m", "reinfors", *words, "--out", str(out), *(["--json"] if json else [])]
        raise typer.Exit(subprocess.call(command, env={**os.environ, ONE_THREAD: "1"}))
    from reinfors.cli import demo as show

    with refusals():
        show.run(seconds=seconds, n_games=games, collect=collect, seed=seed, out=out, as_json=json)


@app.command()
def play(
    *,
    name: Annotated[str, typer.Argument(metavar="GAME", autocompletion=_complete_game)],
    given: Given = None,
    seed: Annotated[Optional[int], typer.Option(min=0, help="Seed of the first world.")] = None,
    fps: Annotated[Optional[float], typer.Option(min=1, help="Steps per second.")] = None,
    steps: Annotated[Optional[int], typer.Option(min=1, help="End after so many steps.")] = None,
    json: Json = False,
) -> None:
    """Play in a window with the keyboard: arrows steer, R begins anew, Escape ends."""
    from reinfors.cli import choice
    from reinfors.cli import play as show

    with refusals():
        played = show.play(name, given or [], seed=seed, fps=fps, steps=steps)
    returns = ", ".join(f"{total:.1f}" for total in played["returns"])
    typer.echo(choice.as_json(played) if json else f"{played['steps']} steps, returns {returns}")


@app.command()
def record(
    *,
    out: Annotated[Path, typer.Argument(help="File to write, .gif or .mp4.")],
    game: GameName = None,
    policy: Policy = "random",
    checkpoint: Checkpoint = None,
    given: Given = None,
    seed: Seed = 0,
    steps: Annotated[Optional[int], typer.Option(min=1, help="Leave the episode after so many.")] = None,
    width: Annotated[Optional[int], typer.Option(min=64, max=4096, help="Of the film, in pixels.")] = None,
    fps: Annotated[Optional[float], typer.Option(min=1, max=240, help="Frames per second.")] = None,
    json: Json = False,
) -> None:
    """Film an episode of a policy, a checkpoint or random play."""
    from reinfors.cli import choice, film
    from reinfors.cli import record as show

    with refusals():
        film.check_format(out)
        chosen, act = choice.game_and_policy(game, given or [], policy, checkpoint, seed)
        show.check_end(chosen, steps)
        film.check_place(out)
    told = show.record(chosen, act, out, seed=seed, most=steps, width=width, fps=fps)
    typer.echo(choice.as_json(told) if json else f"{told['file']}: {told['steps']} steps, return {told['return']:.1f}")


@app.command(name="eval")
def evaluate(
    *,
    game: GameName = None,
    policy: Policy = "random",
    checkpoint: Checkpoint = None,
    given: Given = None,
    episodes: Annotated[int, typer.Option("--episodes", "-n", min=1, max=2**20, help="How many.")] = 64,
    seed: Annotated[int, typer.Option(min=0, help="Of the first episode; the others count up.")] = 0,
    threads: Annotated[Optional[int], typer.Option(min=1, help="Threads; all cores if not given.")] = None,
    table: Annotated[bool, typer.Option("--table", help="One line per episode, too.")] = False,
    json: Json = False,
) -> None:
    """Play the episodes of a list of seeds and tell what a policy is worth."""
    from reinfors.adapters.single import check_single
    from reinfors.cli import choice
    from reinfors.cli import eval as show

    with refusals():
        chosen, act = choice.game_and_policy(game, given or [], policy, checkpoint, seed)
        check_single(chosen, "an evaluation")
    stats = show.evaluated(chosen, act, episodes=episodes, seed=seed, threads=threads)
    if json:
        typer.echo(choice.as_json(show.told(stats)))
        return
    typer.echo("\n".join([*([stats.table()] if table else []), repr(stats)]))


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True}, add_help_option=False)
def bench(context: typer.Context) -> None:
    """Measure steps per second beside what else is installed; takes the arguments of python -m reinfors.bench."""
    from reinfors.bench.__main__ import main

    main(context.args)
