"""Seeds, the stream that unseeded resets continue, and the options of a reset."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .drivers import uniform
from .lockstep import Mismatch
from .pair import Pair


def n_tiles(pair: Pair) -> int:
    return len(pair.ours.unwrapped.inspect()["track"])


def test_d10_a_seeded_reset_of_a_used_environment_equals_a_fresh_one() -> None:
    def drive(pair: Pair) -> list[Any]:
        driver = uniform(8, hold=5)
        frames = [pair.reset(0)]
        returned = [pair.step(driver(pair.reference, index)) for index in range(100)]
        return [*frames, *(frame for frame, *_ in returned), [step[1:4] for step in returned]]

    used, fresh = Pair(drawn=False), Pair(drawn=False)
    used.reset(5)
    for index in range(200):
        used.step(uniform(7)(used.reference, index))
    for ours, expected in zip(drive(used), drive(fresh), strict=True):
        assert np.array_equal(ours, expected)


def test_unseeded_resets_continue_the_stream() -> None:
    pair = Pair(drawn=False)
    first = [pair.reset(3)] + [pair.reset() for _ in range(4)]
    again = [pair.reset(3)] + [pair.reset() for _ in range(4)]
    assert np.array_equal(first, again)
    assert len({frame.tobytes() for frame in first}) == 5


@pytest.mark.parametrize("seed", [2**31, 2**32, 2**63, 2**64, 2**128])
def test_seeds_of_any_size_are_accepted(seed: int) -> None:
    pair = Pair()
    pair.reset(seed)
    pair.step(np.zeros(3, np.float32))
    assert pair.ours.unwrapped.np_random_seed == pair.reference.unwrapped.np_random_seed == seed


def test_d12_random_colours_are_drawn_before_the_track_and_kept_if_told_so() -> None:
    pair = Pair(domain_randomize=True)
    frame = pair.reset(0)
    state = pair.ours.unwrapped.inspect()
    road, background, grass = state["colors"]
    assert n_tiles(pair) == 267
    assert np.allclose(road, [133.76195434, 56.65520989, 8.60444003], atol=1e-8, rtol=0)
    assert sorted(grass - background) == pytest.approx([0, 0, 20])
    assert np.array_equal(pair.reset(0), frame)

    pair.reset(options={"randomize": False})
    assert n_tiles(pair) == 240
    assert np.array_equal(pair.ours.unwrapped.inspect()["colors"], state["colors"])

    pair.reset(0)
    pair.reset()
    assert not np.array_equal(pair.ours.unwrapped.inspect()["colors"], state["colors"])


@pytest.mark.parametrize("options", [{"randomize": True}, {"randomize": False}, {}, {"x": 1}, [1], None])
def test_d13_options_mean_nothing_to_an_environment_without_random_colours(options: Any) -> None:
    pair, plain = Pair(), Pair()
    assert np.array_equal(pair.reset(0, options), plain.reset(0))
    assert np.array_equal(pair.reset(None, options), plain.reset())


@pytest.mark.parametrize("randomize", [0, 1, None, "", "no", np.True_])
def test_any_value_of_randomize_counts_by_its_truth(randomize: Any) -> None:
    pair = Pair(domain_randomize=True)
    pair.reset(0)
    pair.reset(options={"randomize": randomize})
    pair.reset()


def test_other_seeds_are_other_episodes() -> None:
    pair = Pair()
    pair.reset(0)
    pair.ours.reset(seed=1)
    with pytest.raises(Mismatch, match=r"observation|reward"):
        pair.step(np.zeros(3, np.float32))
