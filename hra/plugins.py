"""What packages register, hra among them: metrics, traversals, methods, commands ..., found by entry point.

Nothing is imported before it is asked for by name, so that a broken package stops only those who use it. A name
that begins with "_" stands for a mapping of names to objects, which is imported when its group is asked for: a package
with many plug-ins lists them once, in its code.
"""

from __future__ import annotations

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
    """The items of a mapping as entry points; a mapping that cannot be loaded stays, and fails by its own name."""
    try:
        items = point.load().items()
    except Exception:
        return [point]
    found = [EntryPoint(name, f"{item.__module__}:{item.__qualname__}", point.group) for name, item in items]
    for each in found:
        vars(each).update(dist=point.dist)
    return found


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
        return point.load()
    except Exception as error:  # at import, other people's code may raise anything
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
