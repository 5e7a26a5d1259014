"""What nobody refers to is freed, also where it refers to itself through Python's objects."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import reinfors as rf

if TYPE_CHECKING:
    from collections.abc import Callable


def batch_of(**options: Any) -> rf.Batch:
    game = rf.games.make("CarRacing", max_steps=4, **options)
    engine = rf.Engine(game, None, rf.policies.Ppo(), rf.learners.Ppo(), n_games=1, n_threads=1)
    return engine.collect(3, lambda _: (np.zeros((1, 5)), np.zeros(1)))


class Sentinel:
    """Lives as long as what holds it."""


def in_telemetry(sentinel: Sentinel) -> None:
    batch = batch_of()
    batch.telemetry["cycle"] = (batch, sentinel)


def in_an_observation(sentinel: Sentinel) -> None:
    batch = batch_of(obs="both")
    batch.obs["cycle"] = (batch, sentinel)


def in_a_game(sentinel: Sentinel) -> None:
    game: Any = rf.games.make("CarRacing")
    game.cycle = (rf.VecEnv(game, 1, 1), sentinel)


@pytest.mark.parametrize("cycle", [in_telemetry, in_an_observation, in_a_game])
def test_what_is_in_a_cycle_of_references_is_collected(cycle: Callable[[Sentinel], None]) -> None:
    sentinel = Sentinel()
    watched = weakref.ref(sentinel)
    cycle(sentinel)
    del sentinel
    gc.collect()
    assert watched() is None
