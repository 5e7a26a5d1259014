"""`reinfors envs`: the games there are, and what one declares of itself."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from reinfors import games
from reinfors.cli import choice
from reinfors.envs import PUBLIC_ENVS


def described(game: games.Game) -> dict[str, Any]:
    """Everything a game declares, as plain data."""
    declared = games.describe(game.name)
    low, high = game.action_low, game.action_high
    actions = {"names": game.action_names} if low is None or high is None else {"low": low, "high": high}
    shapes = game.obs_shape if isinstance(game.obs_shape, dict) else {"obs": game.obs_shape}
    dtypes = game.obs_dtype if isinstance(game.obs_dtype, dict) else {"obs": game.obs_dtype}
    options = [{**row, "value": game.options[row["name"]]} for row in declared["options"]]
    return {
        "name": game.name,
        "doc": declared["doc"],
        "ids": [env.id for env in PUBLIC_ENVS if env.game == game.name],
        "agents": game.n_agents,
        "observations": {part: {"shape": list(shapes[part]), "dtype": str(dtypes[part])} for part in shapes},
        "state": game.state_names,
        "actions": actions,
        "options": options,
        "reward": declared["reward"],
        "end_reasons": game.end_reasons,
        "reset_flags": declared["reset_flags"],
        "max_steps": game.max_steps,
    }


def show_all(*, as_json: bool) -> None:
    """One line for each game, under its defaults."""
    rows = [described(games.make(name)) for name in games.registered()]
    if as_json:
        print(choice.as_json(rows))
        return
    table = Table("game", "ids", "observed", "actions", "reward keys")
    for row in rows:
        observed = ", ".join(f"{part['dtype']} {tuple(part['shape'])}" for part in row["observations"].values())
        keys = ", ".join(key["name"] for key in row["reward"])
        table.add_row(*map(escape, [row["name"], ", ".join(row["ids"]), observed, _actions(row), keys]))
    console = Console()
    console.print(table)
    console.print("reinfors envs GAME tells a game's options, spaces and rewards.", highlight=False)


def show(game: games.Game, *, as_json: bool) -> None:
    """All of one game, under the given options."""
    row = described(game)
    if as_json:
        print(choice.as_json(row))
        return
    console = Console()
    console.print(f"[bold]{row['name']}[/]  {', '.join(row['ids'])}", highlight=False)
    console.print(" ".join(row["doc"].split()), highlight=False, markup=False)
    if row["agents"] > 1:
        console.print(f"\nagents: {row['agents']}, of each of which is what follows", highlight=False)
    for part, array in row["observations"].items():
        console.print(f"\n{part}: {array['dtype']} {tuple(array['shape'])}", highlight=False, markup=False)
    if row["state"]:
        console.print(f"state: {', '.join(row['state'])}", highlight=False, markup=False)
    console.print(f"actions: {_actions(row)}", highlight=False, markup=False)
    console.print(
        f"ends: {', '.join(row['end_reasons'])}; cut off at {row['max_steps']}", highlight=False, markup=False
    )
    options = Table("option", "value", "type", "what it is", title="Options (-o name=value)", title_justify="left")
    for option in row["options"]:
        cells = option["name"], repr(option["value"]), option["annotation"], option["doc"]
        options.add_row(*map(escape, cells))
    rewards = Table("key", "weight", "what it pays", title="Reward", title_justify="left")
    for key in row["reward"]:
        rewards.add_row(*map(escape, [key["name"], repr(key["default"]), key["doc"]]))
    console.print(options, rewards)


def _actions(row: dict[str, Any]) -> str:
    """The action space in words."""
    if "names" in row["actions"]:
        return ", ".join(f"{number} {name}" for number, name in enumerate(row["actions"]["names"]))
    bounds = zip(row["actions"]["low"], row["actions"]["high"], strict=True)
    return " x ".join(f"[{low:g}, {high:g}]" for low, high in bounds)
