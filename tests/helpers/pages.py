"""What a page covers, by its position alone."""

from __future__ import annotations

from hra.model.hierarchy import Hierarchy


def covers(hierarchy: Hierarchy, page: int, finest: int) -> bool:
    """Whether the region of ``page`` contains the finest-level page ``finest``, by position alone."""
    node, level = hierarchy.node, int(hierarchy.node["level"][page])
    return all(node[axis][page] == node[axis][finest] >> level for axis in "xy") and bool(
        node["texture"][page] == node["texture"][finest]
    )
