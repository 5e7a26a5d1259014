"""Telemetry as a table in the terminal that is drawn anew with every batch, by rich."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from reinfors.logging import scalars

if TYPE_CHECKING:
    from typing_extensions import Self

    from reinfors.logging import Batch


class LiveTable:
    """The last numbers of `reinfors.logging.scalars`, their means so far, and the advice on the bottleneck.

    A table in a terminal; outside one, the last table when it is closed. Leaving its `with` block closes it.

    Args:
        console: Where it is drawn; `None` is standard output.
    """

    def __init__(self, console: Console | None = None) -> None:
        self.records = 0
        self._sums: dict[str, tuple[float, int]] = {}
        self._live = Live(console=console or Console(), auto_refresh=False)
        self._live.start()

    def log(self, batch: Batch, **extra: float) -> None:
        """Shows a batch's telemetry.

        Args:
            batch: A batch of an engine.
            **extra: Further numbers by name, a loss for instance, shown as `learner/name`.
        """
        self.records += len(batch)
        numbers = scalars(batch) | {f"learner/{name}": float(value) for name, value in extra.items()}
        for name, value in numbers.items():
            total, count = self._sums.get(name, (0.0, 0))
            self._sums[name] = (total + value, count + 1)
        table = Table("", "last", "mean", title=f"{self.records:,} records", title_justify="left")
        for column in table.columns[1:]:
            column.justify = "right"
        for name, (total, count) in self._sums.items():
            last = f"{numbers[name]:,.4g}" if name in numbers else ""
            table.add_row(name, last, f"{total / count:,.4g}")
        telemetry = batch.telemetry
        advice = Text(f"{telemetry['bottleneck']}: {telemetry['advice']}", style="italic")
        self._live.update(Group(table, advice), refresh=True)

    def close(self) -> None:
        """Leaves the last table where it is."""
        self._live.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
