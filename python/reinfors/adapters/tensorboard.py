"""Telemetry in TensorBoard, written by tensorboardX, which needs neither torch nor TensorFlow."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

from tensorboardX import SummaryWriter

from reinfors.logging import scalars

if TYPE_CHECKING:
    from typing_extensions import Self

    from reinfors.logging import Batch


class Writer(Protocol):
    """What is used of a `SummaryWriter`, tensorboardX's or torch's."""

    def add_scalar(self, tag: str, scalar_value: float, global_step: int, /) -> object:
        """Takes a number."""

    def close(self) -> object:
        """Writes what is left."""


class TensorBoard:
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
        self.records = 0

    def log(self, batch: Batch, **extra: float) -> None:
        """Writes a batch's telemetry.

        Args:
            batch: A batch of an engine.
            **extra: Further numbers by name, a loss for instance, written as `learner/name`.
        """
        self.records += len(batch)
        numbers = scalars(batch) | {f"learner/{name}": float(value) for name, value in extra.items()}
        for name, value in numbers.items():
            self._writer.add_scalar(name, value, self.records)

    def close(self) -> None:
        """Writes what is left."""
        self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
