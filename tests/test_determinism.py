"""A batch is a function of configuration, seed and what `infer` returned, to the last bit and for every game (D51).

Compared are hashes of everything in a batch but the seconds. That debug and release builds agree is held in Rust: the
games' golden records and the digests in `crates/reinfors-engine/tests/integration/determinism.rs` are those of both.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import reinfors as rf

GAMES = rf.games.registered()


def infer_of(n_params: int) -> Any:
    """Answers each row by itself, to the last bit, whatever rows are beside it."""

    def infer(obs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        flat = obs.reshape(len(obs), -1)
        features = np.cos(flat[:, :: max(1, flat.shape[1] // 40)].astype(np.float64))
        weights = np.sin(np.arange(features.shape[1] * n_params)).reshape(-1, n_params)
        return (features[:, :, None] * weights).sum(axis=1), features.sum(axis=1)

    return infer


def engine_of(name: str, n_threads: int, seed: int = 7, n_games: int = 5) -> rf.Engine:
    game = rf.games.make(name, max_steps=9)
    return rf.Engine(game, None, rf.policies.Ppo(), rf.learners.Ppo(), n_games, n_threads, seed)


def digest(batch: rf.Batch, slots: slice = slice(None)) -> str:
    """A hash of all that must not depend on threads, time or machine, of some slots."""
    names = ["obs", "actions", "behavior_log_probs", "values", "rewards", "advantages", "returns", "terminated"]
    names += ["truncated", "policy_version", "slot", "step"]
    hashed = hashlib.sha256()
    for name in names:
        hashed.update(np.ascontiguousarray(batch.time_major(name)[:, slots]).tobytes())
    hashed.update(batch.last_obs[slots].tobytes())
    hashed.update(batch.last_values[slots].tobytes())
    chosen = range(batch.n_slots)[slots]
    hashed.update(repr([row for row in batch.telemetry["episodes"] if row["slot"] in chosen]).encode())
    return hashed.hexdigest()


def digests(engine: rf.Engine, n: int = 3) -> list[str]:
    infer = infer_of(engine.n_params)
    return [digest(engine.collect(55, infer)) for _ in range(n)]


@pytest.mark.conformance
@pytest.mark.parametrize("name", GAMES)
def test_d51_threads_streaming_and_repetition_change_nothing(name: str) -> None:
    expected = digests(engine_of(name, 1))
    assert len(set(expected)) == 3
    for n_threads in (1, 2, 3, 8):
        assert digests(engine_of(name, n_threads)) == expected, n_threads
        engine = engine_of(name, n_threads)
        with engine.collect_stream(55, infer_of(engine.n_params), depth=n_threads, max_lag=n_threads % 2) as stream:
            assert [digest(next(stream)) for _ in range(3)] == expected, n_threads


@pytest.mark.conformance
@pytest.mark.parametrize("name", GAMES)
def test_d51_another_seed_changes_everything(name: str) -> None:
    assert not set(digests(engine_of(name, 2))) & set(digests(engine_of(name, 2, seed=8)))


@pytest.mark.conformance
@pytest.mark.parametrize("name", GAMES)
def test_more_slots_change_nothing_in_the_first_ones(name: str) -> None:
    few, many = engine_of(name, 1), engine_of(name, 2, n_games=13)
    infer, slots = infer_of(few.n_params), 5 * rf.games.make(name).n_agents
    for _ in range(2):
        expected, batch = few.collect(5 * 11, infer), many.collect(13 * 11, infer)
        assert digest(batch, slice(slots)) == digest(expected)
        assert digest(batch, slice(slots, 2 * slots)) != digest(expected)


def in_a_process_of_its_own(name: str, **environment: str) -> list[str]:
    script = f"import test_determinism as here; print(*here.digests(here.engine_of({name!r}, 2)))"
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=os.path.dirname(__file__),  # noqa: PTH120  the folder this file is imported from
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout.split()


@pytest.mark.conformance
@pytest.mark.parametrize("name", GAMES)
def test_d51_runs_and_levels_of_instructions_change_nothing(name: str) -> None:
    expected = digests(engine_of(name, 1))
    assert in_a_process_of_its_own(name) == expected
    assert in_a_process_of_its_own(name, REINFORS_CPU="baseline", PYTHONHASHSEED="1") == expected
