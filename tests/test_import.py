"""Importing the package needs NumPy only, is quick, and makes the public ids known to Gymnasium in either order."""

from __future__ import annotations

import importlib.util
import os
import re
import statistics
import subprocess
import sys

import pytest

import reinfors as rf
from reinfors.envs import PUBLIC_ENVS

MOST_MODULES = 80  # beside NumPy's, the standard library's included


def run(script: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_nothing_but_numpy_is_imported() -> None:
    imported = run(
        "import sys, numpy\n"
        "before = {name.partition('.')[0] for name in sys.modules}\n"
        "import reinfors as rf\n"
        "engine = rf.Engine(rf.games.make(rf.games.registered()[0]), None, rf.policies.Ppo(), rf.learners.Ppo(), 1)\n"
        "after = {name.partition('.')[0] for name in sys.modules}\n"
        "print(*sorted(after - before - set(sys.stdlib_module_names)))\n"
    )
    assert imported.split() == ["reinfors"]


def test_importing_takes_less_than_150_milliseconds_beside_numpy() -> None:
    """In processor time, which other processes of the machine do not lengthen, and beside NumPy's own."""
    script = (
        "import sys, time\n"
        "times, counts = [time.process_time()], [len(sys.modules)]\n"
        "for name in ('numpy', 'reinfors'):\n"
        "    __import__(name)\n"
        "    times.append(time.process_time())\n"
        "    counts.append(len(sys.modules))\n"
        "print(times[1] - times[0], times[2] - times[1], counts[2] - counts[1])\n"
    )
    trials = [[float(figure) for figure in run(script).split()] for _ in range(5)]
    of_numpy, of_ours, modules = (statistics.median(column) for column in zip(*trials, strict=True))
    assert of_ours < 0.15
    assert of_ours < of_numpy
    assert modules < MOST_MODULES


@pytest.mark.parametrize(
    "imports",
    [
        "import gymnasium, reinfors",
        "import reinfors, gymnasium",
        "import reinfors.adapters.gymnasium, gymnasium",
        "import gymnasium.envs.registration, reinfors.adapters.gymnasium",
        "import reinfors, importlib.util\nimportlib.util.find_spec('gymnasium')\nimport gymnasium",
        "from gymnasium.vector import VectorEnv\nimport reinfors, gymnasium",
    ],
)
def test_public_ids_are_registered_whichever_is_imported_first(imports: str) -> None:
    pytest.importorskip("gymnasium")
    listed = run(f"{imports}\nprint(*[name for name in gymnasium.registry if name.startswith('reinfors/')])")
    assert listed.split() == [f"reinfors/{env.id}" for env in PUBLIC_ENVS if env.in_gymnasium]


def run_at_level(name: str) -> subprocess.CompletedProcess[str]:
    script = "import reinfors\nprint(reinfors.build_info()['cpu_level'])"
    env = {**os.environ, "REINFORS_CPU": name}
    return subprocess.run(
        [sys.executable, "-c", script], env=env, capture_output=True, text=True, timeout=60, check=False
    )


def test_the_level_of_instructions_is_chosen_by_a_name_that_there_is() -> None:
    assert run_at_level("").stdout.split() == [rf.build_info()["cpu_level"]]
    assert run_at_level("baseline").stdout.split() == ["baseline"]
    refused = run_at_level("sse9").stderr
    assert re.search(r'ValueError: .* REINFORS_CPU must be baseline.*, got "sse9"', refused), refused


def test_gymnasium_imports_the_adapter_that_an_id_names() -> None:
    gymnasium = pytest.importorskip("gymnasium")
    for env in filter(lambda env: env.in_gymnasium, PUBLIC_ENVS):
        made = f"gymnasium.make('reinfors.adapters.gymnasium:reinfors/{env.id}')"
        assert run(f"import gymnasium\nprint({made}.spec.id)").strip() == f"reinfors/{env.id}"
    assert gymnasium is not None


def test_the_build_says_what_it_is() -> None:
    info = rf.build_info()
    assert set(info) == {"version", "profile", "target", "cpu_level"}
    assert re.fullmatch(r"\d+\.\d+\.\d+", info["version"])
    assert rf.__version__ == info["version"]
    assert info["profile"] in {"debug", "release"}


def test_every_public_name_is_there() -> None:
    for module in (rf, rf.games):
        assert all(hasattr(module, name) for name in module.__all__)


@pytest.mark.skipif(os.environ.get("CI", "").lower() in {"", "0", "false"}, reason="only CI must have everything")
@pytest.mark.parametrize("library", ["dm_env", "gymnasium", "jax", "mpe2", "pettingzoo", "stable_baselines3", "torch"])
def test_in_ci_no_test_is_skipped_for_want_of_a_library(library: str) -> None:
    assert importlib.util.find_spec(library) is not None


@pytest.mark.parametrize(
    ("face", "name", "library", "extra"),
    [
        ("gym", "VectorEnv", "gymnasium", "gym"),
        ("sb3", "VecEnv", "stable_baselines3", "sb3"),
        ("dm_env", "Environment", "dm_env", "dm-env"),
        ("pettingzoo", "ParallelEnv", "pettingzoo", "pettingzoo"),
    ],
)
def test_a_face_imports_its_library_at_first_use_and_says_where_to_get_it(
    face: str, name: str, library: str, extra: str
) -> None:
    pytest.importorskip(library)
    used = f"import sys, reinfors as rf\nassert {library!r} not in sys.modules\nprint(rf.{face}.{name}.__name__)"
    assert name in run(used)
    missing = (
        f"import sys\nsys.modules[{library!r}] = None\nimport reinfors as rf\n"
        f"try: rf.{face}.{name}\nexcept ModuleNotFoundError as error: print(error)"
    )
    assert f"rf.{face}.{name} needs {library}: pip install 'reinfors[{extra}]'" in run(missing).replace(
        "reinfors.", "rf."
    )
    unknown = f"import reinfors as rf\nprint(hasattr(rf.{face}, 'nonsense'))"
    assert run(unknown).strip() == "False"


def test_an_environment_by_its_id_says_where_to_get_gymnasium() -> None:
    script = (
        "import sys\nsys.modules['gymnasium'] = None\nimport reinfors as rf\n"
        "try: rf.games.Gymnasium('CartPole-v1')\nexcept ModuleNotFoundError as error: print(error)"
    )
    assert run(script).strip() == "reinfors.games.Gymnasium needs gymnasium: pip install 'reinfors[gym]'"
