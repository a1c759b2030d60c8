"""Public names of packages, imported when they are first used (PEP 562)."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def lazy_exports(package: str, modules: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The functions ``__getattr__`` and ``__dir__`` of a ``package`` that exports names from ``modules``.

    No name may be that of a submodule, which would take its place once it is imported.

    Parameters
    ----------
    package : ``__name__`` of the package.
    modules : public name to the full name of the module that defines it.
    """

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(modules[name]), name)

    def names() -> list[str]:
        return importlib.import_module(package).__all__

    return get, names
