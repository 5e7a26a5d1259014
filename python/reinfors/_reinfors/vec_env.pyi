"""Environments that the caller steps."""

from collections.abc import Iterable
from enum import Enum
from types import TracebackType
from typing import Any, Literal, SupportsIndex, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from typing_extensions import Self

from reinfors._reinfors import _ByPart
from reinfors._reinfors.game import Game
from reinfors.reward import Reward

__all__ = ["VecEnv"]

@final
class VecEnv:
    """Environments of one game, stepped by the caller: the face on which every adapter stands.

    Agents are rows: agent `a` of environment `i` is row `i * n_agents + a` of observations, actions, rewards and ends,
    of `n_rows = n_envs * game.n_agents` in all. Everything else is of environments.

    Every array that is returned is the caller's to keep. Observations are one array, or where the game observes several
    parts a dict of one array per part. A refused call changes nothing. Results do not depend on the
    number of threads. Cannot be copied or pickled: `save` and `load` carry single environments over.

    Args:
        game: What is played.
        n_envs: Number of environments, 1 to 65536.
        n_threads: Threads that step them; `None` for all cores. Where other processes keep some of those busy, fewer
            are quicker.
        seed: Environment `i` takes `seed + i` at its first reset if that is given no seed: a non-negative integer of
            any size, or `None` for fresh entropy.
        reward: Weights, or `None` for the game's defaults.
        autoreset: What happens after an episode's end, in Gymnasium's words or constants: `"next_step"` resets instead
            of the next step (whose action is ignored, whose reward is 0), `"same_step"` resets at once and leaves what
            was last seen in `infos["final_obs"]` and `infos["final_info"]`, `"disabled"` resets nothing and simulates
            on.

    Raises:
        TypeError: An argument has the wrong type.
        ValueError: A value is not allowed, or a reward key is not the game's.
    """

    def __new__(
        cls,
        game: Game,
        n_envs: int,
        n_threads: int | None = None,
        seed: SupportsIndex | None = None,
        reward: Reward | None = None,
        autoreset: Literal["next_step", "same_step", "disabled"] | Enum = "next_step",
    ) -> Self: ...
    @property
    def game(self) -> Game:
        """What is played."""

    @property
    def n_envs(self) -> int:
        """Number of environments."""

    @property
    def n_threads(self) -> int:
        """Number of threads that step them, at most one per environment."""

    @property
    def autoreset(self) -> Literal["next_step", "same_step", "disabled"]:
        """What happens after an episode's end."""

    @property
    def seed(self) -> int:
        """The seed of construction, given or drawn."""

    @property
    def seeds(self) -> list[int | None]:
        """The seed each environment's random stream began with; `None` before its first reset."""

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""

    def reset(
        self, seed: SupportsIndex | Iterable[SupportsIndex | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[_ByPart, dict[str, Any]]:
        """Starts new episodes. An interrupt waits until they have begun.

        Args:
            seed: An integer `s` gives environment `i` the seed `s + i`; a list, or another ordered iterable but bytes,
                gives each its own; `None`, also inside the list, continues the environment's random stream.
            options: Values (bool) of the game's reset flags, and `"reset_mask"`: a bool array (n_envs,) of the
                environments to reset, the others staying where they are.

        Returns:
            Observations (n_rows, *obs_shape) and infos.

        Raises:
            TypeError: A seed, flag or mask has the wrong type.
            ValueError: A negative seed, a list of another length, an unknown option, a mask that marks nothing.
            RuntimeError: The mask leaves out an environment that was never reset, or this is closed.
        """

    def step(
        self, actions: ArrayLike, /
    ) -> tuple[_ByPart, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Steps every environment once: `frame_skip` steps of the simulator for games that have it.

        The step is whole or not begun, so that an interrupt waits until it is done; `recv` answers one at once, and can
        be called again.

        Args:
            actions: Integers (n_rows,) of any width, or real numbers (n_rows, D). `float32` is widened as it is: its
                -0.6 is not the `float64` -0.6, here as in the reference.

        Returns:
            Observations (n_rows, *obs_shape), rewards `float64` (n_rows,), terminated and truncated `bool`
            (n_rows,), and infos in Gymnasium's form: per key an array and, under `_key`, which environments report it,
            of `final_obs` which rows.

        Raises:
            TypeError: The actions have the wrong dtype.
            ValueError: The actions have the wrong shape, are outside the numbered ones or not finite.
            RuntimeError: An environment was never reset, or this is closed.
        """

    def send(self, actions: ArrayLike, /) -> None:
        """Starts a step of every environment in the background and returns; `recv` waits for what it did.

        Until then nothing else can be asked of the environments: a second `send`, a `step` or any other call is
        refused. Only `close` waits for the step and discards it, five seconds at most where worker processes step.

        Args:
            actions: As for `step`; they are copied.

        Raises:
            TypeError: The actions have the wrong dtype; nothing was started, here as below.
            ValueError: The actions have the wrong shape, are outside the numbered ones or not finite.
            RuntimeError: A step is under way, an environment was never reset, or this is closed.
        """

    def recv(
        self,
    ) -> tuple[_ByPart, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """What the step that was sent did, waiting for it: the same as `step` would have returned.

        An interrupt ends the waiting and not the step, which is received by the next call.

        Raises:
            RuntimeError: No step was sent, or this is closed.
        """

    def observe(self) -> _ByPart:
        """The current observations, (n_rows, *obs_shape).

        Raises:
            RuntimeError: An environment was never reset, or this is closed.
        """

    def render(self, i: int, /, size: tuple[int, int] | None = None) -> NDArray[np.uint8]:
        """The picture for people of environment `i`, `uint8` (height, width, 3).

        Args:
            i: The environment.
            size: Height and width, 32 to 4096 each; `None` for the reference's own, in which the picture is its very
                bytes. A larger picture is drawn at its resolution, not enlarged. Sides of another ratio than the
                reference's stretch the picture.

        Raises:
            TypeError: `size` is no pair of integers.
            ValueError: There is no such environment, or a side is outside what is allowed.
            RuntimeError: The environment was never reset, or this is closed.
        """

    def inspect(self, i: int, /) -> dict[str, NDArray[np.float64]]:
        """Inner state of environment `i`, for tests and plots: arrays by name; `float32` and integers widened exactly.

        Raises:
            ValueError: There is no such environment.
            RuntimeError: The environment was never reset, or this is closed.
        """

    def save(self, i: int, /) -> bytes:
        """Environment `i` as bytes, from which `load` continues exactly, a pending reset included.

        Raises:
            ValueError: There is no such environment.
            RuntimeError: The environment was never reset, or this is closed.
        """

    def load(self, i: int, data: bytes, /) -> None:
        """Replaces environment `i` by a saved one, from here or from another `VecEnv` of an equal game.

        Raises:
            TypeError: `data` is no bytes.
            ValueError: There is no such environment; the bytes are of another game, of other options (named) or
                damaged. Nothing has changed then.
            RuntimeError: This is closed.
        """

    def close(self) -> None:
        """Ends the threads and frees the memory. A second call does nothing; any other call is a `RuntimeError`."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None, /
    ) -> None: ...
    def __len__(self) -> int: ...
