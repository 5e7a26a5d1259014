"""Memory that an owner and its workers share: what every row shows, earns and does, one array for each."""

from __future__ import annotations

import contextlib
import mmap
import os
import sys
import tempfile
from dataclasses import dataclass
from typing import Any

import numpy as np

ALIGNMENT = 64


@dataclass(frozen=True)
class Spaces:
    """The spaces of an environment as plain data.

    Attributes:
        parts: Of an observation: name, shape, `"uint8"` or `"float32"`.
        actions: A name for each numbered action, or the bounds of a vector's numbers.
        first_action: What the environment calls action 0.
        action_dtype: Type of the numbers of a vector.
        action_shape: The environment's shape of it.
    """

    parts: list[tuple[str, tuple[int, ...], str]]
    actions: list[str] | tuple[list[float], list[float]]
    first_action: int
    action_dtype: str
    action_shape: tuple[int, ...]

    def fields(self, n: int) -> dict[str, tuple[tuple[int, ...], str]]:
        """Shape and type of each shared array for `n` rows."""
        is_discrete = isinstance(self.actions, list)
        actions = ((n,), "int64") if is_discrete else ((n, len(self.actions[0])), "float64")
        own: dict[str, tuple[tuple[int, ...], str]] = {
            "rewards": ((n,), "float64"),
            "actions": actions,
            "terminated": ((n,), "bool"),
            "truncated": ((n,), "bool"),
            "active": ((n,), "bool"),
        }
        return own | {f"part {name}": ((n, *shape), dtype) for name, shape, dtype in self.parts}

    def size(self, n: int) -> int:
        """Bytes of all of them."""
        return sum(_aligned(_bytes(*field)) for field in self.fields(n).values())


class Memory:
    """The arrays, over a map of the memory."""

    def __init__(self, mapped: mmap.mmap, spaces: Spaces, n: int) -> None:
        arrays: dict[str, Any] = {}
        offset = 0
        for name, (shape, dtype) in spaces.fields(n).items():
            arrays[name] = np.ndarray(shape, dtype, mapped, offset)
            offset += _aligned(_bytes(shape, dtype))
        self.rewards, self.actions, self.active = arrays["rewards"], arrays["actions"], arrays["active"]
        self.terminated, self.truncated = arrays["terminated"], arrays["truncated"]
        self.parts: dict[str, Any] = {name: arrays[f"part {name}"] for name, _, _ in spaces.parts}


@dataclass(frozen=True)
class Place:
    """Where the memory is: a file that is deleted as soon as all have opened it, or a name on Windows.

    Attributes:
        path: The file, or the name.
        size: In bytes.
    """

    path: str
    size: int

    @classmethod
    def fresh(cls, size: int) -> tuple[Place, mmap.mmap]:
        """A new place, and the memory there."""
        if sys.platform == "win32":
            name = f"reinfors-{os.getpid()}-{os.urandom(8).hex()}"
            return cls(name, size), mmap.mmap(-1, size, tagname=name)
        folder = "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: S108, PTH112  memory, not a disk
        file, path = tempfile.mkstemp(prefix="reinfors-", dir=folder)
        try:
            os.ftruncate(file, size)
            return cls(path, size), mmap.mmap(file, size)
        finally:
            os.close(file)

    def open(self) -> mmap.mmap:
        """The same memory in another process."""
        if sys.platform == "win32":
            return mmap.mmap(-1, self.size, tagname=self.path)
        file = os.open(self.path, os.O_RDWR)
        try:
            return mmap.mmap(file, self.size)
        finally:
            os.close(file)

    def delete(self) -> None:
        """Takes the name away; the memory stays for those who have it open."""
        if sys.platform != "win32":
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.path)  # noqa: PTH108


def _bytes(shape: tuple[int, ...], dtype: str) -> int:
    return int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
