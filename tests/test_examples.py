"""The examples run, for seconds, as a user would start them; the recipe's gradients are what calculus says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reinfors as rf
from reinfors.recipes import ppo_numpy as ppo

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
MOST_LINES = 79


def run(name: str, *arguments: str) -> str:
    """What the example prints."""
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    result = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_an_example_is_read_at_a_glance(example: Path) -> None:
    assert len(example.read_text().splitlines()) <= MOST_LINES


def test_the_page_of_examples_lists_every_one() -> None:
    page = (EXAMPLES.parent / "docs" / "examples.md").read_text()
    assert set(re.findall(r"^\| `examples/(\w+\.py)`", page, re.MULTILINE)) == {e.name for e in EXAMPLES.glob("*.py")}


@pytest.mark.smoke
@pytest.mark.parametrize("library", ["torch", "jax"])
def test_ppo_trains_in_either_library(library: str) -> None:
    pytest.importorskip(library)
    printed = run(f"ppo_{library}.py", "--updates", "6", "--games", "4", "--collect", "256")
    updates = [line.split(maxsplit=1) for line in printed.splitlines()]
    assert [update for update, _ in updates] == ["0", "1", "2", "3", "4", "5"]
    # Six times 64 decisions of four steps in each game: episodes of 400 steps have ended.
    assert sum(returns != "[]" for _, returns in updates) >= 1


@pytest.mark.smoke
def test_dqn_replays_and_lowers_epsilon() -> None:
    pytest.importorskip("torch")
    printed = run("dqn_torch.py", "--updates", "8", "--games", "4", "--collect", "128", "--capacity", "2000")
    lines = [line.split() for line in printed.splitlines()]
    # Eight times 32 decisions of four steps in each game: all have ended twice, when epsilon was as below.
    assert len(lines) >= 8
    assert {(update, epsilon) for update, _, epsilon, *_ in lines} >= {("3", "0.25"), ("6", "0.05")}


@pytest.mark.smoke
def test_impala_learns_from_older_records() -> None:
    pytest.importorskip("torch")
    printed = run("impala_torch.py", "--updates", "8", "--games", "4", "--collect", "128")
    lines = [line.split(maxsplit=3) for line in printed.splitlines()]
    assert [update for update, *_ in lines] == [str(update) for update in range(8)]
    assert any(float(lag) > 0 for _, _, lag, _ in lines)
    assert sum(returns != "[]" for *_, returns in lines) >= 1


@pytest.mark.smoke
@pytest.mark.parametrize("trained", [False, True])
def test_a_video_is_recorded(trained: bool, tmp_path: Path) -> None:
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    film, weights = tmp_path / "drive.mp4", tmp_path / "weights.npz"
    driver = []
    if trained:
        game = rf.games.CarRacing(size=(ppo.SIZE, ppo.SIZE), gray=True, frame_stack=ppo.STACK, frame_skip=4)
        ppo.Learner(game, seed=0).save(weights)
        driver = ["--policy", str(weights)]
    printed = run("record_video.py", "--steps", "5", "--width", "150", "--out", str(film), *driver)
    assert "seeds 0 to 1 returned" in printed
    n_frames, _ = ffmpeg.count_frames_and_secs(film)
    assert n_frames == 5
    command = [ffmpeg.get_ffmpeg_exe(), "-hide_banner", "-i", str(film)]
    assert "300x100" in subprocess.run(command, capture_output=True, text=True, timeout=60, check=False).stderr


@pytest.mark.smoke
def test_sb3_trains_and_leaves_a_policy(tmp_path: Path) -> None:
    pytest.importorskip("stable_baselines3")
    printed = run("sb3_ppo.py", "--steps", "256", "--envs", "2", "--out", str(tmp_path / "policy.zip"))
    assert "mean return" in printed
    assert (tmp_path / "policy.zip").stat().st_size > 10_000


@pytest.mark.smoke
def test_it_trains_and_leaves_weights_that_act(tmp_path: Path) -> None:
    quick = ["--seconds", "2", "--games", "8", "--collect", "256", "--out", str(tmp_path / "weights.npz")]
    run("ppo_numpy.py", *quick)
    learner = ppo.load(tmp_path / "weights.npz")
    obs, _ = rf.VecEnv(learner.game, 3, seed=0).reset()
    assert learner.act(obs).shape == (3, 3)


def test_what_is_no_checkpoint_of_the_recipe_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.npz"
    ppo.Learner(rf.games.CarRacing(size=(ppo.SIZE, ppo.SIZE), gray=True, frame_stack=ppo.STACK), seed=0).save(path)
    whole = path.read_bytes()
    for bytes_of_another in (b"", b"text", whole[:1000]):
        path.write_bytes(bytes_of_another)
        with pytest.raises(ValueError, match=r"other\.npz must be a checkpoint"):
            ppo.load(path)
    for about in ("", "[]", "{}", '{"game": "CarRacing", "options": 3}'):
        np.savez(path, about=np.array(about))
        with pytest.raises(ValueError, match=r"other\.npz must be a checkpoint"):
            ppo.load(path)
    np.savez(path, a=np.zeros(3))
    with pytest.raises(ValueError, match=r"other\.npz must be a checkpoint"):
        ppo.load(path)
    with path.open("wb") as file:
        np.save(file, np.zeros(3))
    with pytest.raises(ValueError, match=r"other\.npz must be a checkpoint"):
        ppo.load(path)


def test_a_game_of_other_observations_is_refused() -> None:
    with pytest.raises(ValueError, match=r"game must have uint8 observations of shape \(2, 48, 48\), got"):
        ppo.Learner(rf.games.make(rf.games.registered()[0]), seed=0)


@pytest.mark.parametrize("continuous", [False, True])
def test_the_gradient_is_that_of_finite_differences(continuous: bool) -> None:
    rng = np.random.default_rng(0)
    n_params = 6 if continuous else 5
    initial = ppo.network(n_params, rng)
    # Noise keeps the rectifiers away from their corner.
    weights = {name: w + rng.normal(0, 0.05, w.shape) for name, w in initial.items()}
    pictures = rng.normal(size=(4, ppo.SIZE, ppo.SIZE, ppo.STACK))
    actions = rng.normal(size=(4, 3)) if continuous else rng.integers(5, size=4)
    log_prob = ppo.gaussian if continuous else ppo.categorical
    weight, target = rng.normal(size=4), rng.normal(size=4)

    def loss(w: dict[str, Any]) -> float:
        params, values, _ = ppo.forward(w, pictures)
        error = (values - target) / ppo.VALUE_SCALE
        return float((weight * log_prob(params, actions)[0]).sum() + 0.5 * (error**2).sum())

    params, values, kept = ppo.forward(weights, pictures)
    d_params = weight[:, None] * log_prob(params, actions)[1]
    d_out = np.concatenate([d_params, ((values - target) / ppo.VALUE_SCALE)[:, None]], axis=1)
    gradient = ppo.backward(weights, kept, d_out)
    step = 1e-6
    for name, w in weights.items():
        at = tuple(rng.integers(size) for size in w.shape)
        nudge = np.zeros_like(w)
        nudge[at] = step
        slope = (loss({**weights, name: w + nudge}) - loss({**weights, name: w - nudge})) / (2 * step)
        assert gradient[name][at] == pytest.approx(slope, rel=1e-4, abs=1e-7), name
