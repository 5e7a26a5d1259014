"""Games with their options settled, and what each declares."""

from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self, disjoint_base

from reinfors._reinfors import _ByPart

__all__ = ["Game", "describe", "registered"]

@disjoint_base
class Game:
    """A registered game with its options settled; made by the classes of `reinfors.games`.

    Equal games have equal ids and options. Games are immutable, hashable and can be pickled.

    Args:
        name: Public name or id of a registered game.
        options: Options by name; defaults where none is given.

    Raises:
        TypeError: An option has the wrong type.
        ValueError: There is no such game or option, a value is not allowed, or options contradict each other.
    """

    def __new__(cls, name: str, options: dict[str, Any] | None = None, /) -> Self: ...
    @property
    def id(self) -> str:
        """The registry's key."""

    @property
    def name(self) -> str:
        """The public name."""

    @property
    def options(self) -> dict[str, Any]:
        """Every option with its value, defaults included."""

    @property
    def n_agents(self) -> int:
        """How many agents act in one of its worlds, each with an observation, an action and a reward of its own."""

    @property
    def obs_shape(self) -> _ByPart:
        """Shape of one observation, a tuple; by part, in a dict, where an observation has several."""

    @property
    def obs_dtype(self) -> _ByPart:
        """NumPy's dtype of an observation, by part where there are several: `uint8` pixels, a `float32` state."""

    @property
    def state_names(self) -> list[str] | None:
        """What each number of the state vector is, or `None` where none is observed or they have no names."""

    @property
    def n_actions(self) -> int | None:
        """Number of actions, or `None` where actions are vectors."""

    @property
    def action_names(self) -> list[str] | None:
        """What each action does, or `None` where actions are vectors."""

    @property
    def action_low(self) -> NDArray[np.float32] | None:
        """Lower bounds of an action vector, shape (D,), or `None` where actions are numbered."""

    @property
    def action_high(self) -> NDArray[np.float32] | None:
        """Upper bounds of an action vector, shape (D,), or `None` where actions are numbered."""

    @property
    def reward_keys(self) -> dict[str, float]:
        """The keys of `reinfors.Reward` with their default weights."""

    @property
    def max_steps(self) -> int | None:
        """Steps of the simulator after which an episode is cut off, or `None`."""

    @property
    def end_reasons(self) -> list[str]:
        """How an episode can terminate."""

    @property
    def reset_flags(self) -> dict[str, bool]:
        """What can be chosen at a reset, with the defaults."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getnewargs__(self) -> tuple[str, dict[str, Any]]: ...

class _OptionRow(TypedDict):
    name: str
    default: Any
    annotation: str
    allowed: str
    doc: str

class _RewardRow(TypedDict):
    name: str
    default: float
    doc: str

class _FlagRow(TypedDict):
    name: str
    default: bool
    doc: str

class _StateRow(TypedDict):
    name: str
    low: float
    high: float
    doc: str

class _Description(TypedDict):
    id: str
    name: str
    doc: str
    options: list[_OptionRow]
    reward: list[_RewardRow]
    end_reasons: list[str]
    reset_flags: list[_FlagRow]
    state: list[_StateRow]

def registered() -> list[str]:
    """The public names of all games, in the order of registration."""

def describe(name: str, /) -> _Description:
    """What a game declares.

    Args:
        name: Public name or id.

    Returns:
        Its documentation, options (name, default, annotation, allowed values in words, doc), reward keys, end reasons,
        reset flags, and the entries of its state vector.

    Raises:
        ValueError: There is no such game; the message lists those there are.
    """
