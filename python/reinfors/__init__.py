"""Reinforcement-learning environments and sampling at native speed; `import reinfors as rf`.

Needs NumPy only. What speaks to another library (`gym`) imports it when it is first used.
"""

from reinfors import adapters, dm_env, games, gym, learners, logging, pettingzoo, policies, sb3
from reinfors._reinfors import (
    Batch,
    CollectStream,
    Engine,
    Records,
    Replay,
    VecEnv,
    build_info,
    engine_from_config,
    vtrace,
)
from reinfors.evaluation import EpisodeStats, evaluate
from reinfors.reward import Reward

__version__: str = build_info()["version"]

__all__ = [
    "Batch",
    "CollectStream",
    "Engine",
    "EpisodeStats",
    "Records",
    "Replay",
    "Reward",
    "VecEnv",
    "__version__",
    "adapters",
    "build_info",
    "dm_env",
    "engine_from_config",
    "evaluate",
    "games",
    "gym",
    "learners",
    "logging",
    "pettingzoo",
    "policies",
    "sb3",
    "vtrace",
]
