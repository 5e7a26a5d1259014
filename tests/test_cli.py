"""The command line: what each command prints and leaves, what it refuses and how, and what it does not import."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import reinfors as rf
from reinfors.cli import choice, film, play
from reinfors.cli import eval as evaluation
from reinfors.cli.app import ONE_THREAD, app
from reinfors.envs import PUBLIC_ENVS
from reinfors.evaluation import MAX_EPISODES

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "guides" / "command-line.md"
COMMAND = Path(sys.executable).parent / "reinfors"
GAME = rf.games.registered()[0]
ENV = {**os.environ, "SDL_VIDEODRIVER": "dummy", "NO_COLOR": "1", "COLUMNS": "200", "PYTHONWARNINGS": "error"}


def run(*arguments: str) -> str:
    """What a command prints, in this process."""
    result = CliRunner().invoke(app, list(arguments), env={**ENV, ONE_THREAD: "1"})
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(*arguments: str) -> str:
    """Why a command is refused, in one line of words."""
    result = CliRunner().invoke(app, list(arguments), env=ENV)
    assert result.exit_code == 2, (result.output, result.exception)
    return re.sub(r"[\s│]+", " ", result.stderr)


def start(*arguments: str, cwd: Path | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own."""
    return subprocess.run(
        arguments, cwd=cwd, env={**ENV, **env}, capture_output=True, text=True, timeout=120, check=False
    )


def test_it_runs_as_a_command_and_as_a_module() -> None:
    for command in ([str(COMMAND)], [sys.executable, "-m", "reinfors"]):
        done = start(*command, "--version")
        assert (done.returncode, done.stdout.strip(), done.stderr) == (0, rf.__version__, "")


def test_all_games_are_listed() -> None:
    listed = json.loads(run("envs", "--json"))
    assert [row["name"] for row in listed] == rf.games.registered()
    assert [env for row in listed for env in row["ids"]] == [env.id for env in PUBLIC_ENVS]
    table = run("envs")
    assert all(name in table for name in rf.games.registered())


@pytest.mark.conformance
@pytest.mark.parametrize("name", choice.names())
def test_a_game_tells_all_it_declares(name: str) -> None:
    told = json.loads(run("envs", name, "--json"))
    declared = rf.games.describe(told["name"])
    assert [row["name"] for row in told["options"]] == [row["name"] for row in declared["options"]]
    assert told["reward"] == declared["reward"]
    page = run("envs", name)
    assert all(row["name"] in page and row["annotation"] in page for row in told["options"])


def test_options_are_read_as_python_writes_them() -> None:
    assert choice.options(["a=4", "b=true", "c=None", "d=(1, 2)", "e=chw", "f=x=y"]) == {
        "a": 4,
        "b": True,
        "c": None,
        "d": (1, 2),
        "e": "chw",
        "f": "x=y",
    }
    told = json.loads(run("envs", GAME, "-o", "max_steps=7", "--json"))
    assert told["max_steps"] == 7


def test_information_is_what_the_build_says() -> None:
    info = json.loads(run("info", "--json"))
    assert info["reinfors"] == rf.__version__
    assert info["instructions"] == rf.build_info()["cpu_level"]
    assert info["libraries"]["numpy"] == np.__version__
    assert f"numpy              {np.__version__}" in run("info")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["envs", "Nope"], f"there is no game 'Nope'; known are {', '.join(choice.names())}"),
        (["envs", GAME, "-o", "max_steps"], "an option of the game is written name=value"),
        (["envs", GAME, "-o", "max_steps=0"], "option max_steps must be"),
        (["envs", GAME, "-o", "nope=0"], "has no option"),
        (["record", "x.avi", "-g", GAME], "ends in .gif or .mp4, got x.avi"),
        (["record", "x.gif"], "which game? Give --game"),
        (["record", "x.gif", "-p", "no_such.npz"], "no_such.npz"),
        (["record", "x.gif", "-g", GAME, "-p", "what"], "a policy is random, FILE.npz"),
        (["record", "x.gif", "-g", GAME, "-p", "no_such_module:act"], "there is no module no_such_module"),
        (["record", "x.gif", "-g", GAME, "-p", "no_such.py:act"], "there is no file no_such.py"),
        (["record", "x.gif", "-g", GAME, "-p", "math:pi"], "must define a callable pi"),
        (["record", "x.gif", "-g", GAME, "-o", "max_steps=none"], "may play for ever: give --steps as well"),
        (["record", "x.gif", "-g", GAME, "--checkpoint", "x.pt"], "--checkpoint is for a policy MODULE:NAME"),
        (["eval", "-p", "no_such.npz", "--checkpoint", "x.pt"], "--checkpoint is for a policy MODULE:NAME"),
        (["record", "/dev/null/x.gif", "-g", GAME], "/dev/null"),
        (["eval", "-g", GAME, "-n", str(MAX_EPISODES + 1)], f"less than or equal to {MAX_EPISODES}"),
        (["play", "Nope"], "there is no game"),
    ],
)
def test_a_refusal_says_what_is_allowed(arguments: list[str], words: str) -> None:
    assert words in refused(*arguments)


