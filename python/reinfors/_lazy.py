"""Names that are imported at their first use: so `rf.gym` is there, and `import reinfors` needs NumPy only."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def lazily(module: str, names: Mapping[str, tuple[str, str]], extra: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module whose names stand elsewhere.

    Args:
        module: Its own name.
        names: Where each of its names stands: the adapter, and what it is called there.
        extra: What `pip install` adds to this package for them.
    """

    def look_up(name: str) -> Any:  # noqa: ANN401
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}; it has {', '.join(names)}")
        adapter, attribute = names[name]
        try:
            home = importlib.import_module(f"reinfors.adapters.{adapter}")
        except ModuleNotFoundError as missing:
            library = str(missing.name).partition(".")[0]
            raise ModuleNotFoundError(
                f"{module}.{name} needs {library}: pip install 'reinfors[{extra}]'", name=library
            ) from missing
        return getattr(home, attribute)

    return look_up
