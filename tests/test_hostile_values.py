"""Every public constructor and method meets values that nobody should pass: a clear refusal, never a panic.

What is swept enrols itself: the package's public names and the registry's games are walked, so that a new class,
argument or option is in the sweep the day it is there.
"""

from __future__ import annotations

import importlib.util
import inspect
import itertools
import math
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import reinfors as rf

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ALLOWED_ERRORS = (TypeError, ValueError, RuntimeError)


class Hostile:
    """Answers every question with an exception of its own."""

    def __repr__(self) -> str:
        raise ZeroDivisionError

    def __index__(self) -> int:
        raise ZeroDivisionError

    def __float__(self) -> float:
        raise ZeroDivisionError

    def __iter__(self) -> Iterator[Any]:
        raise ZeroDivisionError


def endless() -> list[Any]:
    """A list that contains itself."""
    own: list[Any] = []
    own.append(own)
    return own


VALUES: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "True": lambda: True,
    "False": lambda: False,
    "0": lambda: 0,
    "-1": lambda: -1,
    "1.5": lambda: 1.5,
    "NaN": lambda: math.nan,
    "-inf": lambda: -math.inf,
    "1e308": lambda: 1e308,
    "2**40": lambda: 2**40,
    "-2**63": lambda: -(2**63),
    "2**64": lambda: 2**64,
    "10**400": lambda: 10**400,
    "numpy NaN": lambda: np.float32(math.nan),
    "numpy int": lambda: np.int8(-128),
    "numpy bool": lambda: np.bool_(True),
    "0-d array": lambda: np.array(7),
    "empty array": lambda: np.zeros((0, 3)),
    "object array": lambda: np.array([None, "x"], dtype=object),
    "complex": lambda: 1j,
    "text": lambda: "0.95",
    "empty text": lambda: "",
    "a surrogate": lambda: "\ud800",
    "bytes": lambda: b"\x00\xff",
    "empty list": list,
    "nested list": lambda: [[[[[[[[[[[[1]]]]]]]]]]]],
    "endless list": endless,
    "dict": lambda: {"x": [1]},
    "set": lambda: {1, 2},
    "endless iterator": itertools.count,
    "endless truth": lambda: itertools.repeat(True),
    "huge range": lambda: range(10**12),
    "huge array": lambda: np.broadcast_to(np.float32(0), (10**6, 10**6)),
    "masked array": lambda: np.ma.masked_array([0.0, 1.0], [False, True]),
    "class": lambda: int,
    "function": lambda: len,
    "hostile": Hostile,
}

NO_OPTIONS: Any = [1]

# The smallest good arguments of what cannot be called without any.
GOOD: dict[str, Any] = {
    "game": lambda: rf.games.make(rf.games.registered()[0], max_steps=2),
    "reward": lambda: None,
    "policy": rf.policies.Ppo,
    "learner": rf.learners.Ppo,
    "n_games": lambda: 2,
    "n_envs": lambda: 2,
    "n_threads": lambda: 1,
    "seed": lambda: 0,
}


def constructors() -> dict[str, Callable[..., Any]]:
    """Every public class and function of the package that can be called by users."""
    faces = [
        (rf.gym, "gymnasium"),
        (rf.sb3, "stable_baselines3"),
        (rf.dm_env, "dm_env"),
        (rf.pettingzoo, "pettingzoo"),
    ]
    installed = [face for face, library in faces if importlib.util.find_spec(library)]
    modules = [rf, rf.games, rf.policies, rf.learners, *installed]
    found = {}
    for module in modules:
        names = getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")])
        for name in names:
            member = getattr(module, name)
            if callable(member) and getattr(member, "__module__", "").startswith("reinfors"):
                found[f"{module.__name__}.{name}"] = member
    return found


CONSTRUCTORS = constructors()


def arguments_of(callable_: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(callable_).parameters.values())
    except ValueError:
        return []  # no constructor of its own: made by another class


