"""Whole episodes: state, reward, end and info are `==` at every step, and a frame at every 25th byte for byte."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from .drivers import Driver, always, indices, plan, racer, recorded, uniform, wild
from .lockstep import Lockstep, Mismatch, Step, require_equal_motion
from .reference import moving

STEPS = 1000
STEPS_PER_FRAME = 25
TABLE = [(0.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (0.3, 0.1, 0.0), (1 / 3, 0.7, 0.0), (0.0, 1.0, 0.0), (0.1, 0.0, 0.45)]

# What an episode is chosen for must come to pass in it: sights of a step, some of them after the step before.
SIGHTS: dict[str, Callable[[Step, Step], bool]] = {
    "skids on grass": lambda step, _: bool((step.state["skids"][:, 1] == 1).any()),
    "skids on road": lambda step, _: bool((step.state["skids"][:, 1] == 0).any()),
    "off road": lambda step, _: not step.state["wheel_tiles"].any(),
    "fast": lambda step, _: bool(np.hypot(*step.state["hull"][3:5]) > 90),
    "spun": lambda step, _: bool(abs(step.state["hull"][2]) > 50),
    "steered to the limit": lambda step, _: bool(np.abs(step.state["wheels"][:, 9]).max() >= 0.4),
    "asleep": lambda step, _: not step.state["awake"],
    "painted by the hull": lambda step, _: bool((step.state["painted"] > step.state["visited"]).any()),
    "lap": lambda step, _: step.terminated and step.info["lap_finished"],
    "off playfield": lambda step, _: step.terminated and step.reward == -100,
    "back on the playfield": lambda step, before: before.terminated and not step.terminated,
}


@dataclass(frozen=True)
class Episode:
    """A seed, a driver, and what is to be seen on the way."""

    seed: int
    driver: Callable[[], Driver]
    shows: tuple[str, ...] = ()
    steps: int = STEPS
    resets: int = 1
    options: dict[str, Any] = field(default_factory=dict)


DISCRETE = {"continuous": False}
RANDOM_COLOURS = {"domain_randomize": True}
STAND = plan((25, np.float32([0, 1, 0])), (1, np.float32([0, 0, 1])))
THERE_AND_BACK = plan((290, np.float32([0, 0.3, 0])), (90, np.float32([0, 0, 0.8])), (1, np.float32([1, 0.3, 0])))
EPISODES = {
    "random": Episode(11, lambda: uniform(11)),
    "random_after_resets": Episode(12, lambda: uniform(12), resets=4),
    "held": Episode(13, lambda: uniform(13, hold=15), ("steered to the limit",)),
    "held_in_random_colours": Episode(14, lambda: uniform(14, hold=15), resets=2, options=RANDOM_COLOURS),
    "racer_at_45": Episode(15, lambda: racer(15, 45), ("skids on road",)),
    "racer_at_60": Episode(16, lambda: racer(16, 60), ("skids on road", "skids on grass", "off road")),
    "racer_at_100": Episode(17, lambda: racer(17, 100), ("skids on grass", "off road", "painted by the hull")),
    "racer_in_random_colours": Episode(18, lambda: racer(18, 70), ("off road",), resets=2, options=RANDOM_COLOURS),
    "discrete": Episode(19, lambda: indices(19), options=DISCRETE),
    "discrete_held": Episode(20, lambda: indices(20, hold=10), options=DISCRETE),
    "action_table": Episode(21, lambda: indices(21, 8, [1 / 6] * 6), options={"table": TABLE}),
    "lap": Episode(1, lambda: replay(1), ("lap",), steps=1530),
    "off_playfield_and_on": Episode(3, lambda: always(0, 0.5, 0), ("fast", "off playfield")),
    "off_playfield_and_back": Episode(0, lambda: THERE_AND_BACK, ("off playfield", "back on the playfield")),
    "asleep": Episode(4, lambda: STAND, ("asleep",)),
    "wild": Episode(22, lambda: wild(22), ("skids on road",)),
    "spin": Episode(23, lambda: always(1, 0.3, 0), ("spun", "steered to the limit")),
}


def replay(seed: int) -> Driver:
    actions = recorded(seed)
    return lambda _reference, step: actions[step]


def drive(episode: Episode, *, frames: bool = True) -> tuple[Lockstep, set[str]]:
    """Runs an episode to its last step, beyond any end; returns the pair and what was seen."""
    pair, seen = Lockstep(**episode.options), set()
    pair.reset(episode.seed)
    for _ in range(1, episode.resets):
        pair.reset()
    driver, before = episode.driver(), None
    for index in range(episode.steps):
        drawn = frames and index % STEPS_PER_FRAME == 0
        step = pair.step(driver(pair.reference, index), drawn=drawn)
        seen |= {sight for sight, shows in SIGHTS.items() if shows(step, before or step)}
        before = step
    return pair, seen


@pytest.mark.parametrize("name", EPISODES)
def test_every_step_is_equal(name: str) -> None:
    pair, seen = drive(EPISODES[name])
    pair.require_equal_road()
    assert seen >= set(EPISODES[name].shows)


def test_every_quantity_of_a_step_counts() -> None:
    pair = Lockstep()
    pair.reset(16)
    driver = racer(16, 60)
    for index in range(200):
        pair.step(driver(pair.reference, index))
    ours, theirs = pair.ours.inspect(0), moving(pair.reference)
    for name, values in theirs.items():
        nudged = values.copy()
        nudged.flat[-2:] = np.nextafter(nudged.flat[-2:], np.inf)
        with pytest.raises(Mismatch, match=name):
            require_equal_motion(ours, theirs | {name: nudged})


@pytest.mark.parametrize("nudge", [np.float32(1e-6), np.float32(-1e-6)])
def test_an_action_nudged_once_is_found(nudge: np.float32) -> None:
    pair = Lockstep()
    pair.reset(11)
    for _ in range(60):
        pair.step(np.float32([0.1, 0.5, 0]))
    pair.ours.step(np.float32([[0.1 + nudge, 0.5, 0]]))
    pair.reference.step(np.float32([0.1, 0.5, 0]))
    with pytest.raises(Mismatch, match="at step 61"):
        pair.step(np.float32([0.1, 0.5, 0]))
