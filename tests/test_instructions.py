"""The guard of instruction counts tells growth from everything else."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "count_instructions.py"
guard = runpy.run_path(str(SCRIPT))


def test_growth_beyond_the_limit_and_unrecorded_work_are_told() -> None:
    before = {"a": 1000, "b": 1000, "c": 1000}
    after = {"a": 1049, "b": 1051, "d": 5}
    assert guard["grown"](before, after) == [
        "b takes +5.1% instructions: 1,051 where 1,000 are recorded",
        "c is recorded but not there",
        "d is not recorded",
    ]
    assert guard["grown"](before, {"a": 1, "b": 500, "c": 1000}) == []


def test_the_record_counts_work_of_every_kind() -> None:
    record = json.loads(guard["RECORD"].read_text())
    kinds = {name.split(".")[1] for name in record["instructions"]}
    assert kinds == {"exact", "fast", "state", "reset", "collect"}
    assert all(count > 10_000 for count in record["instructions"].values())
