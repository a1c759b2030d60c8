"""Which tiles to hold within a cache: the smallest error target whose tiles fit, and why no smaller one does."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hra.allocating.allocation import Allocation
from hra.allocating.allocator import HierarchicalResourceAllocator
from hra.camera import Camera
from hra.domains.tiles.tileset import Tileset
from hra.errors import check_kind
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric
from hra.traversals.threshold import Threshold


@dataclass(frozen=True)
class _ScreenErrors(ErrorMetric):
    """Screen errors [N], which are the context, as they are: only the largest of them counts.

    Sums are of no use here, but have to fall: the children of a tile share its weight.
    """

    weight: np.ndarray
    unit = "px"
    additive = False

    def evaluate(self, hierarchy: Hierarchy, context: np.ndarray) -> np.ndarray:
        """Weighted errors [N]."""
        return context * self.weight

    def peak(self, hierarchy: Hierarchy, context: np.ndarray) -> np.ndarray:
        """The errors [N], pixels."""
        return context


class _TileAllocator(HierarchicalResourceAllocator):
    def realize(self, allocation: Allocation) -> np.ndarray:
        """The tiles that are drawn, numbers [L]."""
        return allocation.cut


@dataclass(frozen=True, eq=False)
class TilePlan:
    """What a viewer holds at the smallest error target that the cache allows.

    Attributes
    ----------
    target : the smallest error target in pixels that fits: what is above it is refined.
    setting : what to set viewers to. They refine the same tiles for every target from this one to the smallest error
        that is refined; in the middle their rounding does not matter.
    held : int64 [K], numbers of the tiles in the cache: all that are refined and their children.
    drawn : int64 [L], those of them that are drawn.
    held_bytes : of their contents; cache : the bytes that were allowed.
    finer_bytes : what every smaller target needs at least, more than the cache; inf where nothing is left to refine.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes, tiles
    >>> files = meshes.build_tiles(hra.samples.path("skull.ply"), 4096).save("tiles")
    >>> tileset = tiles.read_tileset("tiles/tileset.json")
    >>> camera = hra.Camera.orbit(tileset.bounds, up=(0, 0, 1))
    >>> plan = tiles.plan(tileset, camera, 200_000)
    >>> plan.held_bytes <= 200_000 < plan.finer_bytes
    True
    """

    target: float
    setting: float
    held: np.ndarray
    drawn: np.ndarray
    held_bytes: int
    cache: int
    finer_bytes: float


def plan(tileset: Tileset, camera: Camera, cache: int) -> TilePlan:
    """The smallest error target whose tiles fit into a ``cache`` of bytes.

    `Threshold` of the core finds it among all screen errors. Its certificate is short: the tiles of every smaller
    target include those of all tiles at or above this one, and these take ``finer_bytes``.

    Raises
    ------
    HraError : no tileset, or no camera.
    InvalidBudget : the cache is not a number >= 0.
    BudgetTooSmall : it does not hold the root.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes, tiles
    >>> files = meshes.build_tiles(hra.samples.path("skull.ply"), 4096).save("tiles")
    >>> tileset = tiles.read_tileset("tiles/tileset.json")
    >>> camera = hra.Camera.orbit(tileset.bounds, up=(0, 0, 1))
    >>> tiles.plan(tileset, camera, 10**9).target
    0.0
    """
    check_tileset(tileset)
    seen = tileset.seen(camera)
    errors = seen.errors
    allocator = _TileAllocator(tileset.hierarchy(seen.needed), _ScreenErrors(_weights(tileset)), Threshold())
    found = allocator.allocate(errors, cache)
    inner = np.where(tileset.has_children, errors, 0.0)
    target = float(max(found.tau if found.tau is not None else 0.0, 0.0))
    refined = inner > target
    closer = (inner >= target) & (inner > 0)
    held = held_tiles(tileset, refined, seen.needed)
    finer = (
        int(tileset.content_bytes[held_tiles(tileset, closer, seen.needed)].sum())
        if closer.sum() > refined.sum()
        else math.inf
    )
    drawn = held[~refined[held]]
    return TilePlan(
        target, _between(target, inner[refined]), held, drawn, int(tileset.content_bytes[held].sum()), cache, finer
    )


def check_tileset(tileset: Tileset) -> None:
    """Raise HraError unless it is one: paths are passed for what `read_tileset` makes of them."""
    check_kind("tileset", tileset, Tileset, "pass read_tileset(path)")


def _between(target: float, refined: np.ndarray) -> float:
    """The middle between the target and the least error that is ``refined``; twice the target where none is."""
    least = float(refined.min(initial=np.inf))
    return 2 * target if least == np.inf else (target + least) / 2


def _weights(tileset: Tileset) -> np.ndarray:
    """1 for the root, and for each child its share of what its parent has."""
    children = np.bincount(tileset.parent[tileset.parent >= 0], minlength=len(tileset))
    weight = np.ones(len(tileset))
    for tile, above in enumerate(tileset.parent.tolist()):
        if above >= 0:
            weight[tile] = weight[above] / children[above]
    return weight


def held_tiles(tileset: Tileset, refined: np.ndarray, needed: np.ndarray) -> np.ndarray:
    """The root and the ``needed`` children of all tiles that are ``refined``, numbers [K]; both are bool [N]."""
    return np.flatnonzero((tileset.parent < 0) | (refined[tileset.parent] & needed))
