"""Who drives: functions of the reference and the number of steps taken, to the next action.

A driver looks at the reference only, so that ours cannot lead it astray.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .reference import Reference

Action = Any  # an index, or an array of three
Driver = Callable[[Reference, int], Action]

MISHAPS = ("none", "slide", "locked")
LAP_ACTIONS = Path(__file__).parent / "data" / "lap_actions.npz"
GAS_AND_TURNS = (0.1, 0.2, 0.2, 0.45, 0.05)  # odds of the five discrete actions with which a car gets somewhere


def always(*action: float, dtype: type = np.float32) -> Driver:
    """One action for ever."""
    return lambda _reference, _step: np.array(action, dtype)


def plan(*parts: tuple[int, Action]) -> Driver:
    """Each action for so many steps; the last goes on."""

    def drive(_reference: Reference, step: int) -> Action:
        for count, action in parts:
            if step < count:
                return action
            step -= count
        return parts[-1][1]

    return drive


def drawn(seed: int, hold: int, draw: Callable[[np.random.Generator], Action]) -> Driver:
    """A new random action every `hold` steps."""
    rng = np.random.default_rng(seed)
    held: list[Action] = [None]

    def drive(_reference: Reference, step: int) -> Action:
        if step % hold == 0:
            held[0] = draw(rng)
        return held[0]

    return drive


def uniform(seed: int, hold: int = 1) -> Driver:
    """Anything in the action space, `float32`."""
    return drawn(seed, hold, lambda rng: rng.uniform([-1, 0, 0], 1).astype(np.float32))


def wild(seed: int, hold: int = 3) -> Driver:
    """`float64` far outside the action space, and brakes at the very threshold of locking."""
    brakes = (-1.0, 0.0, 1e-300, np.nextafter(0.9, 0), 0.9, np.float64(np.float32(0.9)), 50.0)

    def draw(rng: np.random.Generator) -> NDArray[np.float64]:
        steer, gas = rng.normal(0, 3), rng.normal(0.5, 2)
        return np.array([steer, gas, rng.choice(brakes, p=[0.3, 0.3, 0.1, 0.1, 0.1, 0.05, 0.05])])

    return drawn(seed, hold, draw)


def indices(seed: int, hold: int = 1, odds: Sequence[float] = GAS_AND_TURNS) -> Driver:
    """Discrete actions."""
    return drawn(seed, hold, lambda rng: int(rng.choice(len(odds), p=odds)))


def recorded(seed: int) -> list[NDArray[np.float32]]:
    """The actions that finish a lap of this seed's track."""
    with np.load(LAP_ACTIONS) as laps:
        return list(laps[f"seed{seed}"])


def racer(seed: int, top_speed: float) -> Driver:
    """Aims at the road ahead at up to `top_speed` m/s; now and then throws the car into a slide or locks the brakes."""
    rng = np.random.default_rng(seed)
    left, mishap, side = 0, "", 0.0

    def drive(reference: Reference, _step: int) -> NDArray[np.float32]:
        nonlocal left, mishap, side
        if left == 0:
            left, mishap, side = int(rng.integers(60, 160)), str(rng.choice(MISHAPS)), float(rng.choice([-1, 1]))
        left -= 1
        hull = reference.car.hull
        x, y = hull.position
        speed = math.hypot(*hull.linearVelocity)
        points = np.array(reference.track)[:, 2:]
        nearest = int(np.argmin(np.hypot(points[:, 0] - x, points[:, 1] - y)))
        aim_x, aim_y = points[(nearest + 3 + int(speed * 0.09)) % len(points)]
        off = (math.atan2(x - aim_x, aim_y - y) - hull.angle + math.pi) % (2 * math.pi) - math.pi
        action = [np.clip(-2 * off, -1, 1), float(speed < top_speed), 0.4 * (speed > top_speed + 10)]
        if mishap == "slide" and left < 20:
            action = [side, 1, 0]
        elif mishap == "locked" and left < 15:
            action[2] = 1
        return np.array(action, np.float32)

    return drive
