"""Telemetry: what each key means, the bottleneck in staged situations, and where the numbers are logged."""

from __future__ import annotations

import io
import re
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from tensorboardX.proto.event_pb2 import Event

import reinfors as rf

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs/guides/telemetry.md").read_text()

Outputs = tuple[np.ndarray, np.ndarray]


def infer(obs: np.ndarray) -> Outputs:
    return np.zeros((len(obs), 2)), np.zeros(len(obs))


def slow(obs: np.ndarray) -> Outputs:
    time.sleep(0.01)
    return infer(obs)


def engine_of(**options: Any) -> rf.Engine:
    game = rf.games.make("CartPole", **options)
    return rf.Engine(game, None, rf.policies.Ppo(), rf.learners.Ppo(), 4, 2, seed=0)


def test_slow_games_are_a_slow_sampler() -> None:
    game = rf.games.make("CarRacing", max_steps=20)
    engine = rf.Engine(game, None, rf.policies.Ppo(), rf.learners.Ppo(), 8, 1, seed=0)

    def quick(obs: np.ndarray) -> Outputs:
        return np.zeros((len(obs), 5)), np.zeros(len(obs))

    telemetry = engine.collect(80, quick).telemetry
    assert telemetry["bottleneck"] == "sampler"
    seconds = telemetry["seconds"]
    assert ("drawing" if seconds["render"] > seconds["step"] else "stepping") in telemetry["advice"]


def test_more_threads_are_not_advised_where_they_would_have_nothing_to_do() -> None:
    class Worlds:
        def __init__(self, n: int) -> None:
            self.n = n

        def reset(self, rows: np.ndarray, seeds: Any) -> Any:
            return np.zeros((len(rows), 1))

        def step(self, actions: np.ndarray, active: np.ndarray) -> Any:
            return np.zeros((self.n, 1)), np.zeros(self.n), np.zeros(self.n, bool), np.full(self.n, sum(range(99)) < 0)

    team, foreign = rf.games.SimpleSpread(n_agents=64), rf.games.Batch(Worlds, obs_shape=(1,), n_actions=5)
    for game, n_games in ((team, 1), (foreign, 8)):
        engine = rf.Engine(game, None, rf.policies.Ppo(), rf.learners.Ppo(), n_games, seed=0)
        advice = engine.collect(6400, lambda obs: (np.zeros((len(obs), 5)), np.zeros(len(obs)))).telemetry["advice"]
        assert "n_threads" not in advice


def test_a_slow_network_is_slow_inference() -> None:
    engine = engine_of()
    with engine.collect_stream(40, slow) as stream:
        next(stream)
        telemetry = next(stream).telemetry
    assert telemetry["bottleneck"] == "inference"
    assert "infer takes longest" in telemetry["advice"]
    assert telemetry["seconds"]["learner_wait"] > 0.05


def test_a_slow_learner_is_told_to_stream_or_where_it_does_to_train_faster() -> None:
    engine = engine_of()
    for _ in range(2):
        telemetry = engine.collect(40, infer).telemetry
        time.sleep(0.1)
    telemetry = engine.collect(40, infer).telemetry
    assert telemetry["bottleneck"] == "learner"
    assert "collect_stream" in telemetry["advice"]
    with engine.collect_stream(40, infer) as stream:
        for _ in range(4):
            telemetry = next(stream).telemetry
            while stream.pending() == 0:
                time.sleep(0.001)
            time.sleep(0.1)  # which the batch in the queue waits, and its learner does not
    assert telemetry["bottleneck"] == "learner"
    assert "collect_stream" not in telemetry["advice"]
    assert telemetry["seconds"]["queue"] >= 0.1 > telemetry["seconds"]["learner_wait"]


def test_the_parts_of_the_time_are_the_time() -> None:
    engine, calls = engine_of(), 0

    def counting(obs: np.ndarray) -> Outputs:
        nonlocal calls
        calls += 1
        return slow(obs)

    begin = time.perf_counter()  # earlier than the time that is told of, which begins where the first batch ends
    engine.collect(400, infer)
    time.sleep(0.05)
    telemetry = engine.collect(400, counting).telemetry
    elapsed = time.perf_counter() - begin
    seconds = telemetry["seconds"]
    parts = sum(seconds[part] for part in ("step", "render", "infer", "wait"))
    assert 0.7 * seconds["total"] < parts <= seconds["total"] <= elapsed
    assert seconds["wait"] >= 0.05
    assert seconds["infer"] >= 0.01 * calls
    assert seconds["queue"] == 0
    assert seconds["learner_wait"] == pytest.approx(seconds["total"] - seconds["wait"], rel=0.1)
    assert telemetry["steps_per_second"] == pytest.approx(400 / seconds["total"])


