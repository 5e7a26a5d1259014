"""Count the instructions of fixed work under callgrind and compare them with the record.

python scripts/count_instructions.py            # fails when a count has grown by more than 5 %
python scripts/count_instructions.py --record   # writes the counts as they are now

Counts do not depend on how busy a machine is, and little on which: they are taken at one level of instructions, below
what callgrind knows. Another compiler gives others, so the record says which one it is of.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "benchmarks" / "instructions.json"
CRATES = ("reinfors-games", "reinfors-engine")
LEVEL = "avx2"
MOST_GROWTH = 0.05
TOTAL = re.compile(r"Collected : (\d+)")


def built(crate: str) -> str:
    """The executable of a crate's fixed work, in the release profile."""
    command = ["cargo", "bench", "--locked", "--quiet", "--no-run", "--message-format=json", "-p", crate]
    lines = subprocess.run([*command, "--bench", "instructions"], cwd=ROOT, check=True, capture_output=True, text=True)
    artifacts = [json.loads(line) for line in lines.stdout.splitlines()]
    paths = [
        artifact["executable"] for artifact in artifacts if artifact.get("target", {}).get("name") == "instructions"
    ]
    return str(paths[-1])


def count(executable: str, workload: str) -> int:
    """Instructions of one piece of work."""
    options = ["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*instructions::measured*"]
    environment = {**os.environ, "REINFORS_CPU": LEVEL}
    command = ["valgrind", *options, executable, workload]
    run = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    found = TOTAL.search(run.stderr)
    if run.returncode or not found or int(found[1]) == 0:
        sys.exit(f"{workload} was not counted:\n{run.stderr}")
    return int(found[1])


def counts() -> dict[str, int]:
    """Instructions of every piece of work."""
    counted = {}
    for executable in map(built, CRATES):
        listed = subprocess.run([executable], check=True, capture_output=True, text=True).stdout
        for workload in listed.split():
            print(f"counting {workload}", file=sys.stderr)
            counted[workload] = count(executable, workload)
    return counted


def grown(before: dict[str, int], after: dict[str, int]) -> list[str]:
    """What takes over 5 % more instructions than it did, or was not recorded, or is not counted any more."""
    found = [f"{name} is not recorded" for name in after if name not in before]
    found += [f"{name} is recorded but not there" for name in before if name not in after]
    for name in before.keys() & after.keys():
        growth = after[name] / before[name] - 1
        if growth > MOST_GROWTH:
            found.append(
                f"{name} takes {growth:+.1%} instructions: {after[name]:,} where {before[name]:,} are recorded"
            )
    return sorted(found)


def main() -> None:
    """Counts, and compares or records."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="write the counts rather than compare with them")
    arguments = parser.parse_args()
    if not shutil.which("valgrind"):
        sys.exit("instructions are counted by callgrind, and there is no valgrind here: install it (package valgrind)")
    compiler = subprocess.run(["rustc", "--version"], check=True, capture_output=True, text=True).stdout.strip()
    after = counts()
    if arguments.record:
        record = {"compiler": compiler, "level": LEVEL, "instructions": after}
        RECORD.write_text(json.dumps(record, indent=2) + "\n")
        return
    record = json.loads(RECORD.read_text())
    if record["compiler"] != compiler:
        print(f"recorded with {record['compiler']}, counted with {compiler}", file=sys.stderr)
    before = record["instructions"]
    for name in sorted(before.keys() & after.keys()):
        print(f"{name:24}{before[name]:16,}{after[name]:16,}{after[name] / before[name] - 1:+8.1%}")
    if found := grown(before, after):
        sys.exit("\n".join([*found, "where the growth is wanted, record it: make bench-check ARGS=--record"]))


if __name__ == "__main__":
    main()
