"""Demands of a camera over a flat ground with one huge texture: tiles whose mip level follows the distance."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hra.errors import ArrayError
from hra.model.arrays import POSITIVE, number_in, offsets_of, whole_in
from hra.residency.replay.trace import Trace

# A key packs the level and both tile coordinates; coordinates stay below 2**22.
_BITS = 22
# A tile of the last covers all that those coordinates can tell.
_MOST_LEVELS = _BITS + 1


@dataclass(frozen=True)
class GroundTexture:
    """A ground texture and the fan in front of the camera in which its tiles are looked up.

    Parameters
    ----------
    texels_per_metre : density of mip level 0.
    tile : texels along one side of a tile, at every level.
    tile_bytes : memory of one tile; by default 4 bytes per texel.
    levels : mip levels; the tiles of the coarsest are always resident.
    focal_pixels : focal length; at distance d a pixel covers d / focal_pixels metres.
    near, far : metres of ground that are seen.
    half_width : of the fan, as a share of the distance.
    distances, directions : samples of the fan.

    Raises
    ------
    HraError : a count that is no whole number of 1 or more, a length or density that is not above 0, or a far end that
        is not beyond the near one.
    """

    texels_per_metre: float = 64.0
    tile: int = 128
    tile_bytes: int = 65_536
    levels: int = 10
    focal_pixels: float = 700.0
    near: float = 3.0
    far: float = 180.0
    half_width: float = 0.75
    distances: int = 70
    directions: int = 61

    def __post_init__(self) -> None:
        for name in ("tile", "tile_bytes", "distances", "directions"):
            whole_in(name, getattr(self, name), POSITIVE)
        whole_in("levels", self.levels, range(1, _MOST_LEVELS + 1))
        for name in ("texels_per_metre", "focal_pixels", "near", "half_width"):
            number_in(name, getattr(self, name), 0, math.inf, ends=False)
        number_in("far", self.far, self.near, math.inf, ends=False)

    def trace(self, position: np.ndarray, heading: np.ndarray) -> Trace:
        """The tiles that a camera wants in each frame.

        Parameters
        ----------
        position : float [F, 2], metres on the ground.
        heading : float [F, 2], direction of view on the ground, of any length but 0.

        Returns
        -------
        a trace over the tiles that are wanted and their ancestors, coarse first; a tile's weight is the number of
        samples that want it.

        Raises
        ------
        ArrayError : arrays of other shapes, a heading of length 0, or a path of more than 2**22 tiles across.
        """
        position, heading = _check(position, heading)
        origin = position.min(axis=0, initial=np.inf) - self.far * 1.5
        wanted = [self._tiles(p - origin, h) for p, h in zip(position, heading, strict=True)]
        keys = np.concatenate([frame for frame, _ in wanted]) if wanted else np.empty(0, np.int64)
        tiles, parents = _with_ancestors(np.unique(keys), self.levels)
        # Coarse tiles come first; `tiles` ascends in the key, so a look-up is a binary search in the reverse.
        demands = tiles.size - 1 - np.searchsorted(tiles, keys)
        weights = np.concatenate([count for _, count in wanted]) if wanted else np.empty(0)
        offsets = offsets_of(np.array([frame.size for frame, _ in wanted], np.int64))
        return Trace(offsets, demands.astype(np.int32), np.full(tiles.size, self.tile_bytes), weights, parents)

    def _tiles(self, position: np.ndarray, heading: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Keys of the tiles that one frame wants, ascending, and how many samples want each."""
        distance = np.geomspace(self.near, self.far, self.distances)
        across = np.linspace(-self.half_width, self.half_width, self.directions)
        side = np.array([-heading[1], heading[0]])
        points = position + distance[:, None, None] * (heading + across[:, None] * side)
        texels = np.maximum(distance / self.focal_pixels * self.texels_per_metre, 1.0)
        level = np.minimum(np.log2(texels).astype(np.int64), self.levels - 1)
        size = (self.tile / self.texels_per_metre) * 2.0**level
        tile = np.floor(points / size[:, None, None]).astype(np.int64)
        if tile.size and (tile.min() < 0 or tile.max() >= 1 << _BITS):
            raise ArrayError("the path leaves the largest ground", where="position", fix=f"stay below 2**{_BITS} tiles")
        return np.unique(_key(level[:, None], tile[..., 0], tile[..., 1]), return_counts=True)


def _key(level: np.ndarray, column: np.ndarray, row: np.ndarray) -> np.ndarray:
    return (level << 2 * _BITS) | (column << _BITS) | row


def _parent_keys(keys: np.ndarray) -> np.ndarray:
    mask = (1 << _BITS) - 1
    return _key((keys >> 2 * _BITS) + 1, ((keys >> _BITS) & mask) >> 1, (keys & mask) >> 1)


def _with_ancestors(keys: np.ndarray, levels: int) -> tuple[np.ndarray, np.ndarray]:
    """Keys [N] ascending, with all coarser tiles, and parents [N] int32 in the reverse order, coarse first."""
    found, current = [keys], keys
    for level in range(levels - 1):
        current = np.unique(_parent_keys(current[current >> 2 * _BITS == level]))
        found.append(current)
        current = np.union1d(current, keys[keys >> 2 * _BITS == level + 1])
    tiles = np.unique(np.concatenate(found))
    parents = np.searchsorted(tiles, _parent_keys(tiles))
    at_top = tiles >> 2 * _BITS == levels - 1
    return tiles, np.where(at_top, -1, tiles.size - 1 - parents)[::-1].astype(np.int32)


def _check(position: np.ndarray, heading: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    position, heading = np.asarray(position, np.float64), np.asarray(heading, np.float64)
    if position.ndim != 2 or position.shape[1] != 2 or heading.shape != position.shape:
        raise ArrayError(f"expected two arrays [F, 2], got {position.shape} and {heading.shape}", where="position")
    length = np.linalg.norm(heading, axis=1, keepdims=True)
    if not (np.isfinite(position).all() and np.isfinite(length).all() and (length > 0).all()):
        raise ArrayError("positions and headings must be finite, headings not zero", where="position, heading")
    return position, heading / length
