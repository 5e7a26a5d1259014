"""Records: a table of named fields, and minibatches of it."""

from collections.abc import Iterator
from typing import final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self, disjoint_base

from reinfors._reinfors import _ByPart
from reinfors.recipes.tensors import Tensors

__all__ = ["Minibatches", "Records"]

@disjoint_base
class Records:
    """Records by field: row `i` of every field belongs together, `M` rows.

    Which fields there are is the learner's and the policy's to say; asking for another is an `AttributeError` that
    names those there are. In the records of `Batch.sequences` a field has the shape (length, size, ...) in place of
    (M, ...).
    """

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the fields."""

    @property
    def obs(self) -> _ByPart:
        """What the policy saw, (M, *obs_shape). In a batch read-only and never overwritten."""

    @property
    def actions(self) -> NDArray[np.int64] | NDArray[np.float32]:
        """What it did: `int64` (M,), or `float32` (M, D) before clipping to the bounds."""

    @property
    def behavior_log_probs(self) -> NDArray[np.float32]:
        """Log-density of the action under the policy that acted, (M,). Of `Ppo` and `Vtrace`."""

    @property
    def values(self) -> NDArray[np.float32]:
        """What `infer` expected, (M,). Of `Ppo`."""

    @property
    def rewards(self) -> NDArray[np.float32]:
        """Rewards, (M,); of `Transitions`, the discounted sum over the steps that each covers."""

    @property
    def advantages(self) -> NDArray[np.float32]:
        """GAE, computed in float64 and not normalised, (M,). Of `Ppo`."""

    @property
    def returns(self) -> NDArray[np.float32]:
        """Advantage plus value, (M,). Of `Ppo`."""

    @property
    def discounts(self) -> NDArray[np.float32]:
        """What the value of what follows is multiplied with, (M,). Of `Vtrace` and `Transitions`."""

    @property
    def next_obs(self) -> _ByPart:
        """What was seen after the steps that each covers, (M, *obs_shape), made when asked. Of `Transitions`."""

    @property
    def terminated(self) -> NDArray[np.bool_]:
        """Whether the step (of `Transitions`, the last one covered) ended the episode, (M,)."""

    @property
    def truncated(self) -> NDArray[np.bool_]:
        """Whether that step was the episode's last allowed one, (M,)."""

    @property
    def policy_version(self) -> NDArray[np.int64]:
        """Version of the policy that acted, (M,)."""

    @property
    def slot(self) -> NDArray[np.int32]:
        """Which game, (M,)."""

    @property
    def step(self) -> NDArray[np.int32]:
        """Which decision of its episode, from 0, (M,)."""

    @property
    def states(self) -> NDArray[np.float32]:
        """What `infer` was given as state, (M, *state_shape). Of policies with a state."""

    @property
    def next_states(self) -> NDArray[np.float32]:
        """What it is given with `next_obs`, (M, *state_shape). Of `Transitions` with a state."""

    @property
    def indices(self) -> NDArray[np.int64]:
        """Numbers by which `Replay.update_priorities` knows them, (M,). Of `Replay.sample`."""

    @property
    def weights(self) -> NDArray[np.float32]:
        """Importance weights, the largest 1, (M,). Of `Replay.sample`."""

    def torch(self, device: object = None) -> Tensors:
        """The fields, and in a batch what belongs to it as a whole, as tensors of torch.

        Pixels stay `uint8`: a quarter of what they would be as floats is sent to the device. On the CPU nothing is
        copied, so do not write into them.

        Args:
            device: Where to: anything that torch takes as a device; `None` for the CPU.

        Raises:
            ModuleNotFoundError: torch is not installed.
        """

    def __len__(self) -> int: ...

@final
class Minibatches(Iterator[Records]):
    """Some records of a batch at a time, each a copy of its rows."""

    def __next__(self) -> Records: ...
    def __iter__(self) -> Self: ...
