"""Guides that quote the source quote it as it is: excerpts are its own lines, and told sizes are about its sizes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
GUIDES = sorted((ROOT / "docs" / "guides").glob("*.md"))
EXCERPT = re.compile(r'^```rust title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
CASE = re.compile(r"^\| (D\d\d) \|.*\| ([^|]*) \|$", re.MULTILINE)
ABOUT = 10  # lines
COUNTED = re.compile(r"^\| `([\w./-]+\.rs)` \| (\d+) \|", re.MULTILINE)


def stale(text: str, root: Path = ROOT) -> list[str]:
    """Excerpts that are not in the file they name, and files much longer or shorter than told."""
    found = [
        f"{file} has no {code.strip().splitlines()[0]!r} as quoted"
        for file, code in EXCERPT.findall(text)
        if code not in (root / file).read_text()
    ]
    for file, lines in COUNTED.findall(text):
        actual = len((root / file).read_text().splitlines())
        found += [f"{file} has {actual} lines, not about {lines}"] if abs(actual - int(lines)) > ABOUT else []
    return found


def untested(text: str, root: Path = ROOT) -> list[str]:
    """Cases of the table, and files that it says test them and do not."""
    found = []
    for case, files in CASE.findall(text):
        for file in re.findall(r"`([^`]+)`", files):
            named = rf"(def test|fn)\w*[_ ]{case.lower()}_"
            found += [] if re.search(named, (root / file).read_text()) else [f"{file} does not test {case}"]
    return found


def test_every_field_case_is_tested_where_the_table_says() -> None:
    table = (ROOT / "docs" / "field-cases.md").read_text()
    assert [case for case, files in CASE.findall(table) if files] == [f"D{number:02}" for number in range(1, 53)]
    assert untested(table) == []


def test_an_untested_case_is_reported(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_d01_it_works(): ...\n")
    row = "| {} | it fails | - | `test_it.py` |\n"
    assert untested(row.format("D01"), tmp_path) == []
    assert len(untested(row.format("D02"), tmp_path)) == 1


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.name)
def test_excerpts_and_counts_are_the_source_s(guide: Path) -> None:
    assert stale(guide.read_text()) == []


def test_the_guide_to_adding_a_game_quotes_every_file_it_counts() -> None:
    text = (ROOT / "docs" / "guides" / "add-a-game.md").read_text()
    quoted, counted = {file for file, _ in EXCERPT.findall(text)}, {file for file, _ in COUNTED.findall(text)}
    assert {file for file in counted if not file.endswith("tests.rs")} <= quoted


def test_a_stale_excerpt_and_a_wrong_count_are_reported(tmp_path: Path) -> None:
    (tmp_path / "game.rs").write_text("fn step() {}\nfn reset() {}\n")
    page = '```rust title="game.rs"\nfn {} {{}}\n```\n| `game.rs` | {} | all |\n'
    assert stale(page.format("step()", 2), tmp_path) == []
    assert len(stale(page.format("leap()", 13), tmp_path)) == 2
