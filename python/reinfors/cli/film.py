"""A GIF or an MP4 that is written as its frames come: an encoder in a process of its own takes them one by one."""

from __future__ import annotations

import math
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from reinfors.cli.refusal import library

if TYPE_CHECKING:
    from collections.abc import Generator
    from types import TracebackType

    from numpy.typing import NDArray
    from typing_extensions import Self

    Frame = NDArray[np.uint8]

GIF_FPS = 50  # viewers slow down what is faster
FORMATS = (".gif", ".mp4")
# Colours of its own for every frame: those of the whole film are known only at its end.
GIF_COLOURS = "split[a][b];[a]palettegen=stats_mode=single[p];[b][p]paletteuse=new=1:dither=none"


def check_format(out: Path) -> None:
    """Refuses another ending than those that can be written, and a missing encoder."""
    if out.suffix.lower() not in FORMATS:
        raise ValueError(f"a recording ends in {' or '.join(FORMATS)}, got {out.name}")
    library("imageio_ffmpeg", "video")


def check_place(out: Path) -> None:
    """Refuse, before anything is played, a place where no file can be written; what is there stays."""
    out.parent.mkdir(parents=True, exist_ok=True)
    is_new = not out.exists()
    with out.open("ab"):
        pass
    if is_new:
        out.unlink()
    with _room_beside(out):
        pass


class Film:
    """Takes frames of one size and keeps none; in a GIF more of them than it can show in time are left out.

    The film stands in its place once all is written. Whatever fails before leaves there what was there.
    """

    def __init__(self, out: Path, fps: float) -> None:
        """Opens no file yet: the size is the first frame's."""
        self._out = out.resolve()
        self._is_gif = out.suffix.lower() == ".gif"
        self._every = max(1, math.ceil(fps / GIF_FPS)) if self._is_gif else 1
        self._fps = fps / self._every
        self._given = 0
        self._encoder: Generator[None, Any, None] | None = None

    def __enter__(self) -> Self:
        """Makes room for a file beside the one that it becomes."""
        with ExitStack() as stack:
            self._file = Path(stack.enter_context(_room_beside(self._out))) / self._out.name
            self._stack = stack.pop_all()
        return self

    def add(self, frame: Frame) -> None:
        """Writes a frame, `uint8` (height, width, 3)."""
        if self._encoder is None:
            self._encoder = self._started(frame)
        if self._given % self._every == 0:
            self._encoder.send(np.ascontiguousarray(self._cut(frame)))
        self._given += 1

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Waits for the encoder; the film takes its place unless something has failed."""
        with self._stack:
            if self._encoder is not None:
                self._encoder.close()
            if kind is None:
                self._file.replace(self._out)

    def _cut(self, frame: Frame) -> Frame:
        """What of a frame is shown: an MP4's codec halves height and width."""
        height, width = frame.shape[:2]
        return frame if self._is_gif else frame[: height - height % 2, : width - width % 2]

    def _started(self, frame: Frame) -> Generator[None, Any, None]:
        height, width = self._cut(frame).shape[:2]
        gif = {
            "codec": "gif",
            "pix_fmt_out": "pal8",
            "quality": None,
            "output_params": ["-filter_complex", GIF_COLOURS],
        }
        encoder: Generator[None, Any, None] = library("imageio_ffmpeg", "video").write_frames(
            self._file,
            (width, height),
            fps=self._fps,
            macro_block_size=1,
            ffmpeg_log_level="error",
            **(gif if self._is_gif else {}),
        )
        encoder.send(None)
        return encoder


def _room_beside(out: Path) -> TemporaryDirectory[str]:
    """A directory on the same disk, so that a file in it takes another's place at once."""
    return TemporaryDirectory(prefix=".film-", dir=out.parent)
