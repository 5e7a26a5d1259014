"""README and docs are executed: every Python block of a page, in order, in one namespace, as a reader would paste it.

Only the length of long loops is cut. A block that fails is reported with its file and line.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED_FILE = re.compile(r"`((?:benchmarks|crates|docs|examples|python|scripts|tests)/[\w./-]+)")
IMPORTED = re.compile(r"^(?:import|from) (\w+)", re.MULTILINE)
LONG_LOOP = re.compile(r"\brange\(\d{2,}\)")


def blocks(text: str) -> list[tuple[int, str]]:
    """Each Python block with the number of lines above it."""
    return [(text.count("\n", 0, match.start(1)), match.group(1)) for match in BLOCK.finditer(text)]


def wanting(text: str) -> list[str]:
    """Libraries that a page imports and that are not installed; in CI they are a failure of its own."""
    imported = {name for _, code in blocks(text) for name in IMPORTED.findall(code)}
    return sorted(name for name in imported if importlib.util.find_spec(name) is None)


def run(page: Path) -> int:
    """Executes the blocks of a page; returns how many there were."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    found = blocks(page.read_text())
    for lines_above, code in found:
        shortened = LONG_LOOP.sub("range(2)", code)
        exec(compile("\n" * lines_above + shortened, page, "exec"), namespace)  # noqa: S102
    return len(found)


@pytest.mark.smoke
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if blocks(page.read_text())],
    ids=lambda page: page.relative_to(ROOT).as_posix(),
)
def test_the_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not_installed := wanting(page.read_text()):
        pytest.skip(f"needs {', '.join(not_installed)}")
    monkeypatch.chdir(tmp_path)
    assert run(page) > 0


def missing(text: str) -> list[str]:
    """Files of this repository that a page names and that do not exist."""
    return [name for name in NAMED_FILE.findall(text) if not (ROOT / name).exists()]


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_the_files_a_page_names_exist(page: Path) -> None:
    assert missing(page.read_text()) == []


def test_a_missing_file_is_found() -> None:
    assert missing("see `tests/test_docs.py` and `tests/no_such.py`") == ["tests/no_such.py"]


def test_the_readme_holds_the_main_job() -> None:
    code = [code for _, code in blocks((ROOT / "README.md").read_text())]
    assert "collect_stream(collect_size=4096, infer=infer)" in code[0]
    assert "continuous=True" in code[1]


def test_a_missing_library_is_found() -> None:
    assert wanting("```python\nimport no_such, numpy\nfrom numpy.no import such\n```\n") == ["no_such"]


def test_a_failing_block_is_reported_with_its_line(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Page\n\n```python\nx = 1\n```\n\n```python\nassert x == 2\n```\n")
    with pytest.raises(AssertionError) as failure:
        run(page)
    assert failure.traceback[-1].path == page
    assert failure.traceback[-1].lineno + 1 == 8
