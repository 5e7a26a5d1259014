"""The games, one class each, made from the list that the native module carries.

`games.pyi` names them for type checkers; it is generated from the same list.
"""

from __future__ import annotations

import inspect

from reinfors._reinfors import Game, describe, registered
from reinfors.foreign import Batch, Gymnasium

__all__ = ["Batch", "Game", "Gymnasium", "describe", "make", "registered", *registered()]  # noqa: PLE0604  they are strings


def make(name: str, **options: object) -> Game:
    """A game by its name.

    Args:
        name: One of `registered()`.
        **options: The game's options, as its class takes them.

    Returns:
        The game, an instance of its class.

    Raises:
        TypeError: An option has the wrong type.
        ValueError: There is no such game or option, or the option's value is not allowed; the message says what is.
    """
    game: Game = globals()[describe(name)["name"]](**options)
    return game


def _class_of(name: str) -> type[Game]:
    """The class of a registered game, with its options as keywords."""
    description = describe(name)

    def new(cls: type[Game], *given: object, **options: object) -> Game:
        if given:
            names = ", ".join(row["name"] for row in description["options"])
            raise TypeError(f"{name} takes its options by keyword, which are {names}; got {len(given)} without")
        return Game.__new__(cls, name, options)

    def pickled(self: Game) -> tuple[tuple[()], dict[str, object]]:
        return (), self.options

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter("cls", inspect.Parameter.POSITIONAL_ONLY)]
    parameters += [inspect.Parameter(row["name"], keyword, default=row["default"]) for row in description["options"]]
    new.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    lines = [f"    {row['name']}: {row['doc']}" for row in description["options"]]
    members = {
        "__doc__": "\n".join([description["doc"], "", "Args:", *lines]),
        "__module__": __name__,
        "__new__": new,
        "__getnewargs_ex__": pickled,
    }
    return type(name, (Game,), members)


globals().update({name: _class_of(name) for name in registered()})
