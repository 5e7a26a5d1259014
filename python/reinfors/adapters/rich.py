"""Telemetry as a table in the terminal that is drawn anew with every batch, by rich."""

from __future__ import annotations

from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from reinfors.logging import Log


class LiveTable(Log):
    """The last numbers of `reinfors.logging.scalars`, their means so far, and the advice on the bottleneck.

    A table in a terminal; outside one, the last table when it is closed. Leaving its `with` block closes it.

    Args:
        console: Where it is drawn; `None` is standard output.
    """

    def __init__(self, console: Console | None = None) -> None:
        self._sums: dict[str, tuple[float, int]] = {}
        self._live = Live(console=console or Console(), auto_refresh=False)
        self._live.start()

    def _show(self, numbers: dict[str, float], telemetry: dict[str, Any]) -> None:
        for name, value in numbers.items():
            total, count = self._sums.get(name, (0.0, 0))
            self._sums[name] = (total + value, count + 1)
        table = Table("", "last", "mean", title=f"{self.records:,} records", title_justify="left")
        for column in table.columns[1:]:
            column.justify = "right"
        for name, (total, count) in self._sums.items():
            last = f"{numbers[name]:,.4g}" if name in numbers else ""
            table.add_row(name, last, f"{total / count:,.4g}")
        advice = Text(f"{telemetry['bottleneck']}: {telemetry['advice']}", style="italic")
        self._live.update(Group(table, advice), refresh=True)

    def close(self) -> None:
        """Leaves the last table where it is."""
        self._live.stop()
