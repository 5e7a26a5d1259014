"""Batches: the records of a window, and what belongs to it as a whole."""

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from reinfors._reinfors import _ByPart
from reinfors._reinfors.engine import _Output
from reinfors._reinfors.records import Minibatches, Records

__all__ = ["Batch"]

@final
class Batch(Records):
    """The records of one window, time-major: row `t * n_slots + slot`. Cannot be pickled; its arrays can."""

    @property
    def n_slots(self) -> int:
        """Slots: one for each agent of each game, `game * n_agents + agent`."""

    @property
    def n_steps(self) -> int:
        """Steps of every slot; `M = n_steps * n_slots`."""

    @property
    def last_obs(self) -> _ByPart:
        """The observations that open the next window, (n_slots, *obs_shape), read-only.

        They lie in the memory of `obs`, all of which stays while either is held: copy them to hold them alone.
        """

    @property
    def last_values(self) -> NDArray[np.float32]:
        """Their values, (n_slots,). Of `Ppo`."""

    @property
    def last_states(self) -> NDArray[np.float32]:
        """What `infer` is given with them, (n_slots, *state_shape). Of policies with a state."""

    @property
    def final_rows(self) -> NDArray[np.int64]:
        """The records whose episodes were cut off, (K,), ascending. Of `Vtrace`."""

    @property
    def final_obs(self) -> _ByPart:
        """What those episodes stopped with, (K, *obs_shape). Of `Vtrace`."""

    @property
    def final_states(self) -> NDArray[np.float32]:
        """What `infer` would be given with it, (K, *state_shape). Of `Vtrace`, of policies with a state."""

    @property
    def telemetry(self) -> dict[str, Any]:
        """What the window tells of itself.

        `episodes`: dicts of return, length in decisions, ended, slot, seed. `seconds`: in step, render, infer; wait,
        when the games stood still before the window; total of these; queue, when the batch lay there; learner_wait,
        when the caller waited for it. `steps_per_second`: decisions. `lag`: min, mean, max of how many versions old the
        policy was, and histogram, a dict of records by lag; `lag_in_updates`: the same in calls of `weights_updated`.
        `epsilon`, of `policies.EpsilonGreedy`.
        `bottleneck`: sampler, inference or learner, with one line of `advice`. `window`: windows finished before this
        one.
        """

    def vtrace(
        self,
        target_log_probs: _Output,
        values: _Output,
        last_values: _Output,
        final_values: _Output | None = None,
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Targets and advantages by `reinfors.vtrace`, with the clips of the learner. Of `Vtrace`.

        Args:
            target_log_probs: Log-densities of `actions` under the policy that learns, (M,) or (n_steps, n_slots),
                `float32` or `float64`.
            values: Its values of `obs`, of the same shape or the other.
            last_values: Its values of `last_obs`, (n_slots,).
            final_values: Its values of `final_obs`, (K,); not needed where there are none.

        Returns:
            Targets of the values and advantages of the policy gradient, in the shape of `target_log_probs`.

        Raises:
            AttributeError: The batch is another learner's.
            TypeError: An argument is no such array, or `final_values` are missing.
            ValueError: An array has another shape, or a result is more than float32 can hold.
        """

    def time_major(self, name: str, /) -> _ByPart:
        """A field as (n_steps, n_slots, ...), a view; by part where observations have several.

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

    def sequences(self, size: int, length: int | None = None, seed: int | None = None) -> Minibatches:
        """Every record once, in sequences of one slot's consecutive steps, for recurrent policies.

        The records of one item have fields of shape (length, size, ...): `states[0]` is what each sequence begins
        with, and where `step` is 0 an episode begins and the state is zeros.

        Args:
            size: Sequences at a time, at least 1; the last ones may be fewer.
            length: Steps of a sequence, a divisor of `n_steps`; `None` for all.
            seed: Shuffles the sequences: anything `numpy.random.default_rng` takes.

        Raises:
            TypeError: `size` or `length` is no integer.
            ValueError: `size` is below 1, or `length` does not divide `n_steps`.
        """
