"""The game and the policy that a command line names.

A game is named by its class, under the game's own defaults, or by a public id, under the reference's
options. A policy is `random`, a checkpoint of a recipe, or a callable of the caller's.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from reinfors import games
from reinfors.envs import PUBLIC_ENVS, PublicEnv

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

Act = Callable[[Any], Any]
"""Observations of all environments, stacked along the first axis -> one action each."""

WORDS = {"true": True, "false": False, "none": None}


def names() -> list[str]:
    """What a game can be called, for messages and for the shell to complete."""
    return [*games.registered(), *(env.id for env in PUBLIC_ENVS)]


def row_of(name: str) -> PublicEnv | None:
    """The row of the table of public ids whose game or id this is."""
    return next((env for env in PUBLIC_ENVS if name in {env.game, env.id, f"reinfors/{env.id}"}), None)


def game(name: str, given: Sequence[str], defaults: dict[str, object] | None = None) -> games.Game:
    """The game of this name.

    Args:
        name: Its class or public id.
        given: Options as `key=value`.
        defaults: Options beneath those.

    Raises:
        typer.BadParameter: No such game; the message lists those there are.
        TypeError: An option has the wrong type.
        ValueError: An option that the game does not have, or a value that it does not allow.
    """
    row = row_of(name)
    if name not in games.registered() and row is None:
        raise typer.BadParameter(f"there is no game {name!r}; known are {', '.join(names())}")
    if row is not None and name != row.game:
        return games.make(row.game, **{**row.options, **(defaults or {}), **options(given)})
    return games.make(name, **{**(defaults or {}), **options(given)})


def options(given: Sequence[str]) -> dict[str, object]:
    """`["frame_stack=4", "gray=true"]` as keyword arguments; what is no Python literal is text."""
    parsed: dict[str, object] = {}
    for item in given:
        name, is_given, value = item.partition("=")
        if not is_given or not name:
            raise typer.BadParameter(f"an option of the game is written name=value, got {item!r}")
        try:
            parsed[name] = WORDS[value.lower()] if value.lower() in WORDS else ast.literal_eval(value)
        except (ValueError, SyntaxError):
            parsed[name] = value
    return parsed


def game_and_policy(
    name: str | None, given: Sequence[str], policy: str, checkpoint: Path | None, seed: int
) -> tuple[games.Game, Act]:
    """What is played and who plays it.

    Args:
        name: The game; `None` takes the one a recipe's checkpoint was made for.
        given: Options of the game as `key=value`, over those of such a checkpoint.
        policy: `random`, a recipe's `.npz`, or `module:name` or `file.py:name` of a callable.
        checkpoint: Where it is given, the callable is called with it and returns the policy.
        seed: Of random actions.

    Raises:
        typer.BadParameter: No game, policy or callable of that name, or a checkpoint that no callable takes.
        TypeError, ValueError: An option of the game, or a policy that was trained on another.
    """
    if checkpoint is not None and (policy == "random" or policy.endswith(".npz")):
        raise typer.BadParameter(f"--checkpoint is for a policy MODULE:NAME or FILE.py:NAME, got {policy!r}")
    if policy.endswith(".npz"):
        from reinfors.recipes import ppo_numpy

        learner = ppo_numpy.load(Path(policy), seed=seed)
        chosen = game(name or learner.game.name, given, learner.game.options)
        if chosen.obs_shape != learner.game.obs_shape or chosen.n_actions != learner.game.n_actions:
            raise ValueError(f"{policy} was trained on {learner.game}, got {chosen}")
        return chosen, learner.act
    if name is None:
        raise typer.BadParameter(f"which game? Give --game, one of {', '.join(names())}")
    chosen = game(name, given)
    if policy == "random":
        return chosen, RandomPolicy(chosen, seed)
    act = _callable(policy)
    return chosen, act if checkpoint is None else act(checkpoint)


class RandomPolicy:
    """Uniform over the numbered actions, or between the bounds of a vector's."""

    def __init__(self, game: games.Game, seed: int) -> None:
        self.game = game
        self.rng = np.random.default_rng(seed)

    def __call__(self, obs: Any) -> Any:
        """One action for each row of `obs`."""
        rows = len(next(iter(obs.values())) if isinstance(obs, dict) else obs)
        if self.game.n_actions is not None:
            return self.rng.integers(self.game.n_actions, size=rows)
        low, high = self.game.action_low, self.game.action_high
        return self.rng.uniform(low, high, (rows, len(low))).astype(np.float32)  # type: ignore[arg-type]


def _callable(policy: str) -> Act:
    """The object that `module:name` or `file.py:name` names."""
    where, _, name = policy.rpartition(":")
    if not where or not name:
        raise typer.BadParameter(f"a policy is random, FILE.npz, MODULE:NAME or FILE.py:NAME, got {policy!r}")
    module = _file(Path(where)) if where.endswith(".py") else _module(where)
    act = getattr(module, name, None)
    if not callable(act):
        raise typer.BadParameter(f"{where} must define a callable {name}, got {act!r}")
    return act  # type: ignore[no-any-return]


def _module(name: str) -> ModuleType:
    sys.path.insert(0, "")
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name not in {name, name.partition(".")[0]}:
            raise
        raise typer.BadParameter(f"there is no module {name}; a file is written {name}.py:NAME") from missing


def _file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise typer.BadParameter(f"there is no file {path}")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    spec.loader.exec_module(module)
    return module


def as_json(result: Any) -> str:
    """A result for scripts."""
    return json.dumps(
        result, indent=2, default=lambda value: value.tolist() if hasattr(value, "tolist") else str(value)
    )
