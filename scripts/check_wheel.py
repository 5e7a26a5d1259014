"""Try a built wheel as a user would meet it: in a bare virtual environment, with no Rust and no source tree in reach.

python scripts/check_wheel.py dist            # the newest wheel in dist
python scripts/check_wheel.py dist/x.whl
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

NEEDED = ("reinfors/py.typed", "reinfors/_reinfors/__init__.pyi", "reinfors/games.pyi", "reinfors/cli/app.py")
UNWANTED = ("tests/", "benchmarks/", "crates/", "examples/")
MOST_BYTES = 20e6

TRIAL = """
import sys
import numpy as np
before = set(sys.modules)
import reinfors as rf
foreign = {name.partition(".")[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names) - {"reinfors"}
assert not foreign, foreign
assert rf.build_info()["profile"] == "release", rf.build_info()
for name in rf.games.registered():
    game = rf.games.make(name)
    engine = rf.Engine(game, None, rf.policies.Ppo(), rf.learners.Ppo(), n_games=4, seed=0)
    infer = lambda obs: (np.zeros((len(obs), engine.n_params)), np.zeros(len(obs)))
    with engine.collect_stream(64, infer) as stream:
        assert len(next(stream)) >= 64
    envs = rf.VecEnv(game, 1, seed=0)
    envs.reset()
    assert envs.render(0).std() > 0
print(rf.__version__, rf.build_info()["target"], rf.build_info()["cpu_level"], *rf.games.registered())
"""


def wheel_in(path: Path) -> Path:
    """The wheel itself, or the newest one in a folder."""
    wheels = sorted(path.glob("*.whl"), key=lambda wheel: wheel.stat().st_mtime) if path.is_dir() else [path]
    if not wheels or not wheels[-1].is_file():
        sys.exit(f"there is no wheel in {path}")
    return wheels[-1]


def check_contents(wheel: Path) -> None:
    """What has to be in it is, nothing else, and one build serves every Python."""
    assert "-cp310-abi3-" in wheel.name, f"{wheel.name} is for one Python only"
    assert wheel.stat().st_size < MOST_BYTES, f"{wheel.name} has {wheel.stat().st_size} bytes"
    names = zipfile.ZipFile(wheel).namelist()
    for needed in NEEDED:
        assert needed in names, f"{wheel.name} lacks {needed}"
    assert any(name.endswith("entry_points.txt") for name in names), f"{wheel.name} brings no command"
    assert any("licenses/LICENSE" in name for name in names), f"{wheel.name} brings no licence"
    found = [name for name in names if name.startswith(UNWANTED)]
    assert not found, f"{wheel.name} brings {found}"


def without_rust(path: str) -> str:
    """The search path less every folder that holds a Rust tool."""
    folders = path.split(os.pathsep)
    return os.pathsep.join(
        folder
        for folder in folders
        if not any(shutil.which(tool, path=folder) for tool in ("cargo", "rustc", "rustup"))
    )


def try_out(wheel: Path) -> None:
    """Installs it alone and uses it."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        venv.create(home / "venv", with_pip=True)
        binaries = home / "venv" / ("Scripts" if os.name == "nt" else "bin")
        python = str(binaries / "python")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "CARGO", "RUST"))}
        env = {**kept, "PATH": without_rust(os.environ["PATH"])}
        assert shutil.which("cargo", path=env["PATH"]) is None

        def run(*command: str) -> subprocess.CompletedProcess[str]:
            return subprocess.run(command, cwd=home, env=env, capture_output=True, text=True, check=False)

        pip = (python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet")
        for command in [(*pip, str(wheel.resolve())), (python, "-W", "error", "-c", TRIAL)]:
            done = run(*command)
            assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        print(done.stdout.strip())
        bare = run(str(binaries / "reinfors"), "--version")
        assert bare.returncode != 0, "the command line works without its libraries?"
        assert "pip install 'reinfors[cli]'" in bare.stderr, bare.stderr
        done = run(*pip, f"{wheel.resolve()}[cli]")
        assert done.returncode == 0, done.stderr
        done = run(str(binaries / "reinfors"), "info")
        assert done.returncode == 0, done.stderr


def main() -> None:
    """Checks one wheel."""
    wheel = wheel_in(Path(sys.argv[1] if len(sys.argv) > 1 else "dist"))
    check_contents(wheel)
    try_out(wheel)
    print(f"{wheel.name}: {wheel.stat().st_size:,} bytes, works alone")


if __name__ == "__main__":
    main()