def survives(callable_: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Succeeds or raises one of the documented errors, whose message can be read; or the value's own error."""
    message = "none"
    try:
        callable_(*args, **kwargs)
    except ALLOWED_ERRORS as error:
        message = str(error)
    except ZeroDivisionError:
        message = "the value's own" if any(isinstance(value, Hostile) for value in (*args, *kwargs.values())) else ""
    assert message.strip()
    assert "panicked" not in message


def test_the_sweep_reaches_what_it_should() -> None:
    names = {name.rpartition(".")[2] for name in CONSTRUCTORS}
    assert {
        "Engine",
        "VecEnv",
        "Reward",
        "Ppo",
        "make",
        "describe",
        "evaluate",
        "engine_from_config",
        *rf.games.registered(),
    } <= names


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("name", CONSTRUCTORS)
def test_constructors_meet_every_value_in_every_argument(name: str, value: str) -> None:
    callable_ = CONSTRUCTORS[name]
    parameters = arguments_of(callable_)
    good = {p.name: GOOD[p.name]() for p in parameters if p.name in GOOD and p.default is inspect.Parameter.empty}
    if name.startswith("reinfors.gym."):
        good["game"] = rf.games.registered()[0]  # Gymnasium's own makers take texts
    for parameter in parameters:
        given = VALUES[value]()
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            survives(callable_, **good, hostile=given)
        elif parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            survives(callable_, given)
        else:
            survives(callable_, **{**good, parameter.name: given})


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("name", rf.games.registered())
def test_options_meet_every_value(name: str, value: str) -> None:
    for option in rf.games.describe(name)["options"]:
        given = VALUES[value]()
        survives(rf.games.make, name, **{option["name"]: given})
        survives(rf.games.make, name, **{option["name"]: [given, given]})


@pytest.mark.parametrize("name", rf.games.registered())
def test_options_by_place_are_refused_with_their_names(name: str) -> None:
    names = ", ".join(option["name"] for option in rf.games.describe(name)["options"])
    with pytest.raises(TypeError, match=f"{name} takes its options by keyword, which are {names}; got 1 without"):
        getattr(rf.games, name)(True)


@pytest.mark.parametrize("name", rf.games.registered())
def test_an_unknown_option_or_reward_is_refused_with_the_known_ones(name: str) -> None:
    description = rf.games.describe(name)
    with pytest.raises(ValueError, match=", ".join(option["name"] for option in description["options"])):
        rf.games.make(name, nonsense=1)
    with pytest.raises(ValueError, match=", ".join(key["name"] for key in description["reward"])):
        rf.VecEnv(rf.games.make(name), 1, 1, reward=rf.Reward(nonsense=1.0))
    with pytest.raises(ValueError, match=name):
        rf.games.make("nonsense")


@pytest.mark.parametrize(
    ("argument", "given", "error"),
    [
        ("n_games", 0, ValueError),
        ("n_games", -1, ValueError),
        ("n_games", 2**40, ValueError),
        ("n_games", 2**70, ValueError),
        ("n_games", True, TypeError),
        ("n_games", 1.5, TypeError),
        ("n_games", "2", TypeError),
        ("n_threads", 0, ValueError),
        ("n_threads", True, TypeError),
        ("n_threads", 1.0, TypeError),
        ("seed", -1, ValueError),
        ("seed", 1.0, TypeError),
        ("seed", "1", TypeError),
        ("game", "CarRacing", TypeError),
        ("game", rf.games.CarRacing, TypeError),
        ("reward", {"tile": 1.0}, TypeError),
        ("policy", None, TypeError),
        ("policy", rf.learners.Ppo(), TypeError),
        ("policy", rf.policies.Ppo, TypeError),
        ("learner", rf.learners.Ppo, TypeError),
        ("learner", SimpleNamespace(gamma=0.9, lam=0.9), TypeError),
        ("reward", SimpleNamespace(weights={}), TypeError),
        ("learner", rf.policies.Ppo(), TypeError),
    ],
)
def test_an_engine_names_the_argument_it_refuses(argument: str, given: Any, error: type[Exception]) -> None:
    good = {name: GOOD[name]() for name in ("game", "reward", "policy", "learner", "n_games")}
    with pytest.raises(error, match=f"^{argument} must be .*, got "):
        rf.Engine(**{**good, argument: given})


@pytest.mark.parametrize("gamma", [1.1, -0.1, math.nan, math.inf, True, "0.9", None, 1j])
def test_a_discount_outside_its_range_is_refused(gamma: Any) -> None:
    for name in ("gamma", "lam"):
        with pytest.raises((TypeError, ValueError), match=f"{name} must be a number from 0 to 1, got"):
            rf.learners.Ppo(**{name: gamma})


@pytest.mark.parametrize("value", VALUES)
def test_methods_meet_every_value(value: str) -> None:
    engine = rf.Engine(**{name: GOOD[name]() for name in ("game", "reward", "policy", "learner", "n_games")})
    env = rf.VecEnv(GOOD["game"](), 2, 1)
    env.reset(seed=0)
    batch = engine.collect(2, lambda obs: (np.zeros((len(obs), engine.n_params)), np.zeros(len(obs))))
    uncalled: Any = len
    game, fair = GOOD["game"](), lambda obs: (np.zeros((len(obs), engine.n_params)), np.zeros(len(obs)))
    greedy = rf.Engine(GOOD["game"](), None, rf.policies.EpsilonGreedy(), rf.learners.Transitions(), n_games=2)
    replay = rf.Replay(4, 0, 0.5)
    replay.add(greedy.collect(2, lambda obs: np.zeros((len(obs), greedy.n_params))))
    names = ("behavior_log_probs", "target_log_probs", "rewards", "discounts", "values")
    told: dict[str, Any] = dict.fromkeys(names, np.zeros((2, 2)))
    told |= {"last_values": np.zeros(2), "truncated": None, "final_values": None, "rho_clip": 1.0, "c_clip": 1.0}
    methods: list[Callable[[Any], Any]] = [
        lambda given: rf.evaluate(game, fair, given if given is not True else 1),
        lambda given: rf.evaluate(game, fair, 1, given),
        lambda given: rf.evaluate(game, lambda obs: given, 1),
        *(
            lambda given, name=name: rf.evaluate(game, fair, 1, **{name: given})
            for name in ("deterministic", "policy", "reward", "n_games", "n_threads", "progress")
        ),
        env.reset,
        lambda given: env.reset(options=given),
        lambda given: env.reset(options={"reset_mask": given}),
        lambda given: env.reset(options={given: True}),
        env.step,
        env.render,
        lambda given: env.render(0, given),
        env.inspect,
        env.save,
        lambda given: env.load(0, given),
        lambda given: env.load(given, b""),
        lambda given: engine.collect(given, uncalled),
        lambda given: engine.collect(2, given),
        lambda given: engine.collect(2, lambda obs: given),
        lambda given: engine.collect(2, lambda obs: (given, given)),
        lambda given: engine.collect_stream(2, uncalled, given).stop(),
        engine.weights_updated,
        engine.restore,
        rf.engine_from_config,
        batch.time_major,
        batch.minibatches,
        batch.sequences,
        lambda given: batch.sequences(1, given),
        lambda given: setattr(greedy, "epsilon", given),
        lambda given: greedy.collect(2, lambda obs: given),
        replay.add,
        replay.sample,
        lambda given: replay.sample(1, given),
        lambda given: replay.update_priorities(given, np.ones(2)),
        lambda given: replay.update_priorities(np.arange(2), given),
        *(lambda given, name=name: rf.vtrace(**{**told, name: given}) for name in told),
    ]
    for method in methods:
        given = VALUES[value]()
        if value != "hostile":
            survives(method, given)
            continue
        with pytest.raises((*ALLOWED_ERRORS, ZeroDivisionError)):
            method(given)


def test_equal_games_have_equal_hashes_whatever_the_sign_of_a_zero() -> None:
    one, other = (rf.games.make("CarRacing", actions=[(0.0 * sign, 0, 0)]) for sign in (1.0, -1.0))
    assert one == other
    assert hash(one) == hash(other)
    assert hash(one) != hash(rf.games.make("CarRacing", actions=[(0.5, 0, 0)]))


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda engine: engine.collect(2**70, len), ValueError, "n_records must be an integer from 1 to 16777216, got"),
        (lambda engine: engine.collect_stream(2**70, len), ValueError, "collect_size must be .* to 16777216, got"),
        (lambda engine: engine.weights_updated(2**70), ValueError, r"version must be .* from 0 to 2\*\*63 - 1, got"),
        (
            lambda _: rf.VecEnv(GOOD["game"](), 2).reset(options=NO_OPTIONS),
            TypeError,
            r"options must be a dict .*, got \[1\]",
        ),
        (lambda _: rf.learners.Ppo(gamma=1e308), ValueError, r"got 1e\+308"),
        (lambda _: rf.learners.Ppo(gamma=10**4000), ValueError, r"got 10{79}\.\.\. \(int\)"),
    ],
)
def test_a_refusal_is_short_and_has_the_true_bounds(call: Any, error: type[Exception], match: str) -> None:
    engine = rf.Engine(**{name: GOOD[name]() for name in ("game", "reward", "policy", "learner", "n_games")})
    with pytest.raises(error, match=match) as caught:
        call(engine)
    assert len(str(caught.value)) < 200


