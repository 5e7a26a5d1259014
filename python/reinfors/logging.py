"""Telemetry where it is looked at: numbers by name, TensorBoard, a table in the terminal.

`scalars` needs NumPy only; the library of another name is imported when that is first used.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from reinfors._lazy import lazily

if TYPE_CHECKING:
    from typing_extensions import Self

    from reinfors.adapters.rich import LiveTable
    from reinfors.adapters.tensorboard import TensorBoard

__all__ = ["LiveTable", "TensorBoard", "scalars"]


class Batch(Protocol):
    """A batch of any learner."""

    @property
    def telemetry(self) -> dict[str, Any]:
        """What the window tells of itself."""

    def __len__(self) -> int: ...


def scalars(batch: Batch) -> dict[str, float]:
    """The numbers of a batch's telemetry by name, as they are logged.

    Args:
        batch: A batch of an engine.

    Returns:
        `sampler/steps_per_second`; `seconds/` with every part of the time; `lag/` and `lag_in_updates/` with min, mean
        and max; `episodes/count`; and where episodes have ended `episodes/return_mean`, `_min` and `_max` and
        `episodes/length_mean`.
    """
    telemetry = batch.telemetry
    found = {"sampler/steps_per_second": float(telemetry["steps_per_second"])}
    found |= {f"seconds/{part}": float(seconds) for part, seconds in telemetry["seconds"].items()}
    for name in ("lag", "lag_in_updates"):
        found |= {f"{name}/{what}": float(telemetry[name][what]) for what in ("min", "mean", "max")}
    episodes = telemetry["episodes"]
    found["episodes/count"] = float(len(episodes))
    if episodes:
        returns = np.array([episode["return"] for episode in episodes])
        found |= {
            "episodes/return_mean": float(returns.mean()),
            "episodes/return_min": float(returns.min()),
            "episodes/return_max": float(returns.max()),
            "episodes/length_mean": float(np.mean([episode["length"] for episode in episodes])),
        }
    return found


class Log(ABC):
    """What shows telemetry somewhere. Leaving its `with` block closes it.

    Attributes:
        records: Records of all batches that were logged.
    """

    records = 0

    def log(self, batch: Batch, **extra: float) -> None:
        """Takes a batch's telemetry.

        Args:
            batch: A batch of an engine.
            **extra: Further numbers by name, a loss for instance, which become `learner/name`.
        """
        self.records += len(batch)
        numbers = scalars(batch) | {f"learner/{name}": float(value) for name, value in extra.items()}
        self._show(numbers, batch.telemetry)

    @abstractmethod
    def _show(self, numbers: dict[str, float], telemetry: dict[str, Any]) -> None:
        """Shows the numbers of one batch."""

    @abstractmethod
    def close(self) -> None:
        """Ends it; what was shown stays."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


__getattr__ = lazily(
    __name__,
    {"LiveTable": ("rich", "LiveTable"), "TensorBoard": ("tensorboard", "TensorBoard")},
    extra="logging",
)
