"""Which pages of a mesh asset are held within a pool of bytes, and which clusters they let a view draw."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from hra.allocating.allocation import Allocation
from hra.allocating.allocator import HierarchicalResourceAllocator
from hra.domains.meshes.allocator import MeshAllocator
from hra.domains.meshes.asset.mesh_asset import MeshAsset
from hra.domains.meshes.triangle_mesh import TriangleMesh
from hra.errors import HierarchyError
from hra.model.hierarchy import Hierarchy
from hra.model.kinds import require_kind
from hra.model.metrics import ErrorMetric
from hra.model.problem import Problem
from hra.residency.paged import PagedHierarchy
from hra.traversals.base import Traversal
from hra.traversals.exact import Exact

# Pages are few and large, so that which of them fit decides as much as which are worth most.
_STATES = 2**16


class PageAllocator(HierarchicalResourceAllocator):
    """Chooses the pages of a mesh asset that are held for a view; a budget is the bytes of their slots.

    A page costs a whole slot, whatever it holds, and gains nothing; a refinement costs nothing and needs its pages. So
    the budget is the memory that is held, and the gap counts from the best choice of pages.

    Parameters
    ----------
    asset : from `open_asset`.
    metric : context to error of each cluster; `ScreenError` by default.
    traversal : `Exact` by default, which proves most choices of a few dozen pages and gives up on larger ones after
        some milliseconds; `hra.Coherent` to keep pages unless others are clearly better.

    Raises
    ------
    HraError : another kind of asset, metric or traversal.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> meshes.build(hra.samples.path("skull.ply")).save("skull.hra")
    >>> allocator = meshes.PageAllocator(meshes.open_asset("skull.hra"))
    >>> camera = hra.Camera.orbit(allocator.asset.bounds, azimuth=30, up=(0, 0, 1))
    >>> allocation = allocator.allocate(camera, budget=2**19)
    >>> len(allocator.pages(allocation)) * allocator.asset.slot_bytes <= 2**19
    True
    """

    def __init__(self, asset: MeshAsset, metric: ErrorMetric | None = None, traversal: Traversal | None = None) -> None:
        require_kind("asset", asset, MeshAsset, "pass meshes.open_asset('mesh.hra')")
        slots = np.full(len(asset.page_bytes), asset.slot_bytes)
        self.asset, self.paged = asset, PagedHierarchy.of(asset.hierarchy, asset.page_of, slots)
        self._clusters = MeshAllocator(asset, metric, Exact(max_states=_STATES) if traversal is None else traversal)
        super().__init__(self.paged.hierarchy, self._clusters.metric, self._clusters.traversal)

    @cached_property
    def least_bytes(self) -> int:
        """Slots of the pages that hold the coarsest level: the smallest pool."""
        return int(self.paged.hierarchy.base_cost)

    def problem_for(self, hierarchy: Hierarchy, context: Any, budget: float) -> Problem:
        """Evaluate the metric on the clusters, and join what they gain with the pages that they need."""
        return self.paged.problem(Problem.of(self.asset.hierarchy, self.error_metric(context), context, budget), budget)

    def pages(self, allocation: Allocation) -> np.ndarray:
        """The pages that an allocation holds, int64 [n], ascending."""
        return np.flatnonzero(self.paged.held(self._own(allocation).selected))

    def drawn(self, allocation: Allocation, resident: np.ndarray) -> np.ndarray:
        """The clusters to draw from what is there, int64 [K]: detail that was chosen or gains in the allocation's view.

        Parameters
        ----------
        resident : bool [P], pages that are there, among them all that hold the base.
        """
        return np.flatnonzero(self.asset.hierarchy.active_nodes(self._shown(allocation, resident)))

    def residual(self, allocation: Allocation, resident: np.ndarray) -> float:
        """The error that remains in the allocation's view with ``resident`` pages [P], in the metric's unit."""
        gain = self._own(allocation).problem.gain[self.paged.refinements]
        missing = gain[~self._shown(allocation, resident)]
        return float(allocation.problem.least_error + missing.sum())

    def realize(self, allocation: Allocation) -> TriangleMesh:
        """The triangles that the pages of the allocation let its view draw.

        Raises
        ------
        HierarchyError : the allocation is of another asset.
        FileError : a page is damaged.
        """
        held = self.paged.held(self._own(allocation).selected)
        return self.asset.mesh(self.drawn(allocation, held))

    def _shown(self, allocation: Allocation, resident: np.ndarray) -> np.ndarray:
        """The refinements to draw, bool [R]."""
        places = self.paged.refinements
        # Thresholds also choose what gains nothing: the bound of a group may exceed that of its members where the mean
        # error, which budgets minimise, does not.
        wanted = np.maximum(self._own(allocation).problem.gain[places], allocation.selected[places])
        return self.paged.shown(wanted, resident)

    def _own(self, allocation: Allocation) -> Allocation:
        if not allocation.hierarchy.same_as(self.paged.hierarchy):
            raise HierarchyError("the allocation is of another asset", fix="use it where it was allocated")
        return allocation
