"""Batches made in the background."""

from collections.abc import Iterator
from types import TracebackType
from typing import final

from typing_extensions import Self

from reinfors._reinfors.batch import Batch

__all__ = ["CollectStream"]

@final
class CollectStream(Iterator[Batch]):
    """Batches made in the background, by `Engine.collect_stream`; iterate over it, or call `next`.

    Leaving its `with` block stops it, and so does dropping it, even where `infer` keeps it: the engine is then free.
    """

    def __next__(self) -> Batch:
        """The next batch, waiting for it.

        Raises:
            RuntimeError: The stream has ended, or `infer` itself calls this.
        """

    def __iter__(self) -> Self: ...
    def pending(self) -> int:
        """Finished batches that nobody has taken.

        Looking does not ask for one: where `max_lag` keeps the stream from going on, it waits for `next`.
        """

    def pause(self) -> list[Batch]:
        """Ends the stream without loss: finishes the batch in progress and returns all that nobody has taken.

        The engine is then free and continues exactly behind the last of them.
        """

    def stop(self) -> None:
        """Ends the stream and discards what nobody has taken. A second call does nothing.

        Waits for the `infer` in progress, and for an environment of `rf.games.Gymnasium` five seconds at most: the
        workers are then ended and started anew by the next window.
        """

    def __enter__(self) -> Self: ...
    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None, /
    ) -> None: ...
