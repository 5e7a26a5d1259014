"""The two classes of games that Python steps: one environment at a time in worker processes, or many at once here."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from reinfors._reinfors import ForeignGame
from reinfors.foreign.checked import Checked, Part

if TYPE_CHECKING:
    from typing_extensions import Self

DTYPES = ("uint8", "float32")
MOST_WORKERS = 1024
MOST_ACTIONS = 1 << 16


class Steppable(Protocol):
    """What `Batch` takes: `n` worlds that are stepped at once. Arrays are NumPy's, or what `np.asarray` takes.

    It may have three methods more: `save()`, which returns all its worlds' state as any object, and `load(saved)`,
    which continues from it: with these a window that fails is taken back. And `close()`, called at the end.
    """

    def reset(self, rows: Any, seeds: list[int | None]) -> Any:  # noqa: ANN401
        """Starts episodes in some worlds.

        Args:
            rows: `int64` (k,), which worlds.
            seeds: One for each of them; `None` continues the world's own random stream.

        Returns:
            Their observations (k, *obs_shape), or a dictionary of such by part.
        """

    def step(self, actions: Any, active: Any) -> tuple[Any, Any, Any, Any]:  # noqa: ANN401
        """Steps every world.

        Args:
            actions: `int64` (n,), or `float64` (n, D).
            active: `bool` (n,). What becomes of the others does not matter: they are reset before anybody looks.

        Returns:
            Observations (n, *obs_shape), rewards (n,), terminated (n,) and truncated (n,), of the step itself: a world
            that has ended waits for its reset.
        """


class Batch(ForeignGame):
    """Worlds of yours that are stepped many at once, in this process: vectorised NumPy, JAX, another simulator.

    `Engine` and `VecEnv` call `make(n)` once and step all `n` worlds on one thread, holding the interpreter lock while
    your code does. A window that fails is taken back where the worlds have `save` and `load`; otherwise its records are
    discarded and every world begins a new episode. Snapshots are refused.

    Attributes:
        options: The observation and action spaces.
    """

    def __new__(
        cls,
        make: Callable[[int], Steppable],
        *,
        obs_shape: Sequence[int] | Mapping[str, Sequence[int]],
        obs_dtype: str | Mapping[str, str] = "float32",
        n_actions: int | None = None,
        action_low: Sequence[float] | None = None,
        action_high: Sequence[float] | None = None,
    ) -> Self:
        """Describes the worlds.

        Args:
            make: Makes `n` worlds.
            obs_shape: Shape of one observation, or of each part of it by name.
            obs_dtype: `"uint8"` or `"float32"`, or of each part by name.
            n_actions: Number of actions, where they are numbered.
            action_low: Lower bounds, where an action is a vector.
            action_high: Upper bounds.

        Raises:
            TypeError: An argument has the wrong type.
            ValueError: It has a value that is not allowed, or both kinds of actions are given.
        """
        if not callable(make):
            raise TypeError(f"make must be callable: make(n) -> worlds, got {make!r:.80} ({type(make).__name__})")
        parts = _parts(obs_shape, obs_dtype)
        actions = _actions(n_actions, action_low, action_high)
        options = {
            "obs_shape": [[part.name, list(part.shape)] for part in parts],
            "obs_dtype": [[part.name, part.dtype] for part in parts],
            "n_actions": n_actions,
            "action_low": None if action_low is None else list(actions[0]),
            "action_high": None if action_high is None else list(actions[1]),
        }
        plain = [(part.name, part.shape, part.dtype) for part in parts]
        return super().__new__(cls, "Batch", options, plain, actions, partial(Checked, make, parts))

    def __reduce__(self) -> Any:  # noqa: ANN401
        raise TypeError("a Batch cannot be pickled: it stands for worlds of this process")


class Gymnasium(ForeignGame):
    """Any Gymnasium environment, each world in one of several worker processes, observations in shared memory.

    An environment keeps its own wrappers, time limit and rewards. Numbers that are not `uint8` become `float32`,
    actions are clipped to the bounds of a `Box`, `info` is not passed on. Seeds are the engine's: each episode is
    `env.reset(seed=episode["seed"])`.

    An exception of an environment is a `RuntimeError` with the worker's traceback, a worker that dies one with its
    exit status. The records of that window are discarded. Unless `copyable`, every world then begins a new episode.
    Snapshots are refused.
    """

    def __new__(
        cls,
        env: str | Callable[..., Any],
        *,
        workers: int | None = None,
        copyable: bool = False,
        **kwargs: Any,  # noqa: ANN401
    ) -> Self:
        """Asks a worker for the spaces, which starts the environment once.

        Args:
            env: An id that `gymnasium.make` knows (`"module:Id-v0"` imports the module first), or a callable that
                returns an environment.
            workers: Processes; `None` is one for each core, and never more than worlds.
            copyable: Whether `copy.deepcopy` of the environment continues where the original stands. Each window then
                begins with a copy, and one that fails is taken back. Environments derived from
                `gymnasium.utils.EzPickle` are refused: they copy their arguments only.
            **kwargs: For `gymnasium.make`, or for the callable.

        Raises:
            TypeError: An argument has the wrong type.
            ValueError: It has a value that is not allowed.
            RuntimeError: The environment could not be made, or its spaces are none that are supported; the message ends
                with the worker's traceback.
        """
        from reinfors.foreign.workers import CheckedWorkers, Recipe, Workers, described  # noqa: PLC0415  starts processes

        if isinstance(env, str) == callable(env) or env == "":
            raise TypeError(f"env must be the id of an environment or a callable that makes one, got {env!r:.80}")
        if workers is not None and (isinstance(workers, bool) or not isinstance(workers, (int, np.integer))):
            raise TypeError(f"workers must be an integer or None, got {workers!r:.80} ({type(workers).__name__})")
        if workers is not None and not 1 <= workers <= MOST_WORKERS:
            raise ValueError(f"workers must be from 1 to {MOST_WORKERS}, got {workers}")
        if not isinstance(copyable, (bool, np.bool_)):
            raise TypeError(f"copyable must be a bool, got {copyable!r:.80} ({type(copyable).__name__})")
        recipe = Recipe(env, kwargs, bool(copyable))
        spaces = described(recipe)
        most = int(workers) if workers is not None else _cores()
        parts = [Part(*part) for part in spaces.parts]
        options = {
            "env": env if isinstance(env, str) else getattr(env, "__qualname__", type(env).__qualname__),
            "workers": None if workers is None else int(workers),
            "copyable": bool(copyable),
            **{name: _plain(value) for name, value in kwargs.items()},
        }
        make = partial(CheckedWorkers, partial(Workers, recipe, spaces, most), parts)
        return super().__new__(cls, "Gymnasium", options, spaces.parts, spaces.actions, make)

    def __reduce__(self) -> Any:  # noqa: ANN401
        raise TypeError("a Gymnasium cannot be pickled: make it anew in the other process")


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _plain(value: Any) -> Any:  # noqa: ANN401
    """A value as an option shows it."""
    return value if isinstance(value, (bool, float, str, type(None))) else repr(value)


def _parts(shape: Any, dtype: Any) -> list[Part]:  # noqa: ANN401
    """One part for each name, or a single one."""
    if not isinstance(shape, Mapping):
        return [Part("obs", _shape("obs_shape", shape), _dtype("obs_dtype", dtype))]
    if not shape:
        raise ValueError("obs_shape must have at least one part, got an empty dict")
    dtypes = dtype if isinstance(dtype, Mapping) else dict.fromkeys(shape, dtype)
    if set(dtypes) != set(shape):
        raise ValueError(f"obs_dtype must have the parts of obs_shape, {list(shape)}, got {list(dtypes)}")
    return [
        Part(str(name), _shape(f"obs_shape[{name!r}]", shape[name]), _dtype(f"obs_dtype[{name!r}]", dtypes[name]))
        for name in shape
    ]


def _shape(name: str, shape: Any) -> tuple[int, ...]:  # noqa: ANN401
    wanted = f"{name} must be a tuple of positive integers"
    if not isinstance(shape, (tuple, list)):
        raise TypeError(f"{wanted}, got {type(shape).__name__}")
    if not all(isinstance(length, (int, np.integer)) and not isinstance(length, bool) for length in shape):
        raise TypeError(f"{wanted}, got {shape!r:.80}")
    if not all(length > 0 for length in shape) or np.prod([float(length) for length in shape]) >= 1 << 31:
        raise ValueError(f"{wanted}, of less than 2**31 numbers, got {shape!r:.80}")
    return tuple(int(length) for length in shape)


def _dtype(name: str, dtype: Any) -> Literal["uint8", "float32"]:  # noqa: ANN401
    for allowed in DTYPES:
        if isinstance(dtype, (str, type, np.dtype)) and dtype in (allowed, np.dtype(allowed), np.dtype(allowed).type):
            return allowed  # type: ignore[return-value]
    raise ValueError(f"{name} must be {' or '.join(map(repr, DTYPES))}, got {dtype!r:.80}")


def _actions(n_actions: Any, low: Any, high: Any) -> Any:  # noqa: ANN401
    """Names of the numbered actions, or the bounds of a vector's numbers."""
    if (n_actions is None) == (low is None) or (low is None) != (high is None):
        raise ValueError("give either n_actions, or action_low and action_high")
    if n_actions is not None:
        if isinstance(n_actions, bool) or not isinstance(n_actions, (int, np.integer)):
            raise TypeError(f"n_actions must be an integer, got {n_actions!r:.80} ({type(n_actions).__name__})")
        if not 1 <= n_actions <= MOST_ACTIONS:
            raise ValueError(f"n_actions must be from 1 to {MOST_ACTIONS}, got {n_actions}")
        return [str(action) for action in range(int(n_actions))]
    bounds = []
    for name, given in (("action_low", low), ("action_high", high)):
        if not isinstance(given, (tuple, list, np.ndarray)):
            raise TypeError(f"{name} must be a list of finite numbers, got {given!r:.80} ({type(given).__name__})")
        try:
            array = np.asarray(given, np.float32)
        except (TypeError, ValueError, OverflowError) as error:
            raise TypeError(f"{name} must be a list of finite numbers, got {given!r:.80}") from error
        if array.ndim != 1 or not 1 <= len(array) <= MOST_ACTIONS or not np.isfinite(array).all():
            raise ValueError(f"{name} must be a list of finite numbers, got {given!r:.80}")
        bounds.append([float(number) for number in array])
    if len(bounds[0]) != len(bounds[1]) or any(a > b for a, b in zip(*bounds, strict=True)):
        raise ValueError(f"action_low must be below action_high, number by number, got {low!r:.80} and {high!r:.80}")
    return tuple(bounds)
