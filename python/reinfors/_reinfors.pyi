"""The native module: classes that forward to Rust. Import its names from `reinfors`."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from types import TracebackType
from typing import Any, Literal, Protocol, SupportsIndex, TypeAlias, TypedDict, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from typing_extensions import Self, disjoint_base

from reinfors import learners, policies
from reinfors.reward import Reward

__all__ = [
    "CollectStream",
    "Engine",
    "Game",
    "Minibatches",
    "PpoBatch",
    "PpoRecords",
    "VecEnv",
    "build_info",
    "describe",
    "engine_from_config",
    "registered",
]

# One of the named thing, or a dict of one for each part where an observation has several. A union would have everybody
# who observes pixels alone prove that they do.
_ByPart: TypeAlias = Any

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
    def obs_shape(self) -> _ByPart:
        """Shape of one observation, a tuple; by part, in a dict, where an observation has several."""

    @property
    def obs_dtype(self) -> _ByPart:
        """NumPy's dtype of an observation, by part where there are several: `uint8` pixels, a `float32` state."""

    @property
    def state_names(self) -> list[str] | None:
        """What each number of the state vector is, or `None` where no state is observed."""

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

class _BuildInfo(TypedDict):
    version: str
    profile: Literal["debug", "release"]
    target: str
    cpu_level: Literal["baseline", "avx2"]

def build_info() -> _BuildInfo:
    """How the native module was built, and the level of instructions it uses on this processor.

    The level is the best that the processor has, or the one that the environment variable `REINFORS_CPU` names, to
    measure or test a lower one; results do not depend on it. Importing the package with a name that this processor
    does not have is a `ValueError`.
    """

