"""Faces for other libraries, one module each; a module imports its library, and nothing else does.

Ids are known to Gymnasium once it and this package are both imported, in either order: importing this package never
imports Gymnasium.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from importlib.abc import MetaPathFinder
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

_LIBRARY = "gymnasium"
_ADAPTER = f"{__name__}.{_LIBRARY}"


class _RegisterOnImport(MetaPathFinder):
    """Imports the adapter right after its library, once; looking the library up changes nothing."""

    _is_searching = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        if fullname != _LIBRARY or self._is_searching:
            return None
        self._is_searching = True
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._is_searching = False
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def execute_and_register(module: ModuleType) -> None:
            execute(module)
            sys.meta_path.remove(self)
            importlib.import_module(_ADAPTER)

        spec.loader.exec_module = execute_and_register  # type: ignore[method-assign]
        return spec


if hasattr(sys.modules.get(_LIBRARY), "register"):
    importlib.import_module(_ADAPTER)
else:
    sys.meta_path.insert(0, _RegisterOnImport())
