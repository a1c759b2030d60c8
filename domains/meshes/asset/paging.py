"""Pages over time: what the cuts of a camera path demand of a byte pool, and what can be drawn from what is there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hra.allocating.allocation import Allocation
from hra.domains.meshes.asset.mesh_asset import MeshAsset
from hra.model.arrays import frozen, offsets_of
from hra.model.sets import drop_without_predecessors
from hra.residency import Trace


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
    hierarchy = asset.hierarchy
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
    return np.flatnonzero(asset.hierarchy.active_nodes(drawable_refinements(asset, selected, resident)))


def drawable_refinements(asset: MeshAsset, selected: np.ndarray, resident: np.ndarray) -> np.ndarray:
    """The refinements of the cut that `drawable` finds, bool [R]; parameters as there."""
    hierarchy = asset.hierarchy
    missing = ~resident[asset.page_of] & (hierarchy.added_by >= 0)
    possible = selected.copy()
    possible[hierarchy.added_by[missing]] = False
    drop_without_predecessors(hierarchy.edges, possible)
    return possible
