"""Worlds of the caller's as the native batch asks for them: checked, flat, of the right type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

RESULTS = 4  # of a step


class Part(NamedTuple):
    """One array of an observation."""

    name: str
    shape: tuple[int, ...]
    dtype: str


class Checked:
    """`n` worlds, made at their first reset. Messages name the method that returned what does not fit."""

    def __init__(self, make: Callable[[int], Any], parts: list[Part], n: int) -> None:
        self.n, self.parts = n, parts
        self.worlds = make(n)
        missing = [name for name in ("reset", "step") if not callable(getattr(self.worlds, name, None))]
        if missing:
            raise TypeError(f"make({n}) must return worlds with reset and step, got {self.worlds!r:.80}")
        self.is_restorable = all(callable(getattr(self.worlds, name, None)) for name in ("save", "load"))
        self.saved: Any = None

    def reset(self, rows: NDArray[np.int64], seeds: list[int | None]) -> list[NDArray[np.uint8]]:
        """Starts episodes; the bytes of those rows' observations, by part."""
        return self._flat("reset", self.worlds.reset(rows, seeds), rows, np.ones(len(rows), np.bool_))

    def step(
        self, actions: NDArray[Any], active: NDArray[np.bool_]
    ) -> tuple[list[NDArray[np.uint8]], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
        """Steps; the bytes of all observations, rewards and ends."""
        answer = self.worlds.step(actions, active)
        if not isinstance(answer, (tuple, list)) or len(answer) != RESULTS:
            raise TypeError(f"step must return (obs, rewards, terminated, truncated), got {answer!r:.80}")
        obs, rewards, terminated, truncated = answer
        return (
            self._flat("step", obs, np.arange(self.n), active),
            self._rewards(rewards, active),
            self._flags("terminated", terminated),
            self._flags("truncated", truncated),
        )

    def render(self, row: int) -> tuple[int, int, NDArray[np.uint8]]:
        """Height, width and bytes of a picture."""
        if not callable(getattr(self.worlds, "render", None)):
            raise TypeError("these worlds cannot be rendered: they have no method render(row)")
        picture = np.asarray(self.worlds.render(row))
        if picture.dtype != np.uint8 or picture.ndim != 3 or picture.shape[2] != 3:  # noqa: PLR2004
            raise TypeError(f"render must return uint8 (height, width, 3), got {picture.dtype} {picture.shape}")
        return picture.shape[0], picture.shape[1], np.ascontiguousarray(picture).ravel()

    def checkpoint(self) -> None:
        """Remembers all worlds, if they can be."""
        if self.is_restorable:
            self.saved = self.worlds.save()

    def rollback(self) -> bool:
        """Puts all worlds back, if they can be; whether they were."""
        if self.is_restorable:
            self.worlds.load(self.saved)
        return self.is_restorable

    def heed(self, is_cancelled: Callable[[], bool]) -> None:
        """Learns how to ask whether what is asked from now on is still wanted. Nothing here waits for anybody."""

    def close(self) -> None:
        """Ends the worlds."""
        if callable(close := getattr(self.worlds, "close", None)):
            close()

    def _flat(
        self,
        method: str,
        obs: Any,  # noqa: ANN401
        rows: NDArray[np.int64],
        active: NDArray[np.bool_],
    ) -> list[NDArray[np.uint8]]:
        """The bytes of each part of the observations of `rows`, finite where somebody will look: those `active`."""
        is_dict = isinstance(obs, dict)
        if not is_dict and len(self.parts) > 1:
            raise TypeError(f"{method} must return observations as a dict of arrays, got {type(obs).__name__}")
        flat = []
        for part in self.parts:
            if is_dict and part.name not in obs:
                raise ValueError(f"{method} must return observations with the part {part.name!r}, got {list(obs)}")
            array = np.asarray(obs[part.name] if is_dict else obs)
            if array.shape != (shape := (len(rows), *part.shape)):
                raise ValueError(f"{method} must return observations of shape {shape}, got {array.shape}")
            if array.dtype.kind not in "fiub" or (part.dtype == "uint8" and array.dtype != np.uint8):
                raise TypeError(f"{method} must return observations of {part.dtype}, got {array.dtype}")
            with np.errstate(over="ignore"):  # what float32 cannot hold is told below
                array = np.ascontiguousarray(array, part.dtype)
            if part.dtype == "float32" and not (is_finite := np.isfinite(array)).all():
                is_wrong = ~is_finite.reshape(len(rows), -1).all(axis=1) & active
                for row, given in zip(rows[is_wrong], array[is_wrong], strict=True):
                    number = given[~np.isfinite(given)][0]
                    raise ValueError(
                        f"{method} must return finite {part.dtype} observations, got {number} in row {row}"
                    )
            flat.append(array.reshape(-1).view(np.uint8))
        return flat

    def _rewards(self, rewards: Any, active: NDArray[np.bool_]) -> NDArray[np.float64]:  # noqa: ANN401
        array = np.asarray(rewards)
        if array.shape != (self.n,) or array.dtype.kind not in "fiub":
            raise ValueError(f"step must return {self.n} rewards, got {array.dtype} of shape {array.shape}")
        array = np.ascontiguousarray(array, np.float64)
        if not np.isfinite(array[active]).all():
            row = int(np.flatnonzero(active & ~np.isfinite(array))[0])
            raise ValueError(f"step must return finite rewards, got {array[row]} for row {row}")
        return array

    def _flags(self, name: str, flags: Any) -> NDArray[np.bool_]:  # noqa: ANN401
        array = np.asarray(flags)
        if array.shape != (self.n,) or array.dtype.kind != "b":
            raise ValueError(f"step must return {name} as {self.n} bools, got {array.dtype} of shape {array.shape}")
        return np.ascontiguousarray(array)
