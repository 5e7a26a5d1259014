"""PettingZoo: one world of several agents. The library is imported when the name is first used."""

from typing import TYPE_CHECKING

from reinfors._lazy import lazily

if TYPE_CHECKING:
    from reinfors.adapters.pettingzoo import ParallelEnv

__all__ = ["ParallelEnv"]

__getattr__ = lazily(__name__, {"ParallelEnv": ("pettingzoo", "ParallelEnv")}, extra="pettingzoo")
