"""Where the contenders run: this interpreter, or for a peer an environment of its own below a cache directory.

A peer is optional. One that is nowhere installed is left out, with a line that says so. PyTorch runs in this
interpreter, beside the package that is measured; where this has none, it is taken from an environment made for it.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

from reinfors.bench.plan import ENVPOOL, GYMNASIUM, HERE, OLD, WITH_TORCH

REQUIREMENTS = {ENVPOOL: "envpool==1.2.5", OLD: "reinfors==0.4.0", WITH_TORCH: "torch"}
CPU_INDEX = "https://download.pytorch.org/whl/cpu"  # PyPI's PyTorch brings gigabytes for graphics cards on Linux
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
    """Makes an environment for each peer that has none yet; for PyTorch where this interpreter has none either."""
    for peer, requirement in REQUIREMENTS.items():
        if peer == WITH_TORCH and command(peer, folder) is not None:
            continue
        python = own_python(peer, folder)
        if not python.exists():
            venv.create(python.parent.parent, with_pip=True)
        pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", "install", requirement, "numpy"]
        if peer == WITH_TORCH:
            slim = [*pip, "--retries", "0", "--index-url", CPU_INDEX]
            if subprocess.run(slim, check=False).returncode == 0:  # noqa: S603 - pip, with names that stand above
                continue
            print(f"nothing came from {CPU_INDEX}: PyTorch is installed from PyPI", file=sys.stderr)
        subprocess.run(pip, check=True)  # noqa: S603 - the same


def packages_of(python: Path) -> Path:
    """Where the environment of an interpreter has its packages, if it is of this one's version."""
    home = str(python.parent.parent)
    scheme = "nt" if os.name == "nt" else "posix_prefix"
    return Path(sysconfig.get_path("purelib", scheme, vars={"base": home, "platbase": home}))


def command(peer: str, folder: Path) -> list[str] | None:
    """What starts a contender of `peer`; None where it is not installed."""
    here = [sys.executable, str(CONTENDERS)]
    is_here = all(importlib.util.find_spec(module) for module in MODULES.get(peer, ("nowhere",)))
    if peer == WITH_TORCH and not is_here:
        packages = packages_of(own_python(peer, folder))
        return [*here, str(packages)] if (packages / "torch").exists() else None
    if peer in REQUIREMENTS and peer != WITH_TORCH and (python := own_python(peer, folder)).exists():
        # Isolated: what this interpreter is told to import is another version of the same name.
        return [str(python), "-I", str(CONTENDERS)]
    return here if is_here else None


def missing(peer: str) -> str:
    """Why a peer is left out that is not installed, and what to do about it."""
    if peer == GYMNASIUM:
        return f'{peer}, which needs `pip install "gymnasium[box2d]"`'
    return f"{peer}, which `--install-peers` makes an environment for"
