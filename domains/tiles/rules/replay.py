"""A viewer along a path of cameras: what it loads, loads again and refuses, and how fine what it draws is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol

import numpy as np

from hra.camera import Camera
from hra.domains.tiles.planning import check_tileset
from hra.domains.tiles.tileset import Seen, Tileset
from hra.errors import HraError, check_kind, wrong_kind
from hra.model.arrays import POSITIVE, is_number, whole_in


class Rule(Protocol):
    """A viewer's rule; `start` gives what it remembers."""

    def start(self, tileset: Tileset) -> Viewer:
        """A viewer that holds nothing."""
        ...


class Viewer(Protocol):
    """A viewer in the middle of a path."""

    def update(self, seen: Seen) -> Update:
        """One update from a camera; what was asked for arrives before the next one."""
        ...


@dataclass(frozen=True, eq=False)
class Update:
    """What one update did.

    Attributes
    ----------
    held : bool [N], tiles in the cache; loaded : int64 [K], tiles that were fetched.
    refused : tiles that were wanted and not fetched, because the cache was full.
    most_bytes : what was held at the fullest moment.
    """

    held: np.ndarray
    loaded: np.ndarray
    refused: int
    most_bytes: int


@dataclass(frozen=True, eq=False)
class Replay:
    """What a rule did along a path.

    Attributes
    ----------
    error : float64 [F], the largest screen error of what each frame draws and could refine, at its end.
    held_bytes : int64 [F], then; most_bytes : at the fullest moment of all.
    loads : fetches; reloads : those of tiles that were fetched before (thrash).
    refusals : how often a tile was wanted and the cache was full.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes, tiles
    >>> files = meshes.build_tiles(hra.samples.path("skull.ply"), 4096).save("tiles")
    >>> tileset = tiles.read_tileset("tiles/tileset.json")
    >>> camera = hra.Camera.orbit(tileset.bounds, up=(0, 0, 1))
    >>> tiles.replay(tileset, [camera], tiles.ThreeTilesRule(cache=10**9), updates=8).reloads
    0
    """

    error: np.ndarray
    held_bytes: np.ndarray
    most_bytes: int
    loads: int
    reloads: int
    refusals: int


def replay(tileset: Tileset, cameras: Sequence[Camera], rule: Rule, updates: int = 10) -> Replay:
    """Run a viewer's rule along ``cameras``, with ``updates`` of it for each.

    Raises
    ------
    HraError : no updates, no tileset, or something else in the place of the cameras or the rule.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes, tiles
    >>> files = meshes.build_tiles(hra.samples.path("skull.ply"), 4096).save("tiles")
    >>> tileset = tiles.read_tileset("tiles/tileset.json")
    >>> camera = hra.Camera.orbit(tileset.bounds, up=(0, 0, 1))
    >>> tiles.replay(tileset, [camera], tiles.CesiumRule(cache=200_000)).most_bytes > 0
    True
    """
    check_tileset(tileset)
    check_kind("cameras", cameras, Sequence, "pass a list of cameras")
    if isinstance(rule, type) or not callable(getattr(rule, "start", None)):
        raise wrong_kind("rule", rule, Rule, "pass CesiumRule(cache) or ThreeTilesRule(cache)")
    updates = whole_in("updates", updates, POSITIVE)
    viewer, times = rule.start(tileset), np.zeros(len(tileset), np.int64)
    error, held_bytes, refusals, most = [], [], 0, 0
    for camera in cameras:
        seen = tileset.seen(camera)
        update = None
        for _ in range(updates):
            update = viewer.update(seen)
            times[update.loaded] += 1
            refusals, most = refusals + update.refused, max(most, update.most_bytes)
        if update is not None:
            error.append(drawn_error(tileset, seen, update.held))
            held_bytes.append(int(tileset.content_bytes[update.held].sum()))
    loads, reloads = int(times.sum()), int(np.maximum(times - 1, 0).sum())
    return Replay(np.array(error), np.array(held_bytes), most, loads, reloads, refusals)


def check_options(rule: Any, **most: float) -> None:
    """Raise HraError unless all options of a rule are numbers from 0 to what each is at ``most``, inf unless given."""
    for name in (field.name for field in fields(rule)):
        value, high = getattr(rule, name), most.get(name, np.inf)
        if not (is_number(value) and 0 <= value <= high):
            choice = "a number >= 0" if high == np.inf else f"a number from 0 to {high:g}"
            raise HraError(f"{name} must be {choice}, got {value!r}", where=name, fix=f"pass {choice}")


def drawn_error(tileset: Tileset, seen: Seen, held: np.ndarray) -> float:
    """The largest screen error of what is drawn and has children; tiles are refined once all needed ones are held."""
    missing = np.zeros(len(tileset), np.bool_)
    absent = np.flatnonzero(~held & seen.needed & (tileset.parent >= 0))
    missing[tileset.parent[absent]] = True
    refined = tileset.has_children & ~missing & held
    for tile, above in enumerate(tileset.parent.tolist()):
        if above >= 0:
            refined[tile] &= refined[above]
    front = ~refined & tileset.has_children & ((tileset.parent < 0) | refined[tileset.parent])
    return float(np.where(front, seen.errors, 0.0).max(initial=0.0))
