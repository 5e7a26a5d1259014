"""The benchmark: it runs, takes turns, says what it left out, and refuses what would mislead."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import reinfors as rf
from reinfors.bench import peers, plan, race, report
from reinfors.bench.__main__ import main, refusal
from reinfors.bench.contenders import FIVE_CONTROLS, ManyGames, drive


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
    assert all(len(row["trials"]) == 2 and row["median"]["cpu"] > 0 for row in run["rows"])
    assert run["machine"]["build"]["profile"] == "release"
    assert {"cpu", "commit", "load_before", "load_after", "system", "command"} < set(run["machine"])
    assert any(line.startswith("reinfors 0.4 is left out") for line in run["left_out"])
    assert "reinfors 0.4 is left out" in printed.err
    assert printed.out.strip() == report.text(run).strip()
    assert run["machine"]["when"] in files[1].read_text()


def test_a_script_gets_the_record_and_nothing_else(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    only = "plain loop: reinfors, fast frames"
    main(["--json", "--quick", "--trials", "1", "--seconds", "0.05", "--only", only, "--peers", str(tmp_path)])
    assert {row["name"] for row in json.loads(capfd.readouterr().out)["rows"]} == {"reinfors, fast frames"}


def test_a_peer_of_the_same_name_never_runs_in_this_interpreter(tmp_path: Path) -> None:
    assert peers.command(plan.OLD, tmp_path) is None
    python = peers.own_python(plan.OLD, tmp_path)
    python.parent.mkdir(parents=True)
    python.touch()
    assert peers.command(plan.OLD, tmp_path) == [str(python), "-I", str(peers.CONTENDERS)]
    assert peers.command(plan.HERE, tmp_path) == [sys.executable, str(peers.CONTENDERS)]


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


def test_a_contender_that_fails_is_named() -> None:
    entry = replace(plan.entries()[1], options={"no_such_option": 1})
    with race.Runner([sys.executable, str(peers.CONTENDERS)], entry) as runner, pytest.raises(RuntimeError) as error:
        runner.about()
    assert entry.name in str(error.value)


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
