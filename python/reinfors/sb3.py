"""Stable-Baselines3: many environments in one. The library is imported when the name is first used."""

from typing import TYPE_CHECKING

from reinfors._lazy import lazily

if TYPE_CHECKING:
    from reinfors.adapters.sb3 import VecEnv

__all__ = ["VecEnv"]

__getattr__ = lazily(__name__, {"VecEnv": ("sb3", "VecEnv")}, extra="sb3")
