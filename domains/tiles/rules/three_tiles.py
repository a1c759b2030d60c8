"""The rule of 3DTilesRendererJS: a cache by last use that refuses loads while it is full.

``LRUCache.js`` and ``traverseFunctions.js`` of 3d-tiles-renderer 0.5.3, https://github.com/NASA-AMMOS/3DTilesRendererJS.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.domains.tiles.planning import check_tileset, held_tiles
from hra.domains.tiles.rules.replay import Update, check_options
from hra.domains.tiles.tileset import Seen, Tileset


@dataclass(frozen=True)
class ThreeTilesRule:
    """What is above the target is refined; what is wanted is fetched while the cache is not full, and refused else.

    Ancestors and siblings of what is drawn are wanted, too. Bytes count from when a tile has arrived, so that what was
    asked for in one update may arrive at a cache that is full by then, and is thrown away. Unused tiles go, least
    recently used first, until a share of the cache is free.

    Attributes
    ----------
    cache : bytes; target : pixels; kept : share of the cache down to which unused tiles are dropped.

    Raises
    ------
    HraError : something else than numbers >= 0, or a share above 1.

    Examples
    --------
    >>> from hra.domains import tiles
    >>> tiles.ThreeTilesRule(cache=430_000_000).target
    16.0
    """

    cache: int
    target: float = 16.0
    kept: float = 0.75

    def __post_init__(self) -> None:
        check_options(self, kept=1)

    def start(self, tileset: Tileset) -> _Viewer:
        """A viewer that holds nothing; HraError : no tileset."""
        check_tileset(tileset)
        return _Viewer(self, tileset)


class _Viewer:
    def __init__(self, rule: ThreeTilesRule, tileset: Tileset) -> None:
        self._rule, self._tileset = rule, tileset
        self._bytes = tileset.content_bytes
        self._held = np.zeros(len(tileset), bool)
        self._used_at = np.full(len(tileset), -1, np.int64)
        self._update = 0

    def update(self, seen: Seen) -> Update:
        """See `Viewer`."""
        tileset, self._update = self._tileset, self._update + 1
        wanted = held_tiles(tileset, (seen.errors > self._rule.target) & tileset.has_children, seen.needed)
        self._used_at[wanted] = self._update
        missing = wanted[~self._held[wanted]]
        most = total = int(self._bytes[self._held].sum())
        # Whether it is full is asked when the update begins: bytes are known only once a tile has arrived.
        if total >= self._rule.cache:
            self._drop(total)
            return Update(self._held.copy(), missing[:0], len(missing), most)
        arrived = missing[np.argsort(-seen.errors[missing], kind="stable")]
        for tile in arrived.tolist():
            if total >= self._rule.cache and self._bytes[tile]:
                continue  # thrown away: fetched for nothing
            total += int(self._bytes[tile])
            self._held[tile] = True
        most = max(most, total)
        self._drop(total)
        return Update(self._held.copy(), arrived, 0, most)

    def _drop(self, total: int) -> None:
        """Unused tiles go until the share that is kept is reached, those below others first."""
        unused = np.flatnonzero(self._held & (self._used_at < self._update))
        least = self._rule.kept * self._rule.cache
        for tile in unused[np.lexsort((-unused, self._used_at[unused]))].tolist():
            if total - self._bytes[tile] < least:
                break
            self._held[tile] = False
            total -= int(self._bytes[tile])
