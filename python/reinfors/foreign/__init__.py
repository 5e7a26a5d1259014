"""Games whose worlds are Python's, for the same `Engine` and `VecEnv` as the native ones.

`reinfors.games` has them beside the others. They are as fast as the Python that steps them, and what needs a saved
state they cannot do; the rest holds.
"""

from reinfors.foreign.games import Batch, Gymnasium

__all__ = ["Batch", "Gymnasium"]
