"""`make soak`, for seconds: it runs, and it notices what grows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LINUX = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads Linux's account of threads and memory")

ENV = {**os.environ, "MALLOC_ARENA_MAX": "1"}  # as make sets it

GROWING = """
import sys
sys.path.insert(0, sys.argv[1])
import soak
kept, rounds = [], soak.steps_of_a_round

def leaking(number):
    kept.append(bytearray(8_000_000))
    yield from rounds(number)

soak.steps_of_a_round = leaking
sys.exit(soak.soak(0.7))
"""


def test_make_soak_runs_it() -> None:
    shown = subprocess.run(["make", "--dry-run", "soak"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "scripts/soak.py --hours 24" in shown


@LINUX
@pytest.mark.smoke
def test_a_soak_of_hours_finds_flat_memory() -> None:
    command = [sys.executable, str(ROOT / "scripts/soak.py"), "--hours", "8"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False, env=ENV)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "threads +0" in done.stdout


@LINUX
@pytest.mark.smoke
def test_a_soak_fails_where_memory_grows() -> None:
    command = [sys.executable, "-c", GROWING, str(ROOT / "scripts")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False, env=ENV)
    assert done.returncode == 1, done.stdout + done.stderr