@final
class VecEnv:
    """Environments of one game, stepped by the caller: the face on which every adapter stands.

    Every array that is returned is the caller's to keep. Observations are one array, or where the game observes several
    parts a dict of one array per part. A refused call changes nothing. Results do not depend on the
    number of threads. Cannot be copied or pickled: `save` and `load` carry single environments over.

    Args:
        game: What is played.
        n_envs: Number of environments, 1 to 65536.
        n_threads: Threads that step them; `None` for all cores.
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
        """Starts new episodes.

        Args:
            seed: An integer `s` gives environment `i` the seed `s + i`; a list, or another ordered iterable but bytes,
                gives each its own; `None`, also inside the list, continues the environment's random stream.
            options: Values (bool) of the game's reset flags, and `"reset_mask"`: a bool array (n_envs,) of the
                environments to reset, the others staying where they are.

        Returns:
            Observations (n_envs, *obs_shape) and infos.

        Raises:
            TypeError: A seed, flag or mask has the wrong type.
            ValueError: A negative seed, a list of another length, an unknown option, a mask that marks nothing.
            RuntimeError: The mask leaves out an environment that was never reset, or this is closed.
        """

    def step(
        self, actions: ArrayLike, /
    ) -> tuple[_ByPart, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Steps every environment once: `frame_skip` steps of the simulator for games that have it.

        Args:
            actions: Integers (n_envs,) of any width, or real numbers (n_envs, D). `float32` is widened as it is: its
                -0.6 is not the `float64` -0.6, here as in the reference.

        Returns:
            Observations (n_envs, *obs_shape), rewards `float64` (n_envs,), terminated and truncated `bool`
            (n_envs,), and infos in Gymnasium's form: per key an array and, under `_key`, which environments report it.

        Raises:
            TypeError: The actions have the wrong dtype.
            ValueError: The actions have the wrong shape, are outside the numbered ones or not finite.
            RuntimeError: An environment was never reset, or this is closed.
        """

    def observe(self) -> _ByPart:
        """The current observations, (n_envs, *obs_shape).

        Raises:
            RuntimeError: An environment was never reset, or this is closed.
        """

    def render(self, i: int, /) -> NDArray[np.uint8]:
        """The picture for people of environment `i`, `uint8` (height, width, 3).

        Raises:
            ValueError: There is no such environment.
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

class _SupportsDlpack(Protocol):
    @property
    def __dlpack__(self) -> Callable[..., object]: ...

class _SupportsArray(Protocol):
    @property
    def __array__(self) -> Callable[..., object]: ...

_Output: TypeAlias = _SupportsArray | _SupportsDlpack
_Infer: TypeAlias = Callable[[_ByPart], tuple[_Output, _Output]]

@final
class Engine:
    """A sampler over many games: steps them on native threads and asks `infer` for decisions.

    `infer(obs)` is called with one read-only array (rows, *obs_shape), or a dict of one per part where there are
    several, whose number of rows varies, and returns
    `(params, values)`: `float32` or `float64` of shapes (rows, n_params) and (rows,), as NumPy arrays, torch tensors
    (detached and brought to the CPU) or CPU objects with `__dlpack__` or `__array__`. What it returns wrongly is a
    `TypeError` or `ValueError` before any game is stepped; what it raises reaches the caller as itself. After either
    the games are where they were before the call, and the engine can be used on.

    A batch is a function of configuration, seed and the answers of `infer`: not of threads, timing or machine.
    Cannot be copied or pickled: a twin elsewhere is made from `resolved_config` and `snapshot`.

    Args:
        game: What is played.
        reward: Weights, or `None` for the game's defaults.
        policy: How actions are chosen.
        learner: What is made of the records.
        n_games: Parallel episode slots, 1 to 65536.
        n_threads: Threads that step games; `None` for all cores.
        seed: A non-negative integer of any size, or `None` for fresh entropy, which `resolved_config` then tells.

    Raises:
        TypeError: An argument has the wrong type.
        ValueError: A value is not allowed, a reward key is not the game's, or the policy does not fit the actions.
    """

    def __new__(
        cls,
        game: Game,
        reward: Reward | None,
        policy: policies.Ppo,
        learner: learners.Ppo,
        n_games: int,
        n_threads: int | None = None,
        seed: SupportsIndex | None = None,
    ) -> Self: ...
    @property
    def n_games(self) -> int:
        """Parallel episode slots."""

    @property
    def n_threads(self) -> int:
        """Threads in use, at most one per game."""

    @property
    def n_params(self) -> int:
        """Columns of `params` that `infer` must return."""

    @property
    def obs_shape(self) -> _ByPart:
        """Shape of one observation, a tuple; by part, in a dict, where an observation has several."""

    @property
    def policy_version(self) -> int:
        """The policy's version; 0 before the first `weights_updated`."""

    def collect(self, n_records: int, infer: _Infer) -> PpoBatch:
        """Makes one batch on this thread.

        Args:
            n_records: Records wanted; made are `ceil(n_records / n_games)` steps of every slot.
            infer: The policy and value function.

        Raises:
            TypeError: `infer` is not callable or returns another type than accepted.
            ValueError: `n_records` is not from 1 to 2**24; `infer` returns another shape or a number that is not
                finite.
            RuntimeError: The engine is in use: held by a stream, by another thread or by the call that asks `infer`.
        """

    def collect_stream(self, collect_size: int, infer: _Infer, depth: int = 1) -> CollectStream:
        """Starts making batches in the background; the engine is held until the stream is paused, stopped or dropped.

        Args:
            collect_size: Records per batch, rounded up to whole steps of every slot.
            infer: The policy and value function, called from the stream's thread.
            depth: Finished batches that may wait; at least 1.

        Raises:
            TypeError: `infer` is not callable, or a number is no integer.
            ValueError: `collect_size` is not from 1 to 2**24, or `depth` is below 1.
            RuntimeError: The engine is in use.
        """

    def weights_updated(self, version: int | None = None) -> int:
        """Marks a new version of the policy and returns it: one higher, or the given non-negative one.

        A given version may be lower than the last: records of the higher one then have a negative lag.
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

@final
class CollectStream(Iterator[PpoBatch]):
    """Batches made in the background, by `Engine.collect_stream`; iterate over it, or call `next`.

    Leaving its `with` block stops it, and so does dropping it, even where `infer` keeps it: the engine is then free.
    """

    def __next__(self) -> PpoBatch:
        """The next batch, waiting for it.

        Raises:
            RuntimeError: The stream has ended, or `infer` itself calls this.
        """

    def __iter__(self) -> Self: ...
    def pending(self) -> int:
        """Finished batches that nobody has taken."""

    def pause(self) -> list[PpoBatch]:
        """Ends the stream without loss: finishes the batch in progress and returns all that nobody has taken.

        The engine is then free and continues exactly behind the last of them.
        """

    def stop(self) -> None:
        """Ends the stream and discards what nobody has taken. A second call does nothing."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None, /
    ) -> None: ...

