"""The benchmark: it runs, takes turns, says what it left out, and refuses what would mislead."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reinfors as rf
from reinfors.bench import aims, machine, peers, plan, race, report
from reinfors.bench.__main__ import QUICK_SECONDS, TRIALS, main, refusal
from reinfors.bench.contenders import FIVE_CONTROLS, ManyGames, OneGame, OneUndrawnGame, drive

ROOT = Path(__file__).resolve().parent.parent
BENCHMARK_PAGE = ROOT / "docs" / "benchmarks.md"


def test_a_run_is_recorded_printed_and_drawn(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("gymnasium")
    files = [tmp_path / "run.json", tmp_path / "run.svg"]
    # The rows of one driver in a plain loop; no peer is installed in an empty folder.
    arguments = f"--quick --trials 2 --seconds 0.05 --only plain --json {files[0]} --plot {files[1]} --peers {tmp_path}"
    main(arguments.split())
    run, printed = json.loads(files[0].read_text()), capfd.readouterr()
    names = ["Gymnasium, CarRacing-v3", "reinfors, exact frames", "reinfors, fast frames"]
    assert [row["name"] for row in run["rows"]][:3] == names
    assert [row["shows_the_reference"] for row in run["rows"]][:3] == [True, True, False]
    assert all(len(row["trials"]) == 2 and report.median(row, "cpu") > 0 for row in run["rows"])
    assert run["machine"]["build"]["profile"] == "release"
    assert {"cpu", "commit", "load_before", "load_after", "system"} < set(run["machine"])
    assert run["machine"]["command"].endswith(f"python -m reinfors.bench {arguments}")
    assert any(line.startswith("reinfors 0.4, which `--install-peers`") for line in run["left_out"])
    assert "left out: reinfors 0.4, which `--install-peers`" in printed.err
    [told] = [line for line in printed.out.splitlines() if "reinfors 0.4, which" in line]
    assert told.count("left out") == 1
    assert "3 contenders, 2 x 0.05 s of each: about 1 min" in printed.err
    assert "trial 2 of 2, about 1 min left: " in printed.err
    assert printed.out.startswith(report.text(run))
    assert printed.out.strip().endswith(aims.table_of(run, measured_only=True))
    assert "Some contenders played less than an episode of 1000 steps" in printed.out
    assert run["machine"]["when"] in files[1].read_text()


def test_a_script_gets_the_record_and_nothing_else(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    only = "plain loop: reinfors, fast frames"
    main(["--json", "--quick", "--trials", "1", "--seconds", "0.05", "--only", only, "--peers", str(tmp_path)])
    assert {row["name"] for row in json.loads(capfd.readouterr().out)["rows"]} == {"reinfors, fast frames"}


def test_a_trial_has_a_slice_however_short_it_is(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    arguments = ["--trials", "1", "--seconds", "1e-9", "--only", "state, baseline", "--peers", str(tmp_path)]
    main([*arguments, "--json", str(file)])
    [row] = json.loads(file.read_text())["rows"]
    assert [trial["steps"] for trial in row["trials"]] == [plan.N_GAMES]


def test_the_record_is_written_before_words_are_made_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_words(run: report.Record) -> str:
        raise ValueError(f"no words for {len(run['rows'])} rows")

    monkeypatch.setattr(report, "text", no_words)
    file = tmp_path / "run.json"
    arguments = ["--trials", "1", "--seconds", "0.01", "--only", "state, baseline", "--peers", str(tmp_path)]
    with pytest.raises(ValueError, match="no words for 1 rows"):
        main([*arguments, "--json", str(file)])
    assert len(json.loads(file.read_text())["rows"]) == 1


def test_the_command_of_a_record_repeats_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REINFORS_CPU", raising=False)
    told = machine.circumstances(["--only", "state, baseline", "--trials", "1"])["command"]
    assert told == "python -m reinfors.bench --only 'state, baseline' --trials 1"
    monkeypatch.setenv("REINFORS_CPU", "baseline")
    assert machine.circumstances(["--quick"])["command"] == "REINFORS_CPU=baseline python -m reinfors.bench --quick"


def test_a_peer_of_the_same_name_never_runs_in_this_interpreter(tmp_path: Path) -> None:
    assert peers.command(plan.OLD, tmp_path) is None
    python = peers.own_python(plan.OLD, tmp_path)
    python.parent.mkdir(parents=True)
    python.touch()
    assert peers.command(plan.OLD, tmp_path) == [str(python), "-I", str(peers.CONTENDERS)]
    assert peers.command(plan.HERE, tmp_path) == [sys.executable, str(peers.CONTENDERS)]


@pytest.mark.parametrize("has_torch", [True, False])
def test_pytorch_runs_beside_this_package_and_comes_from_its_own_environment_if_need_be(
    has_torch: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: has_torch or None)
    here = [sys.executable, str(peers.CONTENDERS)]
    assert peers.command(plan.WITH_TORCH, tmp_path) == (here if has_torch else None)
    packages = peers.packages_of(peers.own_python(plan.WITH_TORCH, tmp_path))
    (packages / "torch").mkdir(parents=True)
    assert peers.command(plan.WITH_TORCH, tmp_path) == (here if has_torch else [*here, str(packages)])


def test_packages_of_another_environment_come_after_those_of_this_one(tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("raise ImportError('not this one')\n")
    (tmp_path / "torch.py").write_text("raise ImportError('this one')\n")
    entry = next(entry for entry in plan.entries() if entry.peer == plan.WITH_TORCH)
    command = [sys.executable, str(peers.CONTENDERS), str(tmp_path), json.dumps(entry.spec())]
    failed = subprocess.run(command, input="", capture_output=True, text=True, timeout=60, check=False)
    assert importlib.util.find_spec("torch") or "this one" in failed.stderr
    assert "not this one" not in failed.stderr


def test_the_length_of_a_run_is_told_from_what_it_is_of() -> None:
    assert race.duration(30, 3, 30) == "about 47 min"
    assert race.duration(1, 1, 0.1) == "about 1 min"
    n_quick = len(plan.entries(plan.DRIVERS[:1]))
    quick = race.duration(n_quick, TRIALS, QUICK_SECONDS)
    assert f'make bench ARGS="--quick"                   # {quick} on idle cores' in BENCHMARK_PAGE.read_text()


def test_the_steps_of_an_episode_that_trials_were_of_are_computed() -> None:
    def row(n_games: int, *steps: int, against: float | None = None) -> report.Row:
        return {"n_games": n_games, "trials": [{"steps": taken, "against": against} for taken in steps]}

    # The opening of 60 steps is played before the first trial.
    assert report.covered(row(64, 64 * 200, 64 * 800, 64 * 200)) == "60 to 260, 260 to 60, 60 to 260"
    assert report.covered(row(1, 200, 220)) == "60 to 260, 260 to 480"
    assert report.covered(row(1, 10000, 1200, 20000)) == "1.2 to 20.0 episodes"
    assert report.covered(row(1, 500, 600, against=1.0)) == "0.5 to 0.6 episodes"


def row(section: str, peer: str, what: str, *walls: float, **others: Any) -> report.Row:
    """A row of a record, whose trials went at so many steps a second."""
    trials = [{"steps": 1, "wall": wall, "cpu": wall, "against": 10.0} for wall in walls]
    told = {"section": section, "peer": peer, "what": what, "driver": "random", "n_threads": 1, "report": {}}
    return told | {"name": f"{peer}, {what}", "trials": trials} | others


def test_a_ratio_is_of_trials_that_were_taken_in_turns() -> None:
    # The second trial was had by both while the machine was three times as fast.
    ours = row(plan.ENGINE, plan.HERE, "exact frames", 19, 62, 20)
    theirs = row(plan.VECTOR, plan.HERE, "exact frames", 10, 30, 11)
    assert report.times(ours, "cpu", theirs, "cpu") == pytest.approx(1.9)
    assert report.threads({"rows": [ours, theirs]}) == {
        "Engine.collect to VecEnv, one thread, exact frames": pytest.approx(1.9)
    }


def test_lines_of_which_nothing_was_measured_are_not_shown_in_a_terminal() -> None:
    ours = row(plan.STATE_ONLY, plan.HERE, "state", 1e6, n_games=64)
    theirs = row(plan.STATE_ONLY, plan.GYMNASIUM, "CarRacing-v3 without its drawing", 1e4, n_games=1)
    run = {"rows": [ours, theirs]}
    told = report.summary(run, measured_only=True).splitlines()
    assert len(told) == 3
    assert "100.0" in told[2]
    assert len(report.summary(run).splitlines()) == 15
    assert len(aims.table_of(run, measured_only=True).splitlines()) == 4
    assert len(aims.table_of(run).splitlines()) == 2 + len(aims.AIMS)
    alone = {"rows": [row(plan.RECIPES, plan.HERE, "gray", 1e6)]}
    assert report.summary(alone, measured_only=True) == aims.table_of(alone, measured_only=True) == ""


def test_ratios_of_openings_are_called_so() -> None:
    def short(*steps: int) -> str | None:
        return report.openings({"rows": [{"n_games": 64, "trials": [{"steps": 64 * taken} for taken in steps]}]})

    # The opening of 60 steps is played before the first trial.
    assert short(500, 440) is None
    assert "no ratio here is that of a whole run" in str(short(500, 439))


def test_a_record_is_read_the_same_on_a_machine_with_other_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(7)), raising=False)
    found = importlib.util.spec_from_file_location("plan_of_seven_cores", plan.__file__)
    assert found
    assert found.loader
    other = importlib.util.module_from_spec(found)
    monkeypatch.setitem(sys.modules, found.name, other)
    found.loader.exec_module(other)
    assert max(entry.n_threads for entry in other.entries()) == 7
    assert [entry.section for entry in other.entries()] == [entry.section for entry in plan.entries()]


def test_the_turns_of_a_trial_are_added_up() -> None:
    turns = [{"steps": 100, "wall": 1.0, "cpu": 0.5, "against": 2.0}, {"steps": 200, "wall": 5.0, "cpu": 2.5}]
    turns[1]["against"] = 8.0
    assert race.Trial.of(turns) == race.Trial(300, 50.0, 100.0, 30.0)
    assert race.Trial.of([{"steps": 100, "wall": 1.0, "cpu": 0.5}]) == race.Trial(100, 100.0, 200.0, None)
    assert [race.turns_of(seconds) for seconds in (0.4, 4, 30)] == [1, 1, 10]


def test_everybody_has_a_turn_before_anybody_has_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(race, "TURN", 0.01)
    entry = replace(plan.entries()[2], options={"obs": "state"})
    entries = [replace(entry, driver=driver) for driver in plan.DRIVERS]
    command = peers.command(plan.HERE, peers.cache())
    assert command
    said: list[str] = []
    results, left_out = race.run([(entry, command) for entry in entries], 2, 0.02, said.append)
    assert left_out == []
    assert all(len(result.trials) == 2 and min(trial.steps for trial in result.trials) > 0 for result in results)
    first, second = (entry.name for entry in entries)
    turns = [line.split(": ")[1] for line in said if line.startswith("trial")]
    assert turns == [first, second, second, first] * 2


def test_aims_are_judged_by_what_was_measured() -> None:
    streamed = {"batches_at_peak": 3.0, "batches_held": 3, "new_pages": 0.0, "pages": 7000.0}
    run = {
        "rows": [
            row(plan.STREAM, plan.HERE, "collect_stream", 9.0, 8.0, 9.5, report=streamed),
            row(plan.HALVES, plan.HERE, "Engine.collect, one thread", 18.0, 17.0, 19.0),
            row(plan.STATE_ONLY, plan.HERE, "state", 1e6, report={"reset_to_next": 7.5, "reset_to_last": 8.0}),
        ]
    }
    told = {aim.figure: verdict for aim, verdict in aims.verdicts(run).items() if verdict[1] != "not measured"}
    assert told == {
        "state, one thread, steps per CPU second": ("1,000,000", "met"),
        "a step that resets, times the next one, state": ("7.5", "missed"),
        "collect_stream and training for as long, times the longer": ("1.11", "missed"),
        "collect_stream, memory at the peak, in batches held": ("1.00", "met"),
        "collect_stream, new pages a batch in steady state": ("0.00", "met"),
        "an infer that takes as long as stepping, one thread, times one after the other": ("1.80", "met"),
    }


def test_every_aim_is_of_something_that_a_whole_run_measures() -> None:
    reports = {
        "stream": {"batches_at_peak": 3.0, "batches_held": 3, "new_pages": 0.0, "pages": 7000.0},
        "vector and resets": {"reset_to_next": 1.0, "reset_to_last": 1.0},
    }
    rows = [
        row(entry.section, entry.peer, entry.what, 9.0, n_threads=min(entry.n_threads, 2), driver=entry.driver)
        | {"report": reports.get(entry.kind, {})}
        for entry in plan.entries()
    ]
    for one in rows:
        if one["section"] in {plan.VECTOR_ALL, plan.ENGINE_ALL}:
            one["n_threads"] = 2  # whatever this machine has
    assert {"not measured"}.isdisjoint(verdict for _, verdict in aims.verdicts({"rows": rows}).values())


@pytest.mark.parametrize("section", [plan.STREAM, plan.HALVES])
def test_what_overlaps_is_measured_against_the_same_batches(section: str) -> None:
    entry = next(entry for entry in plan.entries() if entry.section == section and entry.peer == plan.HERE)
    with race.Runner([sys.executable, str(peers.CONTENDERS)], replace(entry, options=plan.FAST)) as runner:
        runner.about()
        turns = [runner.turn(0.2) for _ in range(2)]
        told = runner.ask({"report": True})
    for turn in turns:
        assert turn["steps"] >= 1024
        assert turn["steps"] % 1024 == 0
        assert turn["against"] > 0
        assert turn["wall"] > 0
    if section == plan.STREAM:
        assert 1 < told["batches_at_peak"] <= 1.1 * told["batches_held"]
        assert told["new_pages"] < told["pages"] / 10
    else:
        assert told == {}


def test_a_debug_build_is_refused() -> None:
    assert refusal("release") is None
    assert "debug build is not measured" in str(refusal("debug"))


@pytest.mark.parametrize(
    "arguments",
    [
        ["--trials", "0"],
        ["--seconds", "0"],
        ["--seconds", "inf"],
        ["--only", "no such"],
        ["--json", "no_such_folder/x.json"],
        ["--plot", "no_such_folder/x.svg"],
    ],
)
def test_what_cannot_be_run_is_refused(arguments: list[str]) -> None:
    with pytest.raises(SystemExit, match=r"--trials must|no contender has|no folder no_such_folder to write x"):
        main(arguments)


def test_a_plot_that_cannot_be_written_is_refused_before_the_race(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("x.txt", "x"):
        with pytest.raises(SystemExit, match=rf"the kind of file of {name}: its name must end in one of .*\.svg"):
            main(["--only", "no such", "--plot", str(tmp_path / name)])
    with pytest.raises(SystemExit, match="no contender has"):
        main(["--only", "no such", "--plot", str(tmp_path / "x.svg")])
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(SystemExit, match=r"--plot needs matplotlib: pip install 'reinfors\[plot\]'"):
        main(["--only", "no such", "--plot", str(tmp_path / "x.svg")])


def test_an_interrupt_ends_the_race_and_its_contenders_at_once(tmp_path: Path) -> None:
    only = ["--only", "state", "--trials", "60", "--seconds", "20", "--peers", str(tmp_path)]
    command = [sys.executable, "-m", "reinfors.bench", *only]
    # A session of its own, as the foreground job of a terminal is: the interrupt goes to its contenders too.
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, bufsize=1, start_new_session=True) as bench:
        assert bench.stderr
        told = ""
        try:
            while "trial 1 of 60" not in told:
                told += (read := bench.stderr.read(1))
                assert read, told
            os.killpg(bench.pid, signal.SIGINT)
            told += bench.communicate(timeout=10)[1]
            with pytest.raises(ProcessLookupError):
                os.killpg(bench.pid, 0)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(bench.pid, signal.SIGKILL)
    assert bench.returncode == 130
    assert told.endswith("interrupted: a race that is not finished is not recorded\n")
    assert "Traceback" not in told


def test_the_readme_tells_what_was_recorded() -> None:
    run = json.loads((ROOT / "benchmarks" / "recorded.json").read_text())
    measured = report.figures(run)
    names = (f"{frames}, one thread, random driver, times {plan.GYMNASIUM}" for frames in report.FRAMES)
    recorded = [int(measured[name]) for name in names]
    readme = (ROOT / "README.md").read_text()
    told = re.search(r"64 races take (\d+) times .*? exact frames,\s+(\d+) times", readme, re.DOTALL)
    assert told
    assert [int(times) for times in told.groups()] == recorded


def test_a_contender_is_kept_to_its_instructions() -> None:
    entries = [entry for entry in plan.entries() if entry.cpu_level]
    assert {entry.section for entry in entries} == {plan.VECTOR, plan.STATE_ONLY}
    for entry in entries:
        with race.Runner([sys.executable, str(peers.CONTENDERS)], replace(entry, n_games=1)) as runner:
            assert runner.about()["cpu_level"] == entry.cpu_level


def test_the_reference_without_its_drawing_goes_the_same_way() -> None:
    pytest.importorskip("gymnasium")
    drawn, undrawn = (
        next(entry for entry in plan.entries() if entry.peer == plan.GYMNASIUM and entry.kind == kind).spec()
        for kind in ("one game", "one undrawn game")
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SWIG's types and pygame's resources are deprecated in ways that are not ours
        loops = OneGame(drawn), OneUndrawnGame(undrawn)
    for loop in loops:
        loop.slice()
    games: list[Any] = [loop.env.unwrapped for loop in loops]
    assert games[0].car.hull.position == games[1].car.hull.position
    obs, *_ = loops[1].env.step(0)
    assert not obs.any()


def test_a_contender_that_fails_is_named() -> None:
    entry = replace(plan.entries()[1], options={"no_such_option": 1})
    with race.Runner([sys.executable, str(peers.CONTENDERS)], entry) as runner, pytest.raises(RuntimeError) as error:
        runner.about()
    assert entry.name in str(error.value)


@pytest.mark.parametrize("n_answers", range(4))
def test_a_contender_that_ends_before_its_time_is_left_out_and_the_others_go_on(n_answers: int) -> None:
    lasting = replace(plan.entries()[2], options=plan.STATE)
    ending = replace(lasting, what="one that ends")
    answer = {"first_frame": None, "steps": 1, "wall": 1.0, "cpu": 1.0}
    # It answers of itself, of two turns, and would be asked for a report; it ends after some of that.
    program = f"""if {n_answers}: print({json.dumps(answer)!r}, flush=True)
