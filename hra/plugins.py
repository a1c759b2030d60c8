"""What packages register, hra among them: metrics, traversals, methods, commands ..., found by entry point.

Nothing is imported before it is asked for by name, so that a broken package stops only those who use it. A name
that begins with "_" stands for a mapping of names to objects, which is imported when its group is asked for: a package
with many plug-ins lists them once, in its code.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal, get_args

from hra.errors import HraError

Group = Literal["hra.metrics", "hra.hierarchies", "hra.traversals", "hra.methods", "hra.commands", "hra.backends"]
GROUPS: tuple[Group, ...] = get_args(Group)


def find_registered(group: Group) -> list[EntryPoint]:
    """All entry points of a group; what is installed while the process runs is not among them."""
    points = _find_installed().select(group=group)
    return [member for point in points for member in (_members(point) if point.name.startswith("_") else (point,))]


def _members(point: EntryPoint) -> list[EntryPoint]:
    """The items of a mapping as entry points; what is no mapping of names stays, and fails by its own name."""
    try:
        return [_Item(name, point, item) for name, item in _items(point)]
    except (Exception, SystemExit):
        return [point]


def _items(point: EntryPoint) -> list[tuple[str, Any]]:
    """What the mapping at an entry point holds; raises whatever goes wrong."""
    found = point.load()
    if not isinstance(found, Mapping) or not all(isinstance(name, str) for name in found):
        raise TypeError("it is no mapping from names to objects")
    return list(found.items())


class _Item(EntryPoint):
    """An item of a mapping, of any kind; it is there already, and loading it returns it."""

    def __init__(self, name: str, point: EntryPoint, item: Any) -> None:
        # The same object in two mappings is registered once; a partial or a typer.Typer has no place of its own.
        own = f"{point.value}[{name!r}]"
        value = f"{item.__module__}:{item.__qualname__}" if hasattr(item, "__qualname__") else own
        super().__init__(name, value, point.group)
        vars(self).update(dist=point.dist, item=item)

    def load(self) -> Any:
        """The item."""
        return vars(self)["item"]


@cache
def _find_installed() -> Any:
    """Read once: reading takes some 10 ms for a hundred packages, and commands ask for dozens of names."""
    return entry_points()


def available(group: Group) -> dict[str, EntryPoint]:
    """Entry points of a group by name; nothing is imported yet."""
    return {point.name: point for point in find_registered(group)}


def load(group: Group, name: str) -> Any:
    """The object registered as ``name`` in ``group``, usually a class.

    Raises
    ------
    HraError : no such entry point, one that several packages register differently, or its module cannot be imported.
    """
    points = {point.value: point for point in find_registered(group) if point.name == name}
    if not points:
        known = ", ".join(sorted(available(group))) or "none"
        raise HraError(f"nothing is registered as {name!r}", where=group, fix=f"choose one of: {known}")
    if len(points) > 1:  # whichever came first would be a choice that nobody made
        where = f"{group}: {', '.join(f'{value} ({_package(point)})' for value, point in points.items())}"
        raise HraError(f"several packages register {name!r}", where=where, fix="uninstall all but one of them")
    (point,) = points.values()
    try:
        return _items(point) if name.startswith("_") else point.load()
    except (Exception, SystemExit) as error:  # at import, other people's code may raise anything; scripts exit
        reason = f"{name!r} cannot be loaded: {type(error).__name__}: {error}"
        fix = f"{group}: reinstall or remove the package {_package(point)}"
        raise HraError(reason, where=point.value, fix=fix) from error


def failures(group: Group) -> dict[str, HraError]:
    """What of a group does not load and why, by name; imports all of it."""
    found: dict[str, HraError] = {}
    for name in sorted(available(group)):
        try:
            load(group, name)
        except HraError as error:
            found[name] = error
    return found


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist else "that registers it"
