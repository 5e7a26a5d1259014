"""Gymnasium: one environment, and many in one. Gymnasium is imported when one of these names is first used."""

from typing import TYPE_CHECKING

from reinfors._lazy import lazily

if TYPE_CHECKING:
    from reinfors.adapters.gymnasium import GymnasiumEnv as Env
    from reinfors.adapters.gymnasium_vector import GymnasiumVectorEnv as VectorEnv

__all__ = ["Env", "VectorEnv"]

__getattr__ = lazily(
    __name__,
    {"Env": ("gymnasium", "GymnasiumEnv"), "VectorEnv": ("gymnasium_vector", "GymnasiumVectorEnv")},
    extra="gym",
)
