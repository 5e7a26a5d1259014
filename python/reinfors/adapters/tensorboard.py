"""Telemetry in TensorBoard, written by tensorboardX, which needs neither torch nor TensorFlow."""

from __future__ import annotations

import os
from typing import Any, Protocol

from tensorboardX import SummaryWriter

from reinfors.logging import Log


class Writer(Protocol):
    """What is used of a `SummaryWriter`, tensorboardX's or torch's."""

    def add_scalar(self, tag: str, scalar_value: float, global_step: int, /) -> object:
        """Takes a number."""

    def close(self) -> object:
        """Writes what is left."""


class TensorBoard(Log):
    """Writes the numbers of `reinfors.logging.scalars`, over the records collected so far.

    Weights & Biases copies them where `wandb.init(sync_tensorboard=True)` comes first. Leaving its `with` block closes
    it.

    Args:
        target: The folder of the run, or a `SummaryWriter` that you have, which is closed with this.
    """

    def __init__(self, target: str | os.PathLike[str] | Writer) -> None:
        self._writer: Writer
        if isinstance(target, (str, os.PathLike)):
            self._writer = SummaryWriter(os.fspath(target))
        else:
            self._writer = target

    def _show(self, numbers: dict[str, float], telemetry: dict[str, Any]) -> None:
        del telemetry  # its words have no place in a plot
        for name, value in numbers.items():
            self._writer.add_scalar(name, value, self.records)

    def close(self) -> None:
        """Writes what is left."""
        self._writer.close()
