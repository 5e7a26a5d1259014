"""Everything a figure depends on: the machine and how busy it is, the build, the commit, the command."""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import reinfors as rf

if TYPE_CHECKING:
    from collections.abc import Sequence

CPU_LEVEL = "REINFORS_CPU"  # what a shell says of the instructions, which all contenders of ours inherit


def circumstances(arguments: Sequence[str]) -> dict[str, Any]:
    """What is known before the first trial of a run with these arguments."""
    return {
        "when": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "cpu": _processor(),
        "cores": os.cpu_count(),
        "load_before": load(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "build": rf.build_info(),
        "commit": _commit(),
        "command": command(arguments),
    }


def command(arguments: Sequence[str]) -> str:
    """The line for a shell that repeats a run with these arguments."""
    told = [f"{CPU_LEVEL}={shlex.quote(os.environ[CPU_LEVEL])}"] if CPU_LEVEL in os.environ else []
    return " ".join([*told, shlex.join(["python", "-m", "reinfors.bench", *arguments])])


def load() -> float | None:
    """Processes that wanted a processor during the last minute, on average."""
    return round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _commit() -> str:
    """The checkout's commit, marked where files differ from it; "unknown" outside a checkout."""
    describe = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        return subprocess.run(describe, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