for _ in range({n_answers} - 1): input(); print({json.dumps(answer)!r}, flush=True)"""
    command = [sys.executable, "-c", program]
    here = [sys.executable, str(peers.CONTENDERS)]
    said: list[str] = []
    results, left_out = race.run([(lasting, here), (ending, command), (lasting, here)], 2, 0.01, said.append)
    assert [(result.entry, len(result.trials)) for result in results] == [(lasting, 2)] * 2
    assert left_out == [f"{plan.ONE_GAME}: reinfors, one that ends, which ended without an answer"]
    assert f"left out: {left_out[0]}\n" in said


def test_who_is_left_out_in_the_race_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    lasting = replace(plan.entries()[2], options=plan.STATE)
    failing = replace(lasting, what="no such thing", options={"no_such_option": 1})
    file = tmp_path / "run.json"
    arguments = ["--trials", "1", "--seconds", "0.01", "--json", str(file)]
    told = f"{plan.ONE_GAME}: reinfors, no such thing, which ended without an answer"
    monkeypatch.setattr("reinfors.bench.__main__.entries", lambda _: [failing, lasting])
    main(arguments)
    run, printed = json.loads(file.read_text()), capfd.readouterr()
    assert ([row["name"] for row in run["rows"]], run["left_out"]) == ([lasting.name], [told])
    assert f"left out: {told}\n" in printed.err
    assert told in printed.out
    monkeypatch.setattr("reinfors.bench.__main__.entries", lambda _: [failing])
    with pytest.raises(SystemExit, match="nothing was measured"):
        main(arguments)
    assert json.loads(file.read_text())["left_out"] == [told]


def test_other_work_is_not_compared() -> None:
    gymnasium, here, *_ = plan.entries()
    race.check_same_work([gymnasium, here], [{"first_frame": "a"}, {"first_frame": "a"}])
    with pytest.raises(RuntimeError, match="exact frames: the first frame is not the reference's"):
        race.check_same_work([gymnasium, here], [{"first_frame": "a"}, {"first_frame": "b"}])


@pytest.mark.parametrize("driver", plan.DRIVERS)
def test_continuous_controls_drive_as_the_discrete_ones_do(driver: str) -> None:
    make = rf.games.make
    discrete = rf.VecEnv(make(plan.ENV.game, obs="state"), 4, 1, seed=0)
    continuous = rf.VecEnv(make(plan.ENV.game, obs="state", continuous=True), 4, 1, seed=0)
    discrete.reset()
    continuous.reset()
    steps = zip(range(150), drive(driver, 4), strict=False)
    for _, actions in steps:
        seen = discrete.step(actions)[0]
        np.testing.assert_allclose(continuous.step(FIVE_CONTROLS[actions])[0], seen, rtol=1e-4, atol=1e-4)


def test_a_decision_counts_the_steps_it_takes() -> None:
    spec = plan.Entry("", plan.HERE, "", "vector", plan.STATE | {"frame_skip": 8}, n_games=2).spec()
    assert ManyGames(spec).slice() == 2 * 8