def test_a_place_that_cannot_be_written_is_refused_before_anything_is_played(tmp_path: Path) -> None:
    (tmp_path / "folder.gif").mkdir()
    source = tmp_path / "mine.py"
    source.write_text("def act(obs):\n    raise AssertionError\n")
    assert "Is a directory" in refused("record", str(tmp_path / "folder.gif"), "-g", GAME, "-p", f"{source}:act")


def test_a_place_is_tried_without_harm_to_what_is_there(tmp_path: Path) -> None:
    old = tmp_path / "old.gif"
    old.write_bytes(b"film")
    film.check_place(old)
    film.check_place(tmp_path / "new" / "film.gif")
    assert old.read_bytes() == b"film"
    assert list((tmp_path / "new").iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "module", "words"),
    [
        (["envs"], "typer", "pip install 'reinfors[cli]'"),
        (["play", GAME], "pygame", "pip install 'reinfors[play]'"),
        (["record", "x.gif", "-g", GAME], "imageio_ffmpeg", "pip install 'reinfors[video]'"),
        (["record", "x.mp4", "-g", GAME], "imageio_ffmpeg", "pip install 'reinfors[video]'"),
    ],
)
def test_a_missing_library_is_named_with_the_extra_that_brings_it(
    arguments: list[str], module: str, words: str
) -> None:
    script = f"import sys; sys.modules[{module!r}] = None; sys.argv[1:] = {arguments!r}\n"
    done = start(sys.executable, "-c", script + "import reinfors.cli; reinfors.cli.main()")
    assert done.returncode != 0
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_a_command_imports_what_it_needs() -> None:
    script = (
        "import sys, typer.testing, reinfors.cli.app as cli\n"
        "for line in (['envs', '--json'], ['info', '--json']):\n"
        "    typer.testing.CliRunner().invoke(cli.app, line)\n"
        "print(*sorted({'gymnasium', 'imageio', 'PIL', 'pygame', 'torch', 'scipy'} & sys.modules.keys()))\n"
    )
    done = start(sys.executable, "-c", script)
    assert (done.returncode, done.stdout.split()) == (0, []), done.stderr


def test_the_shell_completes_games() -> None:
    for shell, words in (("bash", "complete -o"), ("zsh", "compdef")):
        assert words in start(str(COMMAND), _REINFORS_COMPLETE=f"source_{shell}").stdout
    line = f"reinfors envs {GAME[:3]}"
    done = start(str(COMMAND), _REINFORS_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD="2")
    assert GAME in done.stdout.split()


@pytest.mark.parametrize("name", choice.names())
def test_a_film_of_random_play_is_recorded(name: str, tmp_path: Path) -> None:
    told = json.loads(run("record", str(tmp_path / "x.gif"), "-g", name, "--steps", "9", "--width", "120", "--json"))
    with Image.open(tmp_path / "x.gif") as film:
        assert getattr(film, "n_frames", 1) == told["steps"] + 1
        assert film.size[0] == 120


def test_a_film_shows_the_seed_s_episode(tmp_path: Path) -> None:
    def recorded(seed: str) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(
            run("record", str(tmp_path / "x.gif"), "-g", "CartPole", "--seed", seed, "--json")
        )
        return told

    assert recorded("4") == recorded("4")
    assert recorded("4")["return"] == recorded("4")["steps"]
    assert {recorded(str(seed))["steps"] for seed in range(4)} != {recorded("4")["steps"]}


def test_an_mp4_has_every_frame(tmp_path: Path) -> None:
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    run("record", str(tmp_path / "x.mp4"), "-g", GAME, "--steps", "20", "--width", "101", "--fps", "25")
    n_frames, seconds = ffmpeg.count_frames_and_secs(tmp_path / "x.mp4")
    assert n_frames == 21
    assert seconds == pytest.approx(21 / 25, abs=0.02)