@disjoint_base
class PpoRecords:
    """Records of PPO: row `i` of every field belongs together, `M` rows."""

    @property
    def obs(self) -> _ByPart:
        """What the policy saw, (M, *obs_shape). In a batch read-only and never overwritten."""

    @property
    def actions(self) -> NDArray[np.int64] | NDArray[np.float32]:
        """The raw sample: `int64` (M,), or `float32` (M, D) before clipping to the bounds."""

    @property
    def behavior_log_probs(self) -> NDArray[np.float32]:
        """Log-density of the raw sample under the policy that acted, (M,)."""

    @property
    def values(self) -> NDArray[np.float32]:
        """What `infer` expected, (M,)."""

    @property
    def rewards(self) -> NDArray[np.float32]:
        """Rewards, (M,)."""

    @property
    def advantages(self) -> NDArray[np.float32]:
        """GAE, computed in float64 and not normalised, (M,)."""

    @property
    def returns(self) -> NDArray[np.float32]:
        """Advantage plus value, (M,)."""

    @property
    def terminated(self) -> NDArray[np.bool_]:
        """Whether the step ended the episode, (M,)."""

    @property
    def truncated(self) -> NDArray[np.bool_]:
        """Whether the step was the episode's last allowed one, (M,)."""

    @property
    def policy_version(self) -> NDArray[np.int64]:
        """Version of the policy that acted, (M,)."""

    @property
    def slot(self) -> NDArray[np.int32]:
        """Which game, (M,)."""

    @property
    def step(self) -> NDArray[np.int32]:
        """Which decision of its episode, from 0, (M,)."""

    def __len__(self) -> int: ...

@final
class PpoBatch(PpoRecords):
    """The records of one window, time-major: row `t * n_games + slot`. Cannot be pickled; its arrays can."""

    @property
    def n_games(self) -> int:
        """Slots."""

    @property
    def n_steps(self) -> int:
        """Steps of every slot; `M = n_steps * n_games`."""

    @property
    def last_obs(self) -> _ByPart:
        """The observations that open the next window, (n_games, *obs_shape), read-only."""

    @property
    def last_values(self) -> NDArray[np.float32]:
        """Their values, (n_games,)."""

    @property
    def telemetry(self) -> dict[str, Any]:
        """What the window tells of itself.

        `episodes`: dicts of return, length in decisions, ended, slot, seed. `seconds`: in step, render, infer, wait,
        total. `steps_per_second`: decisions. `lag`: min, mean, max of how many versions old the policy was.
        `bottleneck`: sampler, inference or learner, with one line of `advice`. `window`: windows finished before this
        one.
        """

    def time_major(self, name: str, /) -> _ByPart:
        """A field as (n_steps, n_games, ...), a view; by part where observations have several.

        Raises:
            TypeError: `name` is no str.
            ValueError: There is no such field per record; the message lists them.
        """

    def minibatches(self, size: int, seed: int | None = None) -> Minibatches:
        """Every record once, in the order of `numpy.random.default_rng(seed).permutation(M)`.

        Args:
            size: Records per minibatch, at least 1; the last one may have fewer.
            seed: Anything `default_rng` takes.

        Raises:
            TypeError: `size` is no integer.
            ValueError: `size` is below 1.
        """

@final
class Minibatches(Iterator[PpoRecords]):
    """Minibatches of a batch, each a copy of its rows."""

    def __next__(self) -> PpoRecords: ...
    def __iter__(self) -> Self: ...
