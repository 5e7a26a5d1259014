"""`gymnasium.make_vec` of ours beside `SyncVectorEnv` of the reference: everything that is returned, in every mode.

Also under Gymnasium's own vector wrappers, which must see the same on either side.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from .lockstep import Mismatch, require_equal
from .reference import gymnasium, undrawn

MODES = list(gymnasium.vector.AutoresetMode)
NEXT_STEP, SAME_STEP, DISABLED = MODES
LOW, HIGH = np.array([-1, 0, 0]), np.ones(3)

Actions = Callable[[int], Any]


def require_equal_infos(ours: dict[str, Any], theirs: dict[str, Any], where: str = "infos") -> None:
    """Arrays of the same type with the same numbers, under the same keys, at any depth; clocks excepted."""
    if set(ours) != set(theirs):
        raise Mismatch(f"{where} has {sorted(ours)}, the reference's {sorted(theirs)}")
    for key in set(ours) - {"t"}:
        name, mine, expected = f"{where}[{key!r}]", ours[key], theirs[key]
        if isinstance(expected, dict):
            require_equal_infos(mine, expected, name)
        elif expected.dtype == object:
            for i, (one, other) in enumerate(zip(mine, expected, strict=True)):
                assert (one is None) == (other is None), f"{name}[{i}]"
                if one is not None:
                    require_equal(f"{name}[{i}]", one, other)
        else:
            assert mine.dtype == expected.dtype, name
            require_equal(name, mine, expected)


class Vectors:
    """The same environments as a vector of ours and as one of the reference's; what both return is compared."""

    def __init__(
        self,
        name: str,
        num_envs: int,
        mode: Any,
        limit: int | None = None,
        *,
        drawn: bool = True,
        wrap: Callable[[Any], Any] = lambda env: env,
        **options: Any,
    ) -> None:
        def make() -> Any:
            env = gymnasium.make(name, max_episode_steps=limit, **options)
            if not drawn:
                undrawn(env)
            return env

        self.theirs = wrap(gymnasium.vector.SyncVectorEnv([make] * num_envs, autoreset_mode=mode))
        limited = {} if limit is None else {"max_episode_steps": limit}
        self.ours = wrap(
            gymnasium.make_vec(
                f"reinfors.adapters.gymnasium:reinfors/{name}",
                num_envs,
                vectorization_mode="vector_entry_point",
                vector_kwargs={},
                autoreset_mode=mode,
                n_threads=2,
                **limited,
                **options,
            )
        )
        self.drawn, self.ends = drawn, np.zeros(2, int)
        self.kept: list[tuple[Any, Any]] = []

    def reset(self, seed: Any = None, options: Any = None) -> None:
        theirs = self.theirs.reset(seed=seed, options=dict(options) if isinstance(options, dict) else options)
        ours = self.ours.reset(seed=seed, options=options)
        self._require_equal(ours, theirs)

    def step(self, actions: Any) -> np.ndarray:
        """Steps both; returns which environments are over."""
        theirs, ours = self.theirs.step(actions), self.ours.step(actions)
        for name, mine, expected in zip(("rewards", "terminated", "truncated"), ours[1:4], theirs[1:4], strict=True):
            assert mine.dtype == expected.dtype, name
            require_equal(name, mine, expected)
        self._require_equal(ours, theirs)
        self.ends += [ours[2].sum(), ours[3].sum()]
        over: np.ndarray = ours[2] | ours[3]
        return over

    def run(self, steps: int, actions: Actions) -> Vectors:
        """Steps both with `actions(t)`; where nothing is reset automatically, a mask resets what is over."""
        mode = self.ours.unwrapped.metadata["autoreset_mode"]
        for step in range(steps):
            over = self.step(actions(step))
            if mode == DISABLED and over.any():
                self.reset(options={"reset_mask": over})
        for array, copy in self.kept:  # nobody writes into what was handed out
            require_equal("an earlier observation", array, copy)
        return self

    def _require_equal(self, ours: Any, theirs: Any) -> None:
        mine, expected = dict(ours[-1]), dict(theirs[-1])
        if self.drawn:
            assert ours[0].dtype == theirs[0].dtype
            require_equal("observations", ours[0], theirs[0])
            self.kept.append((ours[0], ours[0].copy()))
            finals = mine.get("final_obs", [])
            self.kept += [(final, final.copy()) for final in finals if final is not None]
        else:
            mine.pop("final_obs", None)
            expected.pop("final_obs", None)
        require_equal_infos(mine, expected)


def vectors_of_float32(num_envs: int, seed: int = 0) -> Actions:
    rng = np.random.default_rng(seed)
    return lambda _step: rng.uniform(LOW, HIGH, (num_envs, 3)).astype(np.float32)


def indices(num_envs: int, n: int, seed: int = 0) -> Actions:
    rng = np.random.default_rng(seed)
    return lambda _step: rng.integers(n, size=num_envs)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", [7, [3, None, 0]], ids=["int", "list"])
def test_d14_d28_d29_short_races_are_equal_in_every_byte(mode: Any, seed: Any) -> None:
    both = Vectors("CarRacing-v3", 3, mode, limit=5)
    both.reset([3, 4, 5])
    both.reset(seed)
    both.run(17, vectors_of_float32(3))
    assert both.ends.tolist() == [0, 9]


@pytest.mark.parametrize("mode", MODES)
def test_d27_races_that_leave_the_field_are_equal(mode: Any) -> None:
    # ends of both kinds, each with its reason
    both = Vectors("CarRacing-v3", 3, mode, limit=320, drawn=False)
    both.reset([0, 5, 9])
    gas = np.array([[0, 0.3, 0], [0, 0.3, 0], [0, 0, 0]], np.float32)
    both.run(700, lambda _step: gas)
    assert both.ends.min() >= 2


