"""A tileset as a tree of tiles with bytes, errors and bounding volumes.

Bounding volumes are oriented boxes that may be thickened to spheres.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from hra.caching import cached_property
from hra.camera import Camera
from hra.errors import ArrayError, check_kind
from hra.model.arrays import frozen, indices, mask, numbers, read_only
from hra.model.hierarchy import Hierarchy

# The earth (WGS 84): half of its axes in metres, and the share by which a tileset on it may be off its surface (16 km).
EQUATOR, FLATTENING = 6378137.0, 1 / 298.257223563
_EARTH = EQUATOR * np.array([1.0, 1.0, 1 - FLATTENING])
_OFF_SURFACE = 0.0025
# Cosines of axes that are upright on each other, but for the rounding of files with few digits.
_UPRIGHT = 1e-6


@dataclass(frozen=True, eq=False)
class Volumes:
    """N volumes in the frame of the tileset.

    Attributes
    ----------
    center : float64 [N, 3]; axes : float64 [N, 3, 3], half of each edge of the box, one per row.
    radius : float64 [N], how far the volume reaches beyond the box: 0 for boxes, spheres have no axes.
    """

    center: np.ndarray
    axes: np.ndarray
    radius: np.ndarray

    def distances(self, eye: np.ndarray) -> np.ndarray:
        """How far each volume is from the point ``eye`` [3], float64 [N]; 0 within."""
        offset = eye - self.center
        length = np.linalg.norm(self.axes, axis=2)
        unit = self.axes / np.where(length > 0, length, 1.0)[..., None]
        along = np.einsum("nij,nj->ni", unit, offset)
        # What the axes do not span, as of a sphere without any, is outside as it is.
        nearest = np.einsum("ni,nij->nj", np.clip(along, -length, length), unit)
        away = np.linalg.norm(offset - nearest, axis=1)
        # A transform that stretches a turned box leaves axes that are not upright on each other.
        leaning = np.abs(unit @ unit.swapaxes(1, 2) - np.eye(3) * (length > 0)[:, None]).max(axis=(1, 2)) > _UPRIGHT
        away[leaning] = _distances_to_leaning(self.axes[leaning], offset[leaning])
        return np.maximum(away - self.radius, 0.0)

    def in_view(self, camera: Camera) -> np.ndarray:
        """Which volumes are not beyond one side of the view, bool [N]."""
        planes = view_planes(camera)
        normal, offset = planes[:, :3], planes[:, 3]
        reach = np.abs(np.einsum("nij,pj->npi", self.axes, normal)).sum(axis=2)
        reach += self.radius[:, None] * np.linalg.norm(normal, axis=1)
        return (self.center @ normal.T + offset + reach >= 0).all(axis=1)


def _distances_to_leaning(axes: np.ndarray, offset: np.ndarray) -> np.ndarray:
    """How far each ``offset`` [N, 3] is from a parallelepiped around 0, half of whose edges are ``axes`` [N, 3, 3].

    The nearest point lies on a face, edge or corner, or within, and there is the nearest one of its plane, line, point
    or space. So each of these is tried.
    """
    best = np.full(len(axes), np.inf)
    for ends in product((-1.0, 0.0, 1.0), repeat=3):
        at = np.tile(ends, (len(axes), 1))
        free = np.flatnonzero(np.equal(ends, 0))
        beside = offset - np.einsum("ni,nij->nj", at, axes)
        # Where axes lie in one plane, the points that are equally near reach the border, which is tried, too.
        at[:, free] = np.einsum("nji,nj->ni", np.linalg.pinv(axes[:, free]), beside)
        away = np.linalg.norm(offset - np.einsum("ni,nij->nj", at, axes), axis=1)
        best = np.where(np.abs(at).max(axis=1) <= 1, np.minimum(best, away), best)
    return best


def view_planes(camera: Camera) -> np.ndarray:
    """The sides of the view and the plane through the eye, float64 [5, 4]: inside, all products are >= 0."""
    matrix = np.asarray(camera.projection, np.float64) @ np.asarray(camera.view, np.float64)
    return np.stack(
        [matrix[3] + matrix[0], matrix[3] - matrix[0], matrix[3] + matrix[1], matrix[3] - matrix[1], matrix[3]]
    )


@dataclass(frozen=True, eq=False)
class Seen:
    """A tileset from a camera.

    Attributes
    ----------
    errors : float64 [N], pixels, what decides whether each tile is refined.
    needed : bool [N], tiles that are loaded with their siblings: all but those out of view below an additive one.
    """

    errors: np.ndarray
    needed: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class Tileset:
    """N tiles, parents before their children.

    Attributes
    ----------
    parent : int64 [N], -1 for the root.
    error : float64 [N], geometric error in units of the tileset's frame.
    content_bytes : int64 [N], of the files of each tile's contents; 0 for tiles without.
    names : of these files, relative to the tileset, "" for tiles without; of embedded ones what their uri begins with.
    additive : bool [N], tiles that stay when their children are drawn ("ADD"); others give way to them ("REPLACE").
    volumes : bounding volumes.
    source : of messages.

    Raises
    ------
    ArrayError : no tile, arrays of other lengths or kinds, a tile that does not come after its parent, errors or bytes
        below 0 or not finite. HraError : other names or volumes.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes, tiles
    >>> files = meshes.build_tiles(hra.samples.path("skull.ply"), 4096).save("tiles")
    >>> tileset = tiles.read_tileset("tiles/tileset.json")
    >>> len(tileset), int(tileset.content_bytes.sum()) == sum(file.stat().st_size for file in files[1:])
    (23, True)
    """

    parent: np.ndarray
    error: np.ndarray
    content_bytes: np.ndarray
    names: tuple[str, ...]
    additive: np.ndarray
    volumes: Volumes
    source: str = ""

    def __post_init__(self) -> None:
        count = len(indices("parent", self.parent, -1, 2**31 - 1))
        if not count:
            raise ArrayError("a tileset has at least its root", where="parent")
        if (early := np.flatnonzero(self.parent >= np.arange(count))).size:
            what = f"tile {early[0]} does not come after its parent"
            raise ArrayError(what, where=f"parent[{early[0]}]", fix="number parents before their children")
        if (numbers("error", self.error, count) < 0).any():
            raise ArrayError("errors are distances and so >= 0", where="error")
        indices("content_bytes", self.content_bytes, 0, 2**62, count)
        mask("additive", self.additive, count)
        for name in ("parent", "error", "content_bytes", "additive"):
            object.__setattr__(self, name, read_only(np.asarray(getattr(self, name))))
        check_kind("names", self.names, tuple, "pass a text for each tile")
        check_kind("volumes", self.volumes, Volumes, "pass the bounding volumes of all tiles")
        if (len(self.names), len(self.volumes.center)) != (count, count):
            what = f"{count} tiles have {len(self.names)} names and {len(self.volumes.center)} volumes"
            raise ArrayError(what, where="names and volumes")

    def __len__(self) -> int:
        return len(self.parent)

    def __repr__(self) -> str:
        return f"Tileset({len(self)} tiles, {int(self.content_bytes.sum()):,} bytes)"

    @cached_property
    def bounds(self) -> np.ndarray:
        """A box around the root's volume, float64 [2, 3]."""
        reach = np.abs(self.volumes.axes[0]).sum(axis=0) + self.volumes.radius[0]
        return np.stack([self.volumes.center[0] - reach, self.volumes.center[0] + reach])

    @cached_property
    def up(self) -> np.ndarray:
        """The vertical, float64 [3]: away from the earth where the middle of the tileset is on its surface, else z."""
        middle = self.bounds.mean(axis=0)
        if abs(float(np.linalg.norm(middle / _EARTH)) - 1) > _OFF_SURFACE:
            return np.array([0.0, 0.0, 1.0])
        away = middle / _EARTH**2
        return away / np.linalg.norm(away)

    @cached_property
    def has_children(self) -> np.ndarray:
        """Whether there are finer tiles below each, bool [N]."""
        inner = np.zeros(len(self), np.bool_)
        inner[self.parent[self.parent >= 0]] = True
        return frozen(inner)

    def hierarchy(self, needed: np.ndarray) -> Hierarchy:
        """The tiles for the core: a refinement loads the children of a tile, which itself stays in the cache.

        A tile's cost stays with its first child once it is refined, so that the cost of a cut is the sum of the bytes
        of all tiles above it and on it: to the byte, as sums of whole numbers. Tiles that are not ``needed`` are free.

        Parameters
        ----------
        needed : bool [N], see `Seen`.

        Raises
        ------
        ArrayError : another array.
        """
        held = np.where(mask("needed", needed, len(self)), self.content_bytes, 0).astype(np.int64)
        taken = np.zeros(len(self), np.bool_)
        for tile, above in enumerate(self.parent.tolist()):
            if above >= 0 and not taken[above]:
                held[tile] += held[above]
                taken[above] = True
        return Hierarchy.tree(self.parent, held, cost_unit="bytes")

    def seen(self, camera: Camera) -> Seen:
        """What a camera sees: errors, and which tiles viewers load once those above them are refined.

        Raises
        ------
        HraError : no camera.
        """
        check_kind("camera", camera, Camera, "pass one such as hra.Camera.orbit(tileset.bounds)")
        in_view = self.volumes.in_view(camera)
        optional = (self.parent >= 0) & self.additive[self.parent]
        return Seen(self._screen_errors(camera, in_view), in_view | ~optional)

    def _screen_errors(self, camera: Camera, in_view: np.ndarray) -> np.ndarray:
        """The error that decides whether each tile is refined, float64 [N], pixels.

        A viewer's: geometric error over the distance from the volume, times the pixels that a unit has at a distance
        of one. Tiles out of view have none; a tile is no worse than those above it, because viewers come to it only
        through these; and where a tile's geometric error is no smaller than that of the nearest tile above it of which
        this is not so, it counts as that one.
        """
        scale = float(camera.projection[1, 1]) * camera.viewport[1] / 2
        distance = np.ones(len(self))
        if camera.projection[3, 3] == 0:
            distance = np.maximum(self.volumes.distances(np.asarray(camera.position, np.float64)), 1e-7)
        raw, least = np.where(in_view, self.error * scale / distance, 0.0), self.error.copy()
        for tile, above in enumerate(self.parent.tolist()):
            if above >= 0:
                finer = least[tile] < least[above]
                least[tile] = min(least[tile], least[above])
                raw[tile] = 0.0 if raw[tile] == 0 else min(raw[above], raw[tile]) if finer else raw[above]
        return raw
