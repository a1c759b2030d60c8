"""Old names of packages and of what they export: for one version each gives the new one and a `DeprecationWarning`."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

# Until version 0.2.
PACKAGES = {"hra.images": "hra.files.images", "hra.ply": "hra.files.ply", "hra.viewing": "hra.viewer"}
NAMES = {
    "hra.residency": {
        "Lane": "SharedResidency",
        "LaneFrame": "ResidencyFrame",
        "Verdict": "PolicyResult",
        "judge": "evaluate",
    },
}


class _Moved(MetaPathFinder, Loader):
    """Finds modules by their old names; each forwards to the one at the new place."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        return ModuleSpec(fullname, self, is_package=True) if _new_name(fullname) else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        new = _new_name(spec.name)
        module, real = ModuleType(spec.name, f"Moved to `{new}`."), import_module(new)
        vars(module).update(__getattr__=lambda name: getattr(real, name), __dir__=lambda: dir(real))
        warnings.warn(f"{spec.name} is {new} now; the old name goes with version 0.2", DeprecationWarning, stacklevel=2)
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing: the module at the new place has run."""


def renamed(package: str, find: Callable[[str], Any]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package that finds by their old names, too, what `NAMES` says of it."""

    def find_old(name: str) -> Any:
        new = NAMES[package].get(name)
        if new is None:
            return find(name)
        what = f"{package}.{name} is {package}.{new} now; the old name goes with version 0.2"
        warnings.warn(what, DeprecationWarning, stacklevel=2)
        return find(new)

    return find_old


def keep_old_names() -> None:
    """Let imports by the names of `PACKAGES`, and of modules below them, go on working."""
    if not any(isinstance(finder, _Moved) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Moved())  # first: folders that an older version left behind are packages, too


def _new_name(name: str) -> str:
    """The name at the new place, empty for what did not move."""
    for old, new in PACKAGES.items():
        if name == old or name.startswith(f"{old}."):
            return new + name.removeprefix(old)
    return ""
