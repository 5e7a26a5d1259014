"""The native module: a list of its parts, one for each file of the binding. Import its names from `reinfors`."""

from typing import Any, Literal, TypeAlias, TypedDict

from reinfors._reinfors.batch import Batch
from reinfors._reinfors.engine import Engine, engine_from_config
from reinfors._reinfors.evaluate import play_episodes
from reinfors._reinfors.foreign import ForeignGame
from reinfors._reinfors.game import Game, describe, registered
from reinfors._reinfors.off_policy import vtrace
from reinfors._reinfors.records import Minibatches, Records
from reinfors._reinfors.replay import Replay
from reinfors._reinfors.stream import CollectStream
from reinfors._reinfors.vec_env import VecEnv

__all__ = [
    "Batch",
    "CollectStream",
    "Engine",
    "ForeignGame",
    "Game",
    "Minibatches",
    "Records",
    "Replay",
    "VecEnv",
    "build_info",
    "describe",
    "engine_from_config",
    "play_episodes",
    "registered",
    "vtrace",
]

# One of the named thing, or a dict of one for each part where an observation has several. A union would have everybody
# who observes pixels alone prove that they do.
_ByPart: TypeAlias = Any  # noqa: PYI047 - the parts use it

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
