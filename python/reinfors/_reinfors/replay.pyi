"""The replay buffer."""

from typing import SupportsIndex, final

from typing_extensions import Self

from reinfors._reinfors.batch import Batch
from reinfors._reinfors.engine import _Output
from reinfors._reinfors.records import Records

__all__ = ["Replay"]

@final
class Replay:
    """The last transitions that were added, sampled uniformly or by priority (Schaul et al., 2016).

    Each frame is stored once, natively: stacks and next observations are put together when they are sampled. What is
    sampled is a function of the seed and of the calls, in their order. May be used from several threads. Cannot be
    pickled.

    Args:
        capacity: Most transitions that are kept, 1 to 2**26; memory is taken as they come.
        seed: Decides what is sampled: a non-negative integer of any size, or `None` for fresh entropy.
        alpha: From 0 to 1. Transitions are drawn by their priority to this power; 0 draws uniformly.

    Raises:
        TypeError: An argument has the wrong type.
        ValueError: A value is not allowed.
    """

    def __new__(cls, capacity: int, seed: SupportsIndex | None = None, alpha: float = 0.0) -> Self: ...
    @property
    def capacity(self) -> int:
        """Most transitions that are kept."""

    @property
    def alpha(self) -> float:
        """The power of priorities; 0 where draws are uniform."""

    @property
    def nbytes(self) -> int:
        """Bytes that are held."""

    def add(self, batch: Batch, /) -> None:
        """Adds the transitions of a batch, with the largest priority so far; the oldest beyond the capacity go.

        Add batches in the order in which the engine made them: then the frames of one are the beginning of the next,
        and are stored once. Where one is left out, all is right still. What was written into `rewards` and other fields
        before is what is kept.

        Raises:
            TypeError: `batch` is no `Batch`.
            ValueError: It is of another learner than `Transitions`, of other observations, actions or states than those
                that are there, or a negative number was written into its `step`.
        """

    def sample(self, size: int, beta: float = 0.4) -> Records:
        """Draws transitions, with replacement.

        Uniformly; or by priority, one from each of `size` equal shares of their sum.

        Args:
            size: How many, 1 to 2**20.
            beta: From 0 to 1, how far `weights` make up for priorities: `(len * P) ** -beta` over the largest in the
                sample. All are 1 where draws are uniform.

        Returns:
            Records with `obs`, `actions`, `rewards`, `discounts`, `next_obs`, `terminated`, `truncated`,
            `policy_version`, `indices`, `weights`, and `states` and `next_states` where the policy has a state. Every
            array is the caller's.

        Raises:
            TypeError: An argument has the wrong type.
            ValueError: A value is not allowed.
            RuntimeError: Nothing was added yet.
        """

    def update_priorities(self, indices: _Output, priorities: _Output, /) -> None:
        """Replaces priorities, usually by the size of the temporal difference; a millionth is added to each.

        Args:
            indices: `Records.indices` of a sample, (M,). Transitions that have gone meanwhile are passed over.
            priorities: Not negative and no more than float32 can hold, `float32` or `float64` (M,).

        Raises:
            TypeError: An argument is no such array.
            ValueError: The buffer has no priorities (`alpha` is 0), the lengths differ, an index was never sampled, or
                a priority is negative or more than float32 can hold. Nothing has changed then.
        """

    def __len__(self) -> int: ...
