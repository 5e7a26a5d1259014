"""What learners train on: the records of a window, field by field."""

from collections.abc import Iterator
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self, disjoint_base

from reinfors._reinfors import _ByPart

__all__ = ["Minibatches", "PpoBatch", "PpoRecords"]

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

        `episodes`: dicts of return, length in decisions, ended, slot, seed. `seconds`: in step, render, infer; wait,
        when the games stood still before the window; total of these; queue, when the batch lay there; learner_wait,
        when the caller waited for it. `steps_per_second`: decisions. `lag`: min, mean, max of how many versions old the
        policy was, and histogram, a dict of records by lag; `lag_in_updates`: the same in calls of `weights_updated`.
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
