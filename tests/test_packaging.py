"""What is shipped: the release workflow is valid, extras are what messages say, the version stands in one place."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

import reinfors as rf

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
WORKFLOW = ROOT / ".github" / "workflows" / "release.yml"
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
NAMED_EXTRA = re.compile(r"(?:reinfors|\.)\[([\w,-]+)\]")
NORMAL = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")  # older pips find an extra under no other spelling


def script(name: str) -> Any:
    """A script as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


check_wheel = script("check_wheel")


def validated(workflow: Path) -> subprocess.CompletedProcess[str]:
    schema = ["--builtin-schema", "vendor.github-workflows"]
    command = [sys.executable, "-m", "check_jsonschema", *schema, str(workflow)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_the_release_workflow_is_a_workflow(tmp_path: Path) -> None:
    done = validated(WORKFLOW)
    assert done.returncode == 0, done.stdout
    broken = tmp_path / "broken.yml"
    broken.write_text(WORKFLOW.read_text().replace("runs-on:", "run-on:"))
    assert validated(broken).returncode != 0


def test_the_release_workflow_names_files_that_exist_and_every_platform() -> None:
    text = WORKFLOW.read_text()
    assert {name for name in re.findall(r"scripts/\w+\.py", text) if not (ROOT / name).is_file()} == set()
    targets = set(re.findall(r"os: (\w+), runner: [\w.-]+, target: (\w+)", text))
    assert targets == {
        ("linux", "x86_64"),
        ("linux", "aarch64"),
        ("macos", "x86_64"),
        ("macos", "aarch64"),
        ("windows", "x64"),
    }


def test_every_extra_that_is_named_exists() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    files = [*(ROOT / "python").rglob("*.py"), *(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    named = {extra for file in files for names in NAMED_EXTRA.findall(file.read_text()) for extra in names.split(",")}
    assert named <= set(extras)
    assert [extra for extra in extras if not NORMAL.fullmatch(extra)] == []
    assert {"cli", "gym", "play", "plot", "sb3", "torch", "video"} <= set(extras)
    assert PROJECT["project"]["dependencies"] == ["numpy>=1.23"]


def test_the_version_stands_in_one_place() -> None:
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    assert rf.__version__ == version
    assert "version" in PROJECT["project"]["dynamic"]
    for manifest in (ROOT / "crates").glob("*/Cargo.toml"):
        assert tomllib.loads(manifest.read_text())["package"]["version"] == {"workspace": True}
    text = (ROOT / "CHANGELOG.md").read_text()
    assert re.findall(r"^## \[(\d+\.\d+\.\d+)\]", text, re.MULTILINE)[0] == version


def test_one_build_serves_every_python() -> None:
    binding = tomllib.loads((ROOT / "crates/reinfors-py/Cargo.toml").read_text())
    assert "abi3-py310" in binding["dependencies"]["pyo3"]["features"]
    assert PROJECT["project"]["requires-python"] == ">=3.10"


def wheel(folder: Path, *names: str, tag: str = "cp310-abi3") -> Path:
    path = folder / f"reinfors-1.0.0-{tag}-linux_x86_64.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "")
    return path


def test_a_wheel_s_contents_are_checked(tmp_path: Path) -> None:
    about = ("reinfors-1.0.0.dist-info/entry_points.txt", "reinfors-1.0.0.dist-info/licenses/LICENSE")
    whole = (*check_wheel.NEEDED, *about)
    check_wheel.check_contents(wheel(tmp_path, *whole))
    for left_out in whole:
        with pytest.raises(AssertionError):
            check_wheel.check_contents(wheel(tmp_path, *(name for name in whole if name != left_out)))
    with pytest.raises(AssertionError, match="brings"):
        check_wheel.check_contents(wheel(tmp_path, *whole, "tests/test_x.py"))
    with pytest.raises(AssertionError, match="for one Python only"):
        check_wheel.check_contents(wheel(tmp_path, *whole, tag="cp312-cp312"))


def test_rust_is_taken_off_the_search_path(tmp_path: Path) -> None:
    (tmp_path / "with").mkdir()
    (tmp_path / "without").mkdir()
    tool = tmp_path / "with" / ("cargo.exe" if sys.platform == "win32" else "cargo")
    tool.write_text("")
    tool.chmod(0o755)
    path = f"{tmp_path / 'with'}{os.pathsep}{tmp_path / 'without'}"
    assert check_wheel.without_rust(path) == str(tmp_path / "without")
