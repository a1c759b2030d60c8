"""Pages of the reference: one for each package with a stub, one for each name that the stub exports."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from itertools import pairwise
from pathlib import Path
from types import GenericAlias, ModuleType
from typing import Any

import hra

_TITLES = {
    "hra": "The core",
    "hra.domains.meshes": "Meshes",
    "hra.domains.points": "Points and splats",
    "hra.domains.textures": "Textures",
    "hra.domains.tiles": "Tilesets",
    "hra.domains.tokens": "Visual tokens",
    "hra.testing": "Checks for what you write",
}

# Pages of files, below the names.
_FILES = ("readers", "mesh-format", "trace-format", "versions", "bibliography")

# What commands share; no user needs it.
_INTERNAL = ("hra.console",)


def write_pages(app: Any) -> None:
    """Write ``reference/``, before Sphinx looks for its sources."""
    folder = Path(app.srcdir) / "reference"
    (folder / "names").mkdir(parents=True, exist_ok=True)
    # To find all packages is to import them, with torch, transformers and Ray.
    shown = described_once([*_TITLES] if app.config.hra_quick else public_packages())
    if app.config.hra_quick:
        shown = {"hra.testing": shown["hra.testing"]}
    for package, names in shown.items():
        _write(folder / f"{package}.rst", _package_page(importlib.import_module(package), names))
        for name in names:
            _write(folder / "names" / f"{package}.{name}.rst", _name_page(package, name))
    _write(folder / "index.rst", _index(list(shown)))


def described_once(packages: list[str]) -> dict[str, list[str]]:
    """The names of each package, without those that an earlier package exports too."""
    seen, shown = set(), {}
    for name in packages:
        package = importlib.import_module(name)
        fresh = {one: id(getattr(package, one)) for one in exported(package) if id(getattr(package, one)) not in seen}
        seen.update(fresh.values())
        shown[name] = list(fresh)
    return {name: names for name, names in shown.items() if names}


def public_packages() -> list[str]:
    """``hra`` and all packages that export names by a stub, those of `_TITLES` first."""
    walked = ["hra", *(module.name for module in pkgutil.walk_packages(hra.__path__, "hra.") if module.ispkg)]
    stubbed = [name for name in walked if _stub(name).exists() and name not in _INTERNAL]
    return sorted(stubbed, key=lambda name: (name not in _TITLES, list(_TITLES).index(name) if name in _TITLES else 0))


def exported(package: ModuleType) -> list[str]:
    """The names that the stub of a package exports, in alphabetical order."""
    return sorted(name for name in package.__dir__() if not name.startswith("_"))


def _stub(package: str) -> Path:
    (folder,) = importlib.import_module(package).__path__
    return Path(folder, "__init__.pyi")


def _package_page(package: ModuleType, names: list[str]) -> str:
    name = package.__name__
    title = f"{_TITLES[name]}: ``{name}``" if name in _TITLES else f"``{name}``"
    toc = "\n   ".join(f"names/{name}.{one}" for one in names)
    # Autosummary takes the alias of a type for a class, and finds no signature.
    rows = "\n   ".join(one for one in names if not _is_alias(getattr(package, one)))
    first = inspect.getdoc(package) or ""
    return (
        f"{title}\n{'=' * len(title)}\n\n{first}\n\n.. currentmodule:: {name}\n\n"
        f".. autosummary::\n   :nosignatures:\n\n   {rows}\n\n.. toctree::\n   :hidden:\n\n   {toc}\n"
    )


def _name_page(package: str, name: str) -> str:
    value = getattr(importlib.import_module(package), name)
    heading = f"{name}\n{'=' * len(name)}\n\n.. currentmodule:: {package}\n\n"
    if _is_alias(value):  # autodoc takes it for a class, and numpydoc finds no signature
        return f"{heading}.. py:data:: {name}\n\n   Stands for ``{value}``.\n"
    options = "\n   :members:\n   :inherited-members: tuple, Protocol" if inspect.isclass(value) else ""
    return f"{heading}.. {_directive(value)}:: {package}.{name}{options}\n"


def _directive(value: object) -> str:
    if inspect.ismodule(value):
        return "automodule"
    if inspect.isclass(value):
        return "autoclass"
    return "autofunction" if inspect.isroutine(value) else "autodata"


def _is_alias(value: object) -> bool:
    """Whether it is such as ``tuple[str, int]``, which says that its class is ``type``."""
    return type(value) is GenericAlias


def _index(packages: list[str]) -> str:
    entries = "\n   ".join(packages)
    files = "\n   ".join(f"../{one}" for one in _FILES)
    return (
        "Reference\n=========\n\n"
        "Every public name with a tested example, every command, every file format.\n\n"
        f".. toctree::\n   :maxdepth: 2\n   :caption: Names\n\n   {entries}\n\n"
        ".. toctree::\n   :maxdepth: 1\n   :caption: Commands\n\n   commands\n\n"
        f".. toctree::\n   :maxdepth: 1\n   :caption: Files and versions\n\n   {files}\n"
    )


def part_entries(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Put what an entry says below its name: ours say it behind a colon, where numpydoc expects a type."""
    section, parted = "", []
    for line, below in pairwise([*lines, ""]):
        if re.fullmatch(r"-{3,}", below):
            section = line
        entry = _ENTRY.fullmatch(line) if section in _ENTRIES else None
        parted += [entry[1], f"    {entry[2]}"] if entry else [line]
    lines[:] = parted


_ENTRIES = ("Attributes", "Parameters", "Raises", "Returns", "Yields")
_ENTRY = re.compile(r"(\S.*?) : (.*)")


def _write(path: Path, text: str) -> None:
    """Leave files alone that stay the same: Sphinx reads again what is newer."""
    if not path.exists() or path.read_text("utf-8") != text:
        path.write_text(text, "utf-8")


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_config_value("hra_quick", False, "env", bool, "few pages of the reference, none to move a budget on")
    app.connect("builder-inited", write_pages, priority=100)
    app.connect("autodoc-process-docstring", part_entries, priority=100)  # before numpydoc reads them
    return {"parallel_read_safe": True}