def test_a_policy_of_the_caller_s_plays(tmp_path: Path) -> None:
    source = tmp_path / "mine.py"
    source.write_text(
        "import numpy as np\n"
        "def right(obs):\n    return np.ones(len(obs), np.int64)\n"
        "def load(checkpoint):\n    return lambda obs: np.full(len(obs), int(checkpoint.read_text()))\n"
    )
    (tmp_path / "action.txt").write_text("1")
    out = str(tmp_path / "x.gif")
    always_right = json.loads(run("record", out, "-g", "CartPole", "-p", f"{source}:right", "--json"))
    loaded = ["-p", f"{source}:load", "--checkpoint", str(tmp_path / "action.txt")]
    assert json.loads(run("record", out, "-g", "CartPole", *loaded, "--json")) == always_right
    assert 5 < always_right["steps"] < 15, "a cart that is only pushed to the right loses its pole at once"


def test_an_evaluation_is_that_of_the_library(tmp_path: Path) -> None:
    source = tmp_path / "mine.py"
    source.write_text("import numpy as np\ndef right(obs):\n    return np.ones(len(obs), np.int64)\n")
    told = json.loads(run("eval", "-g", "CartPole", "-p", f"{source}:right", "-n", "5", "--seed", "3", "--json"))
    game = rf.games.make("CartPole")
    stats = rf.evaluate(game, lambda obs: (np.tile([0.0, 1.0], (len(obs), 1)), np.zeros(len(obs))), 5, 3)
    assert told["episodes"] == stats.episodes
    assert told["interval95"] == list(stats.interval())
    shown = run("eval", "-g", "CartPole", "-p", f"{source}:right", "-n", "5", "--seed", "3", "--table")
    assert stats.table() in shown
    assert repr(stats) in shown


SINGLE = [name for name in choice.names() if choice.game(name, []).n_agents == 1]
TEAMS = [name for name in choice.names() if name not in SINGLE]


@pytest.mark.conformance
@pytest.mark.parametrize("name", TEAMS)
def test_a_team_is_recorded_but_neither_evaluated_nor_driven_by_keys(name: str, tmp_path: Path) -> None:
    pytest.importorskip("imageio")
    told = json.loads(run("record", "-g", name, "--steps", "5", "-o", "max_steps=8", "--json", str(tmp_path / "a.gif")))
    assert told["steps"] == 5
    pytest.importorskip("pygame")
    for command in (["eval", "-g", name], ["play", name]):
        assert "has 3: use reinfors.pettingzoo.ParallelEnv" in refused(*command)


@pytest.mark.conformance
@pytest.mark.parametrize("name", SINGLE)
def test_random_play_of_any_game_is_evaluated(name: str) -> None:
    told = json.loads(run("eval", "-g", name, "-n", "2", "-o", "max_steps=20", "--json"))
    assert [episode["seed"] for episode in told["episodes"]] == [0, 1]
    assert told["length"] <= 20


@pytest.mark.parametrize("actions", [[0, 2], [0, -1], [0.0, 1.0], [[0], [1]], 0, None])
def test_actions_that_there_are_not_are_refused(actions: Any) -> None:
    with pytest.raises(ValueError, match="a policy must return one action from 0 to 1 for each observation, got"):
        evaluation.as_parameters(rf.games.make("CartPole"), actions)


@pytest.mark.parametrize("actions", [[0.0, 1.0, 0.0], [[0.0, 1.0]], [["0", "1", "0"]], 0, None])
def test_vectors_of_another_length_are_refused(actions: Any) -> None:
    with pytest.raises(ValueError, match="a policy must return 3 numbers for each observation, got"):
        evaluation.as_parameters(rf.games.make("CarRacing", continuous=True), actions)


def test_the_benchmark_takes_its_own_arguments() -> None:
    done = start(str(COMMAND), "bench", "--help")
    assert done.returncode == 0
    assert "--install-peers" in done.stdout
    assert "--trials must be at least 1" in start(str(COMMAND), "bench", "--trials", "0").stderr


