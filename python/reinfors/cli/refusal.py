"""What a command refuses: a sentence and a way out, never a traceback of ours."""

from __future__ import annotations

import importlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def refusals() -> Iterator[None]:
    """Turns what the library refuses inside into a refusal of the command; exit status 2."""
    try:
        yield
    except BrokenPipeError:
        raise  # whoever reads the output has left: no mistake of the caller's
    except (TypeError, ValueError, OSError) as error:
        raise typer.BadParameter(str(error)) from error


def library(module: str, extra: str) -> Any:
    """The module of an optional library, or a refusal that says how to get it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as missing:
        if missing.name != module.partition(".")[0]:
            raise
        raise typer.BadParameter(f"this needs {module}: pip install 'reinfors[{extra}]'") from missing
