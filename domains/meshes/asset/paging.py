"""Pages over time: what views demand of a pool of bytes, which pages it holds, and what can be drawn of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from hra.allocating.allocation import Allocation
from hra.allocating.allocator import HierarchicalResourceAllocator
from hra.caching import cached_property
from hra.domains.meshes.allocator import MeshAllocator
from hra.domains.meshes.asset.mesh_asset import MeshAsset
from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh
from hra.errors import HierarchyError, check_kind
from hra.model.arrays import frozen, indices, mask, offsets_of
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric
from hra.model.problem import Problem
from hra.model.sets import drop_without_predecessors
from hra.residency import Trace
from hra.residency.live.paged import PagedHierarchy
from hra.traversals.base import Traversal
from hra.traversals.exact import Exact

# Pages are few and large, so that which of them fit decides as much as which are worth most.
_STATES = 2**16


def _check_asset(asset: MeshAsset) -> None:
    check_kind("asset", asset, MeshAsset, "pass meshes.open_asset('mesh.hra')")


def page_parents(asset: MeshAsset) -> np.ndarray:
    """The coarser page that each page refines, int32 [P], -1 for the pages that hold the base and always stay.

    Groups of clusters do not form a tree, so a page refines several others: this is the one that holds the most of what
    its clusters were simplified to. A parent comes before its pages.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> meshes.build(hra.samples.path("skull.ply")).save("skull.hra")
    >>> parents = meshes.page_parents(meshes.open_asset("skull.hra"))
    >>> int(parents[0]), bool((parents[1:] < range(1, len(parents))).all())
    (-1, True)
    """
    _check_asset(asset)
    hierarchy, page_of = asset.hierarchy, asset.page_of
    members = np.flatnonzero(hierarchy.added_by >= 0)
    offsets, products = hierarchy.removed_nodes
    coarse = page_of[products[offsets[hierarchy.added_by[members]]]]
    fine, count = page_of[members], len(asset.page_bytes)
    pairs, votes = np.unique((fine * count + coarse)[coarse < fine], return_counts=True)
    parents = np.full(count, -1, np.int32)
    # By rising votes: the last to write wins. Coarser pages win ties.
    for pair in pairs[np.lexsort((-pairs, votes))]:
        parents[pair // count] = pair % count
    parents[page_of[hierarchy.added_by < 0]] = -1
    return frozen(parents)


def wanted_pages(asset: MeshAsset, allocation: Allocation, parents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pages that an allocation draws or refines, so that every coarser cut of it can be drawn as well.

    Parameters
    ----------
    parents : of the pages, see `page_parents`.

    Returns
    -------
    pages int64 [n], ascending, with their parents; gains float64 [n]: what the refinements in each page gain.

    Raises
    ------
    HierarchyError : an allocation over other clusters than the asset's. ArrayError : other parents.
    HraError : something else in the place of the asset or the allocation.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> meshes.build(hra.samples.path("skull.ply")).save("skull.hra")
    >>> asset = meshes.open_asset("skull.hra")
    >>> camera = hra.Camera.orbit(asset.bounds, azimuth=30, up=(0, 0, 1))
    >>> allocation = meshes.MeshAllocator(asset).allocate(camera, budget=1_000)
    >>> pages, gains = meshes.wanted_pages(asset, allocation, meshes.page_parents(asset))
    >>> pages.tolist(), len(gains)
    ([0, 1], 2)
    """
    _check_asset(asset)
    hierarchy, parents = asset.hierarchy, indices("parents", parents, -1, len(asset.page_bytes), len(asset.page_bytes))
    check_kind("allocation", allocation, Allocation, "pass what MeshAllocator(asset).allocate(camera, budget) returned")
    # Costs may be others, such as bytes.
    if not np.array_equal(allocation.hierarchy.removed_by, hierarchy.removed_by):
        fix = "allocate by MeshAllocator(asset): budgets of a PageAllocator are of pages"
        raise HierarchyError("the allocation is not over the clusters of the asset", where="allocation", fix=fix)
    members = np.flatnonzero(hierarchy.added_by >= 0)
    members = members[allocation.selected[hierarchy.added_by[members]]]
    share = allocation.problem.gain / np.diff(hierarchy.added_nodes[0])
    gain = np.bincount(asset.page_of[members], share[hierarchy.added_by[members]], len(parents))
    wanted = parents < 0
    wanted[asset.page_of[members]] = True
    for page in range(len(parents) - 1, 0, -1):
        if wanted[page] and parents[page] >= 0:
            wanted[parents[page]] = True
    pages = np.flatnonzero(wanted)
    return pages, gain[pages]


