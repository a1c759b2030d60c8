#!/usr/bin/env python
"""Write the public interface, one line for each name and method with its signature, to docs/public-api.txt.

Run ``python scripts/public_api.py`` after a change that is meant; a test compares the file with the code.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Iterator
from pathlib import Path

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
FILE = Path(__file__).parents[1] / "docs/public-api.txt"


def interface() -> str:
    """All names that packages export by their stubs, with signatures as they are written."""
    lines = [line for package in packages() for name in exported(package) for line in described(package, name)]
    return "\n".join(lines) + "\n"


def packages() -> list[str]:
    """``hra`` and every package below it that has a stub."""
    hra = importlib.import_module("hra")
    found = (module.name for module in pkgutil.walk_packages(hra.__path__, "hra.") if module.ispkg)
    return ["hra", *sorted(name for name in found if has_stub(name))]


def has_stub(package: str) -> bool:
    """Whether the package exports names lazily."""
    (folder,) = importlib.import_module(package).__path__
    return Path(folder, "__init__.pyi").exists()


def exported(package: str) -> list[str]:
    """The names of a package's stub."""
    return sorted(importlib.import_module(package).__all__)


def described(package: str, name: str) -> Iterator[str]:
    """A name with its signature, and a class with its public methods."""
    thing = getattr(importlib.import_module(package), name)
    yield f"{package}.{name}{signature(thing)}"
    if inspect.isclass(thing):
        for member in sorted(vars(thing)):
            if not member.startswith("_") and (value := inspect.getattr_static(thing, member)) is not None:
                yield f"{package}.{name}.{member}{signature(getattr(value, '__func__', value))}"


def signature(thing: object) -> str:
    """The parameters of what can be called, as text; nothing for values."""
    if not callable(thing):
        return ""
    try:
        return _ADDRESS.sub("", str(inspect.signature(thing)))
    except (TypeError, ValueError):
        return "(...)"


if __name__ == "__main__":
    FILE.write_text(interface())
    sys.stdout.write(f"{FILE}: {len(FILE.read_text().splitlines())} lines\n")
