"""`reinfors info`: what is installed and what this machine offers, for a report of an error."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from typing import Any

import reinfors as rf
from reinfors.cli import choice

LIBRARIES = (
    "numpy",
    "gymnasium",
    "stable-baselines3",
    "dm-env",
    "pettingzoo",
    "torch",
    "jax",
    "tensorboardX",
    "matplotlib",
    "pygame-ce",
    "imageio",
    "imageio-ffmpeg",
)


def gathered() -> dict[str, Any]:
    """Versions, the instructions in use, and the threads that `n_threads=None` takes."""
    build = rf.build_info()
    return {
        "reinfors": build["version"],
        "build": build["profile"],
        "target": build["target"],
        "instructions": build["cpu_level"],
        "python": platform.python_version(),
        "system": platform.platform(),
        "threads": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "libraries": {name: _version(name) for name in LIBRARIES},
        "games": rf.games.registered(),
    }


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def show(*, as_json: bool) -> None:
    """Prints it."""
    info = gathered()
    if as_json:
        print(choice.as_json(info))
        return
    for name, value in info.items():
        if name == "libraries":
            for library, version in value.items():
                print(f"{library:18} {version or 'not installed'}")
        else:
            print(f"{name:18} {', '.join(value) if isinstance(value, list) else value}")