def interrupting(method: str, is_property: bool = False) -> Any:
    """An object one of whose methods meets a Ctrl-C."""

    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    members = {"__hash__": object.__hash__, method: property(interrupted) if is_property else interrupted}
    return type("Interrupting", (), members)()


INTERRUPTED: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "repr of a count": (interrupting("__repr__"), lambda given: rf.VecEnv(GOOD["game"](), given)),
    "repr of a name": (interrupting("__repr__"), rf.games.describe),
    "repr of an option": (interrupting("__repr__"), lambda given: rf.games.make(rf.games.registered()[0], size=given)),
    "repr of a number": (interrupting("__repr__"), lambda given: rf.learners.Ppo(gamma=given)),
    "repr of a seed": (interrupting("__repr__"), lambda given: rf.VecEnv(GOOD["game"](), 1).reset(seed=[given])),
    "index of an option": (interrupting("__index__"), lambda given: rf.games.make("CarRacing", max_steps=given)),
    "index of a count": (interrupting("__index__"), lambda given: rf.VecEnv(GOOD["game"](), given)),
    "length of actions": (interrupting("__len__"), lambda given: rf.VecEnv(GOOD["game"](), 1).step(given)),
    "iteration of seeds": (interrupting("__iter__"), lambda given: rf.VecEnv(GOOD["game"](), 1).reset(seed=given)),
    "iteration of seeds to evaluate": (
        interrupting("__iter__"),
        lambda given: rf.evaluate(GOOD["game"](), len, seeds=given),
    ),
    "comparison of a key": (
        interrupting("__eq__"),
        lambda given: rf.VecEnv(GOOD["game"](), 1).reset(options={given: True}),
    ),
    "number of dimensions": (
        interrupting("ndim", is_property=True),
        lambda given: rf.Engine(
            rf.games.make("CarRacing"), SimpleReward(given), rf.policies.Ppo(), rf.learners.Ppo(), 1
        ),
    ),
}


class SimpleReward(rf.Reward):
    """Weights that nobody has looked at."""

    def __init__(self, weight: Any) -> None:
        self.weights = {"tile": weight}


@pytest.mark.parametrize("where", INTERRUPTED)
def test_an_interrupt_inside_a_callers_object_is_an_interrupt(where: str) -> None:
    given, call = INTERRUPTED[where]
    with pytest.raises(KeyboardInterrupt):
        call(given)


@pytest.mark.parametrize("is_pair", [False, True])
def test_an_interrupt_inside_an_answer_is_an_interrupt(is_pair: bool) -> None:
    engine = rf.Engine(GOOD["game"](), None, rf.policies.Ppo(), rf.learners.Ppo(), 1, 1)
    answer: Any = (interrupting("__repr__"), None) if is_pair else interrupting("__repr__")
    with pytest.raises(KeyboardInterrupt):
        engine.collect(1, lambda obs: answer)