def page_trace(asset: MeshAsset, allocations: Sequence[Allocation]) -> Trace:
    """What a sequence of allocations demands of a pool of slots, for the policies of `hra.residency`.

    Parameters
    ----------
    allocations : one per frame, over the asset's hierarchy.

    Raises
    ------
    HierarchyError : one over other clusters. HraError : something else in the place of an argument.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> from hra.residency import LRU, evaluate
    >>> meshes.build(hra.samples.path("skull.ply")).save("skull.hra")
    >>> asset = meshes.open_asset("skull.hra")
    >>> allocator = meshes.MeshAllocator(asset)
    >>> cameras = [hra.Camera.orbit(asset.bounds, azimuth, up=(0, 0, 1)) for azimuth in (0, 90)]
    >>> trace = meshes.page_trace(asset, [allocator.allocate(camera, budget=20_000) for camera in cameras])
    >>> evaluate(LRU(), trace, pool=2**20).refused
    0
    """
    parents = page_parents(asset)
    check_kind("allocations", allocations, Iterable, "pass a list of allocations")
    frames = [wanted_pages(asset, allocation, parents) for allocation in allocations]
    counts = np.array([len(pages) for pages, _ in frames], np.int64)
    pages = np.concatenate([np.empty(0, np.int64), *(pages for pages, _ in frames)])
    gains = np.concatenate([np.empty(0), *(gains for _, gains in frames)])
    slots = np.full(len(parents), asset.slot_bytes)
    return Trace(offsets_of(counts), pages, slots, gains, parents)


def drawable(asset: MeshAsset, selected: np.ndarray, resident: np.ndarray) -> np.ndarray:
    """The clusters of the finest cut that refines no more than an allocation and needs only pages that are there.

    Parameters
    ----------
    selected : bool [R], the allocation's refinements.
    resident : bool [P], pages that are there, among them all that hold the base.

    Returns
    -------
    int64 [K], numbers of clusters, ascending.

    Raises
    ------
    ArrayError : other arrays. HraError : something else than an asset.

    Examples
    --------
    >>> import numpy as np, hra
    >>> from hra.domains import meshes
    >>> meshes.build(hra.samples.path("skull.ply")).save("skull.hra")
    >>> asset = meshes.open_asset("skull.hra")
    >>> camera = hra.Camera.orbit(asset.bounds, azimuth=30, up=(0, 0, 1))
    >>> allocation = meshes.MeshAllocator(asset).allocate(camera, budget=20_000)
    >>> first_pages = np.arange(len(asset.page_bytes)) < 2
    >>> shown = asset.mesh(meshes.drawable(asset, allocation.selected, first_pages))
    >>> len(shown.triangles) < allocation.cost
    True
    """
    _check_asset(asset)
    return np.flatnonzero(asset.hierarchy.active_nodes(drawable_refinements(asset, selected, resident)))


def drawable_refinements(asset: MeshAsset, selected: np.ndarray, resident: np.ndarray) -> np.ndarray:
    """The refinements of the cut that `drawable` finds, bool [R]; parameters as there."""
    hierarchy = asset.hierarchy
    missing = ~mask("resident", resident, len(asset.page_bytes))[asset.page_of] & (hierarchy.added_by >= 0)
    possible = mask("selected", selected, len(hierarchy)).copy()
    possible[hierarchy.added_by[missing]] = False
    drop_without_predecessors(hierarchy.edges, possible)
    return possible


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
        _check_asset(asset)
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
        check_kind("allocation", allocation, Allocation, "pass what allocate(camera, budget) returned")
        if not allocation.hierarchy.same_as(self.paged.hierarchy):
            raise HierarchyError("the allocation is of another asset", fix="use it where it was allocated")
        return allocation
