"""The reference: Gymnasium's own CarRacing-v3, drawing only when asked, and its inner state under our names.

Drawing takes most of the reference's time and moves nothing, so where states are compared it is left out. Without
the pinned packages every module that imports this one is skipped; in CI that is a failure.
"""

from __future__ import annotations

import os
import warnings
from importlib import metadata
from typing import Any, NoReturn

import numpy as np
import pytest
from numpy.typing import NDArray

PINNED = {"gymnasium": "1.4.0", "box2d": "2.3.10"}
FRAME_SHAPE = (96, 96, 3)


def _refuse(reason: str) -> NoReturn:
    if os.environ.get("CI", "").lower() not in {"", "0", "false"}:
        raise RuntimeError(f"parity is not checked, which CI must not pass over: {reason}")
    pytest.skip(reason, allow_module_level=True)


def require_packages(packages: dict[str, str]) -> None:
    """Skips the importing module, or fails in CI, unless these are installed in these versions."""
    for package, pinned in packages.items():
        try:
            installed = metadata.version(package)
        except metadata.PackageNotFoundError:
            _refuse(f"needs {package} {pinned}, which is not installed")
        if installed != pinned:
            _refuse(f"needs {package} {pinned}, {installed} is installed")


require_packages(PINNED)
os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # SWIG's types and pygame's resources are deprecated in ways that are not ours
    try:
        import gymnasium
        from gymnasium.envs.box2d.car_racing import CarRacing
    except (ImportError, gymnasium.error.DependencyNotInstalled) as missing:
        _refuse(f"needs gymnasium[box2d]: {missing}")

__all__ = ["Reference", "State", "gymnasium", "moving", "track", "undrawn"]

State = dict[str, NDArray[Any]]


class Reference(CarRacing):
    """CarRacing-v3 whose `drawn` says whether a step draws, and which counts the attempts at a track."""

    drawn = False
    attempts = 0

    def reset(self, **arguments: Any) -> tuple[Any, dict[str, Any]]:
        self.attempts = 0
        return super().reset(**arguments)

    def picture(self) -> NDArray[np.uint8]:
        """What `render` gives with `render_mode="rgb_array"`."""
        return super()._render("rgb_array")

    def _render(self, mode: str) -> NDArray[np.uint8]:
        return super()._render(mode) if self.drawn else np.zeros(FRAME_SHAPE, np.uint8)

    def _create_track(self) -> bool:
        self.attempts += 1
        return super()._create_track()


def undrawn(env: Any) -> None:
    """Keeps an environment of `gymnasium.make` from drawing."""
    env.unwrapped._render = lambda _mode: np.zeros(FRAME_SHAPE, np.uint8)


def _motion(body: Any) -> list[float]:
    return [*body.position, body.angle, *body.linearVelocity, body.angularVelocity]


def moving(env: CarRacing) -> State:
    """Everything that a step changes, as `VecEnv.inspect` names it.

    `painted` tells a tile by its colour, which shows only where that differs from the plain road's: every third
    tile was plain from the start and counts as painted.
    """
    car = env.car
    wheels, wheel_tiles = [], np.zeros((4, len(env.road)))
    for index, wheel in enumerate(car.wheels):
        joint = wheel.joint
        wheels.append([*_motion(wheel), wheel.omega, wheel.phase, wheel.gas, joint.angle, joint.motorSpeed])
        wheel_tiles[index, [tile.idx for tile in wheel.tiles]] = 1
    skids = [
        [index, mark.grass, x, y] for index, mark in enumerate(car.particles) for x, y in mark.poly
    ]  # oldest first
    return {
        "hull": np.array(_motion(car.hull)),
        "awake": np.array(float(car.hull.awake)),
        "wheels": np.array(wheels, np.float64),
        "wheel_tiles": wheel_tiles,
        "visited": np.array([tile.road_visited for tile in env.road], np.float64),
        "painted": (np.array([tile.color for tile in env.road]) == env.road_color).all(axis=1).astype(np.float64),
        "skids": np.array(skids, np.float64).reshape(-1, 4),
        "score": np.array(env.reward, np.float64),
        "time": np.array(env.t),
    }


def track(env: Reference) -> State:
    """Everything that a reset makes, as `VecEnv.inspect` names it; a kerb is known by its colour."""
    parts, tile = [], -1
    for _, color in env.road_poly:
        is_kerb = isinstance(color, tuple)
        tile += not is_kerb
        parts.append([tile, float(is_kerb)])
    return {
        "track": np.array(env.track, np.float64),
        "attempts": np.array(float(env.attempts)),
        "road": np.array([quad for quad, _ in env.road_poly], np.float64),
        "road_parts": np.array(parts),
        "road_colors": np.array([[int(channel) for channel in color] for _, color in env.road_poly], np.float64),
        "colors": np.array([env.road_color, env.bg_color, env.grass_color], np.float64),
    }