def keys(found: dict[str, Any], prefix: str = "") -> set[str]:
    """The paths of the values; a histogram and an episode are values."""
    paths = set()
    for name, value in found.items():
        is_table = isinstance(value, dict) and name != "histogram"
        paths |= keys(value, f"{prefix}{name}.") if is_table else {f"{prefix}{name}"}
    return paths


def documented(heading: str) -> set[str]:
    """The names in the first column of the table under a heading of the guide."""
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row)}


def test_the_guide_names_every_key_and_no_other() -> None:
    batch = engine_of(max_steps=5).collect(40, infer)
    episodes = {f"episodes[].{key}" for key in batch.telemetry["episodes"][0]}
    greedy = rf.Engine(
        rf.games.make("CartPole"), None, rf.policies.EpsilonGreedy(), rf.learners.Transitions(), 4, 1, seed=0
    )
    values = greedy.collect(8, lambda obs: np.zeros((len(obs), 2))).telemetry
    assert documented("Keys") == (keys(batch.telemetry) | keys(values)) - {"episodes"} | episodes
    assert documented("Numbers by name") == set(rf.logging.scalars(batch))


def test_scalars_without_an_ended_episode_have_no_mean_of_them() -> None:
    found = rf.logging.scalars(engine_of().collect(4, infer))
    assert found["episodes/count"] == 0
    assert not {name for name in found if name.startswith("episodes/return")}
    assert all(isinstance(value, float) for value in found.values())


def events(folder: Path) -> list[Event]:
    """What a run's file holds: records of a length, its checksum, the event and its checksum."""
    (path,) = folder.glob("events.out.tfevents.*")
    data, found, at = path.read_bytes(), [], 0
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        found.append(Event.FromString(data[at + 12 : at + 12 + length]))
        at += 16 + length
    return found


def test_tensorboard_has_every_number_over_the_records_collected(tmp_path: Path) -> None:
    engine = engine_of(max_steps=5)
    expected: list[tuple[str, int, float]] = []
    with rf.logging.TensorBoard(tmp_path) as board:
        for update in range(3):
            batch = engine.collect(40, infer)
            board.log(batch, loss=0.5 * update)
            numbers = rf.logging.scalars(batch) | {"learner/loss": 0.5 * update}
            expected += [(name, 40 * (update + 1), float(np.float32(value))) for name, value in numbers.items()]
    written = [
        (value.tag, event.step, float(np.float32(value.simple_value)))
        for event in events(tmp_path)
        for value in event.summary.value
    ]
    assert written == expected


def test_a_writer_of_the_callers_is_used_and_closed() -> None:
    class Writer:
        def __init__(self) -> None:
            self.calls: list[Any] = []

        def add_scalar(self, *arguments: Any) -> None:
            self.calls.append(arguments)

        def close(self) -> None:
            self.calls.append("closed")

    writer = Writer()
    with rf.logging.TensorBoard(writer) as board:
        board.log(engine_of().collect(4, infer))
    assert writer.calls[-1] == "closed"
    assert ("sampler/steps_per_second", 4) in [(call[0], call[2]) for call in writer.calls[:-1]]


def test_the_table_shows_last_and_mean_and_the_advice() -> None:
    engine, output = engine_of(max_steps=5), io.StringIO()
    console = Console(file=output, force_terminal=False, width=110)
    with rf.logging.LiveTable(console) as table:
        for loss in (1.0, 3.0):
            batch = engine.collect(40, infer)
            table.log(batch, loss=loss)
    shown = output.getvalue()
    assert "80 records" in shown
    (row,) = [line for line in shown.splitlines() if "learner/loss" in line]
    assert re.findall(r"[\d.]+", row) == ["3", "2"]
    assert batch.telemetry["advice"][:40] in shown


def test_what_is_missing_is_named_with_what_installs_it() -> None:
    script = """
import sys
sys.modules["tensorboardX"] = sys.modules["rich"] = sys.modules["rich.console"] = None
import reinfors as rf
for name in ("TensorBoard", "LiveTable"):
    try:
        getattr(rf.logging, name)
    except ModuleNotFoundError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 2
    assert all("pip install 'reinfors[logging]'" in line for line in lines)
