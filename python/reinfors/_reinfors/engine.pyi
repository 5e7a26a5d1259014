"""The sampler, and what it may be told by `infer`."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, SupportsIndex, TypeAlias, final

from typing_extensions import Self

from reinfors import learners, policies
from reinfors._reinfors import _ByPart
from reinfors._reinfors.batch import Batch
from reinfors._reinfors.game import Game
from reinfors._reinfors.stream import CollectStream
from reinfors.reward import Reward

__all__ = ["Engine", "engine_from_config"]

class _SupportsDlpack(Protocol):
    @property
    def __dlpack__(self) -> Callable[..., object]: ...

class _SupportsArray(Protocol):
    @property
    def __array__(self) -> Callable[..., object]: ...

_Output: TypeAlias = _SupportsArray | _SupportsDlpack
_Infer: TypeAlias = Callable[..., _Output | tuple[_Output, ...]]

@final
class Engine:
    """A sampler over many games: steps them on native threads and asks `infer` for decisions.

    `infer(obs)` is called with one read-only array (rows, *obs_shape), or a dict of one per part where there are
    several, whose number of rows varies. It returns what the policy asks for (`params`, `q_values` or `actions`), then
    `values` (rows,) if the learner is `learners.Ppo`, then the next state if the policy has a `state_shape`: one array,
    or a tuple of several. They are `float32` or `float64` (numbered actions: integers) as NumPy arrays, torch tensors
    (detached and brought to the CPU) or CPU objects with `__dlpack__` or `__array__`. What it returns wrongly is a
    `TypeError` or `ValueError`; what it raises reaches the caller as itself. After either the games are where they were
    before the call, and the engine can be used on.

    From 16 games on, one half of the games is stepped while `infer` is asked about the other one.

    A batch is a function of configuration, seed and the answers of `infer`: not of threads, timing or machine.
    Cannot be copied or pickled: a twin elsewhere is made from `resolved_config` and `snapshot`.

    Args:
        game: What is played.
        reward: Weights, or `None` for the game's defaults.
        policy: How actions are chosen.
        learner: What is made of the records.
        n_games: Games played at once, 1 to 65536. Each of their agents is a slot.
        n_threads: Threads that step games; `None` for all cores. Where other processes keep some of those busy, fewer
            are quicker.
        seed: A non-negative integer of any size, or `None` for fresh entropy, which `resolved_config` then tells.

    Raises:
        TypeError: An argument has the wrong type.
        ValueError: A value is not allowed, a reward key is not the game's, the policy does not fit the actions, or the
            learner not the policy.
    """

    def __new__(
        cls,
        game: Game,
        reward: Reward | None,
        policy: policies.Policy,
        learner: learners.Learner,
        n_games: int,
        n_threads: int | None = None,
        seed: SupportsIndex | None = None,
    ) -> Self: ...
    @property
    def n_games(self) -> int:
        """Games played at once."""

    @property
    def n_threads(self) -> int:
        """Threads in use, at most one per game."""

    @property
    def n_params(self) -> int:
        """Numbers that `infer` must return in a row to decide its action."""

    @property
    def epsilon(self) -> float | None:
        """Share of the actions that `policies.EpsilonGreedy` draws uniformly, `None` for another policy.

        What is assigned holds from the next batch on, also while a stream is running.

        Raises:
            TypeError: Assigned is no number.
            ValueError: Assigned is not from 0 to 1, or the policy has no such share.
        """

    @epsilon.setter
    def epsilon(self, value: float, /) -> None: ...
    @property
    def obs_shape(self) -> _ByPart:
        """Shape of one observation, a tuple; by part, in a dict, where an observation has several."""

    @property
    def policy_version(self) -> int:
        """The policy's version; 0 before the first `weights_updated`."""

    def collect(self, n_records: int, infer: _Infer) -> Batch:
        """Makes one batch on this thread.

        The memory of observations is used again once nobody holds any of them; the engine keeps that of two windows.

        Args:
            n_records: Records wanted; made are `ceil(n_records / n_slots)` steps of every slot, of which there are
                `n_slots = n_games * game.n_agents`.
            infer: The policy and value function.

        Raises:
            TypeError: `infer` is not callable or returns another type than accepted.
            ValueError: `n_records` is not from 1 to 2**24; `infer` returns another shape or a number that is not
                finite.
            RuntimeError: The engine is in use: held by a stream, by another thread or by the call that asks `infer`.
        """

    def collect_stream(
        self, collect_size: int, infer: _Infer, depth: int = 1, max_lag: int | None = None
    ) -> CollectStream:
        """Starts making batches in the background; the engine is held until the stream is paused, stopped or dropped.

        Args:
            collect_size: Records per batch, rounded up to whole steps of every slot.
            infer: The policy and value function, called from the stream's thread.
            depth: Finished batches that may wait; at least 1.
            max_lag: Most updates that a record may be old when its batch is taken, or `None` for as many as come. A
                window begins only where that will hold, if no more versions are marked between two batches than ever
                before in this stream, and one; or where `next` waits for its batch. Nothing is discarded.

        Raises:
            TypeError: `infer` is not callable, or a number is no integer.
            ValueError: `collect_size` is not from 1 to 2**24, `depth` is below 1, or `max_lag` is below 0.
            RuntimeError: The engine is in use.
        """

    def weights_updated(self, version: int | None = None) -> int:
        """Marks a new version of the policy and returns it: one higher, to 2**63 - 1 at most, or the given one.

        From any thread at any time; records carry it from the next step on, those of all slots alike. A given version
        may be lower than the last: records of the higher one then have a negative lag.

        Raises:
            TypeError: `version` is no integer.
            ValueError: It is negative or above 2**63 - 1.
            RuntimeError: This process is a fork of the one that made the engine.
        """

    def snapshot(self) -> bytes:
        """The state of every game and random stream, from which `restore` continues exactly.

        Raises:
            RuntimeError: The engine is in use.
        """

    def restore(self, data: bytes, /) -> None:
        """Continues from a snapshot of an equal configuration; threads may differ.

        Raises:
            TypeError: `data` is no bytes.
            ValueError: The bytes are no snapshot, or one of another configuration (the first difference is named).
            RuntimeError: The engine is in use.
        """

    def resolved_config(self) -> dict[str, Any]:
        """The complete configuration, defaults and seed included, of types that JSON holds."""

def engine_from_config(config: Mapping[str, Any], /) -> Engine:
    """The engine that `Engine.resolved_config` describes.

    Args:
        config: A dict with the keys game, options, reward, policy, learner, n_games, n_threads and seed, each as
            complete as there: no option, weight or setting is left to a default.

    Raises:
        TypeError: A value has the wrong type.
        ValueError: A key is missing or unknown, or a value is not allowed.
    """