@pytest.mark.smoke
def test_the_demo_learns_and_leaves_what_can_be_watched(tmp_path: Path) -> None:
    quick = ["--seconds", "2", "--games", "8", "--collect", "256"]
    told = json.loads(run("demo", *quick, "--out", str(tmp_path), "--json"))
    assert told["updates"] >= 1
    with Image.open(tmp_path / "demo.png") as picture:
        assert picture.size == (900, 400)
        assert len(picture.getcolors(maxcolors=2**24) or []) > 5
    with Image.open(tmp_path / "demo.gif") as film:
        assert getattr(film, "n_frames", 1) > 20
    weights = str(tmp_path / "demo.npz")
    again = json.loads(run("record", str(tmp_path / "x.gif"), "-p", weights, "--steps", "5", "--json"))
    assert again["steps"] == 5
    assert "was trained on" in refused("record", "x.gif", "-p", weights, "-o", "size=(40, 40)")


def test_the_demo_runs_once_more_where_blas_would_have_threads(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[Any] = []

    def call(command: list[str], env: dict[str, str]) -> int:
        asked.append((command, env))
        return 3

    monkeypatch.setattr(subprocess, "call", call)
    result = CliRunner().invoke(app, ["demo", "--games", "5", "--out", str(tmp_path), "--json"], env={ONE_THREAD: None})
    [(command, env)] = asked
    assert result.exit_code == 3
    assert env[ONE_THREAD] == "1"
    assert command[2:] == [
        *("reinfors", "demo", "--seconds", "60.0", "--games", "5", "--collect", "2048", "--seed", "0"),
        *("--out", str(tmp_path), "--json"),
    ]


@pytest.mark.parametrize("env", [env for env in PUBLIC_ENVS if env.keys], ids=lambda env: env.id)
def test_keys_drive(env: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pygame = pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    key = next(key for key in env.keys if key)
    acted: list[Any] = []
    act = play.Keyboard.action

    def noted(keyboard: play.Keyboard) -> Any:
        acted.append(act(keyboard))
        return acted[-1]

    monkeypatch.setattr(play.Keyboard, "action", noted)

    class Player:
        """Presses a key in the second frame, releases it in the fifth, begins anew in the seventh, leaves."""

        frame = 0

        def get(self) -> list[Any]:
            self.frame += 1
            code = pygame.key.key_code(key)
            script = {
                2: pygame.event.Event(pygame.KEYDOWN, key=code),
                5: pygame.event.Event(pygame.KEYUP, key=code),
                7: pygame.event.Event(pygame.KEYDOWN, key=pygame.K_r),
                9: pygame.event.Event(pygame.KEYDOWN, key=pygame.K_ESCAPE),
            }
            return [script[self.frame]] if self.frame in script else []

    monkeypatch.setattr(pygame.event, "get", Player().get)
    told = play.play(env.game, [], seed=1, fps=1000, steps=50)
    assert told["steps"] == 8
    assert len(told["returns"]) == 2
    pressed = np.asarray(env.keys[key], np.float32)
    assert all(np.array_equal(action, pressed) for action in acted[1:4])
    if acted[0].__class__ is np.ndarray:
        assert not acted[0].any()
        assert not acted[4].any()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is always a display")
def test_without_a_display_playing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ValueError, match="there is no display to open a window on"):
        play.play(GAME, [], seed=1, fps=1000, steps=1)


def test_digits_play_where_no_keys_are_known() -> None:
    keyboard = play.Keyboard(rf.games.make("CartPole"), None)
    keyboard.press("1")
    assert keyboard.action() == 1
    keyboard.release("1")
    assert keyboard.action() == 1, "the last action goes on"


@pytest.mark.smoke
def test_the_page_s_commands_run(tmp_path: Path) -> None:
    """Every command of the page, in order, in one folder; only what takes long is cut short."""
    lines = re.findall(r"^\$ (reinfors .*)$", PAGE.read_text(), re.MULTILINE)
    commands = {command.name or command.callback.__name__ for command in app.registered_commands if command.callback}
    assert {line.split()[1] for line in lines} >= commands
    (tmp_path / "mine.py").write_text("import numpy as np\n\ndef act(obs):\n    return np.zeros(len(obs), np.int64)\n")
    for line in lines:
        words = shlex.split(re.sub(r"--seconds \d+", "--seconds 1", line).partition("   #")[0])
        words += {"play": ["--steps", "3"], "demo": ["--games", "4", "--collect", "64"], "bench": ["--help"]}.get(
            words[1], []
        )
        done = start(str(COMMAND), *words[1:], cwd=tmp_path)
        assert done.returncode == 0, f"{line}\n{done.stderr}"
