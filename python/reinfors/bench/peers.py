"""Where the contenders run: this interpreter, or for a peer an environment of its own below a cache directory.

A peer is optional. One that is nowhere installed is left out, with a line that says so.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import venv
from pathlib import Path

from reinfors.bench.plan import ENVPOOL, GYMNASIUM, HERE, OLD, WITH_TORCH

REQUIREMENTS = {ENVPOOL: "envpool==1.2.5", OLD: "reinfors==0.4.0"}
MODULES = {
    GYMNASIUM: ("gymnasium", "Box2D", "pygame"),
    ENVPOOL: ("envpool",),
    HERE: ("reinfors",),
    WITH_TORCH: ("torch",),
}
CONTENDERS = Path(__file__).with_name("contenders.py")


def cache() -> Path:
    """Where peers have their environments unless another place is named."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "reinfors-bench"


def own_python(peer: str, folder: Path) -> Path:
    """The interpreter of a peer's own environment, whether it is there or not."""
    home = folder / REQUIREMENTS[peer].replace("==", "-")
    return home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def install(folder: Path) -> None:
    """Makes an environment for each peer that has none yet."""
    for peer, requirement in REQUIREMENTS.items():
        python = own_python(peer, folder)
        if not python.exists():
            venv.create(python.parent.parent, with_pip=True)
        pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", "install", requirement, "numpy"]
        subprocess.run(pip, check=True)  # noqa: S603 - pip, with names that stand above


def command(peer: str, folder: Path) -> list[str] | None:
    """What starts a contender of `peer`; None where it is not installed."""
    if peer in REQUIREMENTS:
        python = own_python(peer, folder)
        if python.exists():
            # Isolated: what this interpreter is told to import is another version of the same name.
            return [str(python), "-I", str(CONTENDERS)]
    if all(importlib.util.find_spec(module) for module in MODULES.get(peer, ("nowhere",))):
        return [sys.executable, str(CONTENDERS)]
    return None


def missing(peer: str) -> str:
    """What to do about a peer that is not installed."""
    if peer == GYMNASIUM:
        return f'{peer} is left out: it needs `pip install "gymnasium[box2d]"`'
    if peer == WITH_TORCH:
        return f"{peer} is left out: it needs `pip install torch`"
    return f"{peer} is left out: `--install-peers` makes an environment for it"
