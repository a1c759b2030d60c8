"""Third-party metrics, hierarchies, traversals and backends, found by entry point and loaded on first use."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal

from hra.errors import HraError

Group = Literal["hra.metrics", "hra.hierarchies", "hra.traversals", "hra.backends"]


def available(group: Group) -> dict[str, EntryPoint]:
    """Entry points of a group by name; nothing is imported yet."""
    return {point.name: point for point in entry_points(group=group)}


def load(group: Group, name: str) -> Any:
    """The object registered as ``name`` in ``group``, usually a class.

    Raises
    ------
    HraError : no such entry point, or its module cannot be imported.
    """
    points = available(group)
    if name not in points:
        known = ", ".join(sorted(points)) or "none"
        raise HraError(f"nothing is registered as {name!r}", where=group, fix=f"choose one of: {known}")
    try:
        return points[name].load()
    except (ImportError, AttributeError) as error:
        raise HraError(f"{name!r} cannot be loaded: {error}", where=points[name].value) from error
