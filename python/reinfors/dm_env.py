"""dm_env: one environment as time steps. The library is imported when the name is first used."""

from typing import TYPE_CHECKING

from reinfors._lazy import lazily

if TYPE_CHECKING:
    from reinfors.adapters.dm_env import Environment

__all__ = ["Environment"]

__getattr__ = lazily(__name__, {"Environment": ("dm_env", "Environment")}, extra="dm-env")
