"""The examples run, for seconds, as a user would start them; the network's gradients are what calculus says."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image

if TYPE_CHECKING:
    from types import ModuleType

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "ppo_numpy.py"


@pytest.fixture(scope="module")
def ppo() -> ModuleType:
    """The example as a module."""
    spec = importlib.util.spec_from_file_location("ppo_numpy", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.smoke
@pytest.mark.parametrize("switches", [[], ["--continuous"]])
def test_it_trains_and_leaves_pictures(switches: list[str], tmp_path: Path) -> None:
    command = [
        sys.executable,
        str(EXAMPLE),
        "--seconds",
        "2",
        "--games",
        "8",
        "--collect",
        "256",
        "--out",
        str(tmp_path),
    ]
    result = subprocess.run([*command, *switches], capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr
    with Image.open(tmp_path / "demo.png") as picture:
        assert picture.size == (900, 400)
        assert len(picture.getcolors(maxcolors=2**24) or []) > 5
    with Image.open(tmp_path / "demo.gif") as film:
        assert getattr(film, "n_frames", 1) > 20


@pytest.mark.parametrize("continuous", [False, True])
def test_the_gradient_is_that_of_finite_differences(ppo: ModuleType, continuous: bool) -> None:
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
