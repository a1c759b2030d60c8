"""What streamers hold: the items of a hierarchy, and which of them an allocation wants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from hra.allocating.allocation import Allocation
from hra.errors import HierarchyError
from hra.model.hierarchy import Hierarchy
from hra.residency.live.paged import PagedHierarchy
from hra.residency.live.pool_kernels import FREE, PINNED


@runtime_checkable
class Items(Protocol):
    """The items of one member of a `SharedResidency`.

    Attributes
    ----------
    hierarchy : what allocations are of.
    cost : int [N], bytes that each item takes while it is held.
    parents : int32 [N], see `ResidentPool`.
    """

    @property
    def hierarchy(self) -> Hierarchy: ...  # noqa: D102

    @property
    def cost(self) -> np.ndarray: ...  # noqa: D102

    @property
    def parents(self) -> np.ndarray: ...  # noqa: D102

    def wanted(self, allocation: Allocation) -> tuple[np.ndarray, np.ndarray]:
        """The items that an allocation holds, int64 [n], ascending, and what each is worth, float64 [n]."""
        ...


@dataclass(frozen=True, eq=False)
class ForestItems:
    """The nodes of a forest in which finer nodes are added: an item is a node.

    Examples
    --------
    >>> import hra
    >>> from hra.residency import ForestItems
    >>> mips = hra.Hierarchy.chains([3], [4, 16, 64], cost_unit="bytes")
    >>> ForestItems(mips).parents
    array([-1,  0,  1], dtype=int32)
    """

    hierarchy: Hierarchy

    @property
    def cost(self) -> np.ndarray:
        """Bytes of each node."""
        return self.hierarchy.node_cost

    @property
    def parents(self) -> np.ndarray:
        """The coarser node of each, -1 for roots.

        Raises
        ------
        HierarchyError : the hierarchy is not a forest of nodes.
        """
        if self.hierarchy.node_parent is None:
            raise HierarchyError("the hierarchy is not a forest of nodes", fix="use PagedItems for graphs")
        return self.hierarchy.node_parent

    def wanted(self, allocation: Allocation) -> tuple[np.ndarray, np.ndarray]:
        """The active nodes and their gains, 0 for roots."""
        added_by = self.hierarchy.added_by[allocation.cut]
        gain = np.zeros(added_by.size)
        gain[added_by >= 0] = allocation.problem.gain[added_by[added_by >= 0]]
        return allocation.cut, gain


@dataclass(frozen=True, eq=False)
class PagedItems:
    """The pages of a `PagedHierarchy`: an item is a page.

    Examples
    --------
    >>> import hra
    >>> from hra.residency import PagedHierarchy, PagedItems
    >>> content = hra.Hierarchy.tree([-1, 0, 0], [1, 1, 1])
    >>> PagedItems(PagedHierarchy.of(content, [0, 1, 1], [64, 64])).parents
    array([-1, -2], dtype=int32)
    """

    paged: PagedHierarchy

    @property
    def hierarchy(self) -> Hierarchy:
        """The hierarchy of pages and content."""
        return self.paged.hierarchy

    @property
    def cost(self) -> np.ndarray:
        """Bytes of each page."""
        return self.hierarchy.node_cost[: self.paged.loads.size]

    @property
    def parents(self) -> np.ndarray:
        """-1 for pages that hold a part of the base, -2 for all others: which pages a page needs depends on the cut."""
        return np.where(self.paged.loads < 0, PINNED, FREE).astype(np.int32)

    def wanted(self, allocation: Allocation) -> tuple[np.ndarray, np.ndarray]:
        """The pages that an allocation holds; each is worth at least as much as what waits for it."""
        pages = np.flatnonzero(self.paged.held(allocation.selected))
        return pages, self.paged.worth(allocation.selected, allocation.problem.gain)[pages]
