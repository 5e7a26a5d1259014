"""One race driven twice: by the reference and by `VecEnv`, with everything compared with `==` at every step.

Not equal raises `Mismatch`, which says in which quantity, where and by how much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import reinfors as rf

from .reference import Reference, State, moving, track

Table = Sequence[tuple[float, float, float]]

# The reference computes tracks with the sine, cosine and arctangent of the machine's C library, whose last bits differ
# between machines; ours are the same everywhere. What the world is built of is rounded to float32 and equal.
TRACK_TOLERANCE = 1e-12
ROUNDED = {"track", "road"}


class Mismatch(AssertionError):
    """Ours and the reference differ."""


@dataclass(frozen=True)
class Step:
    """What both answered, and the state both are in."""

    reward: float
    terminated: bool
    info: dict[str, bool]
    state: State


def require_equal(name: str, ours: Any, theirs: Any) -> None:
    """Raises `Mismatch` unless shapes are the same and every number is `==`."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    if ours.shape != theirs.shape:
        raise Mismatch(f"{name}: shape {ours.shape} is not the reference's {theirs.shape}")
    differs = np.argwhere(ours != theirs)
    if len(differs):
        at = tuple(differs[0])
        raise Mismatch(
            f"{name}: {len(differs)} of {ours.size} numbers differ, first at {at}: {ours[at]!r} is not the "
            f"reference's {theirs[at]!r}"
        )


def require_equal_track(ours: State, theirs: State) -> None:
    """Raises `Mismatch` unless the tracks are equal, coordinates as `float32` and within the tolerance."""
    for name, expected in theirs.items():
        if name not in ROUNDED:
            require_equal(name, ours[name], expected)
            continue
        require_equal(f"shape of {name}", ours[name].shape, expected.shape)
        furthest = np.abs(ours[name] - expected).max()
        if furthest > TRACK_TOLERANCE:
            raise Mismatch(f"{name}: coordinates are up to {furthest} apart, allowed is {TRACK_TOLERANCE}")
    require_equal("road as float32", ours["road"].astype(np.float32), theirs["road"].astype(np.float32))


def require_equal_motion(ours: State, theirs: State) -> None:
    """Raises `Mismatch` unless every quantity that a step changes is equal."""
    tiles = len(theirs["painted"])
    ours = ours | {"painted": np.where(np.arange(tiles) % 3 == 0, 1.0, ours["painted"])}
    for name, expected in theirs.items():
        require_equal(name, ours[name], expected)


class Lockstep:
    """The reference and ours, given the same seeds and actions.

    With `table`, ours takes indices into it and the reference, continuous, takes the rows as `float64`.
    """

    def __init__(
        self,
        *,
        continuous: bool = True,
        domain_randomize: bool = False,
        table: Table | None = None,
        layout: str = "hwc",
    ) -> None:
        self.reference = Reference(continuous=continuous or table is not None, domain_randomize=domain_randomize)
        self._continuous = continuous and table is None
        self._table = table
        self._layout = layout
        game = rf.games.CarRacing(
            continuous=self._continuous,
            domain_randomize=domain_randomize,
            actions=None if table is None else list(table),
            layout=layout,
            max_steps=None,
        )
        self.ours = rf.VecEnv(game, 1, 1, autoreset="disabled")
        self.steps = 0

    def reset(self, seed: int | None = None, *, drawn: bool = False, **options: bool) -> NDArray[np.uint8]:
        """Resets both and compares tracks, states and, if `drawn`, the first frames; returns ours."""
        self.steps = 0
        self.reference.drawn = drawn
        frame, _ = self.reference.reset(seed=seed, options=options)
        observations, infos = self.ours.reset(None if seed is None else [seed], options)
        ours = self.ours.inspect(0)
        require_equal_track(ours, track(self.reference))
        require_equal_motion(ours, moving(self.reference))
        require_equal("info", sorted(infos), [])
        self._require_equal_frame(observations[0], frame, drawn)
        return observations[0]

    def step(self, action: Any, *, drawn: bool = False) -> Step:
        """Steps both and compares states, rewards, ends and, if `drawn`, frames."""
        self.steps += 1
        self.reference.drawn = drawn
        theirs = action if self._table is None else np.array(self._table[action], np.float64)
        frame, reward, terminated, _, info = self.reference.step(theirs)
        observations, rewards, terminations, truncations, infos = self.ours.step(np.asarray(action)[np.newaxis])
        try:
            state = self.ours.inspect(0)
            require_equal_motion(state, moving(self.reference))
            require_equal("reward", rewards[0], np.float64(reward))
            require_equal("terminated", terminations[0], terminated)
            require_equal("truncated", truncations[0], False)
            require_equal("lap_finished", infos.get("lap_finished", [None])[0], info.get("lap_finished"))
            self._require_equal_frame(observations[0], frame, drawn)
        except Mismatch as mismatch:
            raise Mismatch(f"at step {self.steps}: {mismatch}") from mismatch
        return Step(float(rewards[0]), bool(terminations[0]), info, state)

    def require_equal_road(self) -> None:
        """Compares the colours of the road as driven over by now."""
        require_equal("road_colors", self.ours.inspect(0)["road_colors"], track(self.reference)["road_colors"])

    def frame(self) -> NDArray[np.uint8]:
        """Our current observation."""
        return self.ours.observe()[0]

    def _require_equal_frame(self, ours: NDArray[np.uint8], theirs: NDArray[np.uint8], drawn: bool) -> None:
        if drawn:
            require_equal("frame", ours, theirs.transpose(2, 0, 1) if self._layout == "chw" else theirs)
