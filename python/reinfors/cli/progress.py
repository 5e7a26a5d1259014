"""The bar that every command shows which takes longer than a moment: on stderr, so that results can be piped."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn


def progress() -> Progress:
    """A bar that leaves nothing behind; outside a terminal it is silent."""
    console = Console(stderr=True)
    columns = [BarColumn(20), TimeRemainingColumn(), TextColumn("{task.description}", markup=False)]
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
