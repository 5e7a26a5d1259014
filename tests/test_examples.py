"""The examples run, for seconds, as a user would start them; the recipe's gradients are what calculus says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reinfors as rf
from reinfors.recipes import ppo_numpy as ppo

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "ppo_numpy.py"


@pytest.mark.smoke
def test_it_trains_and_leaves_weights_that_act(tmp_path: Path) -> None:
    quick = ["--seconds", "2", "--games", "8", "--collect", "256", "--out", str(tmp_path / "weights.npz")]
    command = [sys.executable, str(EXAMPLE), *quick]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr
    learner = ppo.load(tmp_path / "weights.npz")
    obs, _ = rf.VecEnv(learner.game, 3, seed=0).reset()
    assert learner.act(obs).shape == (3, 3)


def test_what_is_no_checkpoint_of_the_recipe_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    with pytest.raises(ValueError, match=r"other\.npz must be a checkpoint"):
        ppo.load(tmp_path / "other.npz")


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