@pytest.mark.parametrize("mode", MODES)
def test_numbered_actions_and_random_colours_are_equal(mode: Any) -> None:
    both = Vectors("CarRacing-v3", 2, mode, limit=4, continuous=False, domain_randomize=True)
    both.reset(0)  # before its first reset the reference has colours of its own, from no seed
    both.reset(1, {"randomize": False})
    both.run(6, indices(2, 5))
    both.reset(None, {"randomize": True, "x": 1})
    both.run(6, indices(2, 5))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("limit", [None, 12])
def test_carts_are_equal(mode: Any, limit: int | None) -> None:
    both = Vectors("CartPole-v1", 6, mode, limit)
    both.reset(123)
    both.run(300, indices(6, 2))
    assert both.ends[0] > 20
    assert both.ends[1] == 0 or limit is not None


@pytest.mark.parametrize("mode", [NEXT_STEP, SAME_STEP])
def test_d25_resets_by_hand_clear_what_is_pending_in_part_or_in_all(mode: Any) -> None:
    both = Vectors("CartPole-v1", 4, mode, limit=3)
    both.reset(1)
    actions = indices(4, 2)
    for round_ in range(12):
        for _ in range(round_ % 5):
            both.step(actions(0))
        both.reset([None, round_, None, 5], {"reset_mask": np.array([True, False, round_ % 2 == 0, False])})
        if round_ % 3 == 0:
            both.reset([round_] * 4)


@pytest.mark.parametrize("mode", MODES)
def test_d26_the_official_wrappers_count_the_same(mode: Any) -> None:
    def wrap(env: Any) -> Any:
        wrappers = gymnasium.wrappers.vector
        return wrappers.NormalizeReward(wrappers.RecordEpisodeStatistics(env))

    both = Vectors("CartPole-v1", 3, mode, limit=9, wrap=wrap)
    both.reset(5)
    both.run(100, indices(3, 2))
    statistics = both.ours.env
    assert list(statistics.return_queue) == list(both.theirs.env.return_queue)
    assert list(statistics.length_queue) == list(both.theirs.env.length_queue)
    assert statistics.episode_count > 20
    assert both.ours.return_rms.count == both.theirs.return_rms.count


@pytest.mark.parametrize("mode", [NEXT_STEP, SAME_STEP])
def test_d26_lengths_of_three_and_a_count_of_twenty_four(mode: Any) -> None:
    # the figures of the case
    env = gymnasium.make_vec(
        "reinfors.adapters.gymnasium:reinfors/CarRacing-v3", 2, max_episode_steps=3, autoreset_mode=mode
    )
    assert env.metadata["autoreset_mode"] is mode
    counting = gymnasium.wrappers.vector.RecordEpisodeStatistics(env)
    scaling = gymnasium.wrappers.vector.NormalizeReward(counting)
    scaling.reset(seed=0)
    for _ in range(12):
        scaling.step(np.zeros((2, 3), np.float32))
    assert set(counting.length_queue) == {3}
    if mode == SAME_STEP:
        assert round(scaling.return_rms.count) == 24


def test_a_vector_under_wrappers_of_observations_and_actions_is_the_reference_s() -> None:
    def wrap(env: Any) -> Any:
        wrappers = gymnasium.wrappers.vector
        env = wrappers.RescaleAction(env, np.full(3, -1, np.float32), np.ones(3, np.float32))
        return wrappers.FlattenObservation(wrappers.GrayscaleObservation(env))

    both = Vectors("CarRacing-v3", 2, NEXT_STEP, limit=3, wrap=wrap)
    both.reset(2)
    both.run(7, vectors_of_float32(2))


@pytest.mark.parametrize("name", ["CarRacing-v3", "CartPole-v1"])
def test_spaces_metadata_and_spec_are_the_reference_s(name: str) -> None:
    both = Vectors(name, 3, SAME_STEP)
    for attribute in ("observation_space", "action_space", "single_observation_space", "single_action_space"):
        assert getattr(both.ours, attribute) == getattr(both.theirs, attribute), attribute
    assert both.ours.num_envs == 3
    assert both.ours.metadata["autoreset_mode"] is SAME_STEP
    assert both.ours.metadata["render_fps"] == both.theirs.metadata["render_fps"]
    assert both.ours.spec.id == f"reinfors/{name}"
    assert both.ours.spec.kwargs["max_episode_steps"] == gymnasium.spec(name).max_episode_steps


def test_pictures_are_the_reference_s() -> None:
    both = Vectors("CarRacing-v3", 2, NEXT_STEP, limit=3, render_mode="rgb_array")
    both.reset(4)
    for _ in range(5):
        both.step(np.array([[1, 1, 0], [0, 0, 1]], np.float32))
        for mine, expected in zip(both.ours.render(), both.theirs.render(), strict=True):
            require_equal("picture", mine, expected)


def test_other_seeds_other_limits_and_other_modes_are_told_apart() -> None:
    both = Vectors("CartPole-v1", 2, SAME_STEP, limit=4)
    both.theirs.reset(seed=1)
    with pytest.raises(Mismatch, match="observations"):
        both._require_equal(both.ours.reset(seed=2), both.theirs.reset(seed=1))
    other = Vectors("CartPole-v1", 2, NEXT_STEP, limit=4)
    for env in (both.ours, both.theirs, other.ours):
        env.reset(seed=1)
    steps = [[env.step(np.array([0, 1])) for _ in range(4)][-1] for env in (both.ours, both.theirs, other.ours)]
    both._require_equal(steps[0], steps[1])
    with pytest.raises(Mismatch):
        both._require_equal(steps[2], steps[1])
