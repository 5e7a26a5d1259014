"""The promises of the docs: every row of a table is held by tests, and every test that is named exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/promises.md"
NAMED = re.compile(r"`((?:tests|crates)/[\w/.-]+)::(\w+)`")


def rows(text: str) -> list[str]:
    """The rows of the tables, without their heads."""
    return [line for line in text.splitlines() if line.startswith("| ") and "held by" not in line]


def missing(text: str) -> list[str]:
    """The tests that a text names and that are not there."""
    absent = []
    for file, name in NAMED.findall(text):
        path = ROOT / file
        source = path.read_text() if path.exists() else ""
        if not re.search(rf"\b(def|fn) {name}\(", source):
            absent.append(f"{file}::{name}")
    return absent


def test_every_named_test_exists() -> None:
    assert missing(PAGE.read_text()) == []


def test_a_test_that_is_not_there_is_found() -> None:
    here = "tests/test_promises.py"
    text = f"`{here}::test_every_named_test_exists` `{here}::test_{'nonsense'}` `tests/no.py::test_x`"
    assert missing(text) == [f"{here}::test_nonsense", "tests/no.py::test_x"]


def test_every_promise_is_held_by_a_test() -> None:
    found = rows(PAGE.read_text())
    assert len(found) > 25
    assert [row for row in found if not NAMED.search(row)] == []
