"""The rule of CesiumJS: an error target that grows by 2 % at a time while tiles do not fit.

``Cesium3DTileset.js`` of cesium 1.140, https://github.com/CesiumGS/cesium: `cacheBytes`, `maximumCacheOverflowBytes`,
`memoryAdjustedScreenSpaceError`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.domains.tiles.planning import check_tileset, held_tiles
from hra.domains.tiles.rules.replay import Update, check_options
from hra.domains.tiles.tileset import Seen, Tileset

_STEP = 1.02


@dataclass(frozen=True)
class CesiumRule:
    """Tiles that arrive are taken up until the limit is exceeded; what is left raises the target.

    Below the cache's bytes the target falls again, down to what was asked for. Tiles that are not used go, least
    recently used first, as long as more than the cache is held. Children out of view are loaded below each tile that
    they replace; CesiumJS leaves them out below those without content.

    Attributes
    ----------
    cache : bytes that unused tiles may fill; overflow : bytes beyond it that used tiles may take.
    target : pixels.

    Raises
    ------
    HraError : something else than numbers >= 0.

    Examples
    --------
    >>> from hra.domains import tiles
    >>> tiles.CesiumRule(cache=512 * 2**20).target
    16.0
    """

    cache: int
    overflow: int = 0
    target: float = 16.0

    def __post_init__(self) -> None:
        check_options(self)

    def start(self, tileset: Tileset) -> _Viewer:
        """A viewer that holds nothing; HraError : no tileset."""
        check_tileset(tileset)
        return _Viewer(self, tileset)


class _Viewer:
    def __init__(self, rule: CesiumRule, tileset: Tileset) -> None:
        self._rule, self._tileset = rule, tileset
        self._bytes = tileset.content_bytes
        self._held = np.zeros(len(tileset), bool)
        self._used_at = np.full(len(tileset), -1, np.int64)
        self._update, self._target = 0, rule.target

    def update(self, seen: Seen) -> Update:
        """See `Viewer`."""
        tileset, rule, self._update = self._tileset, self._rule, self._update + 1
        wanted = held_tiles(tileset, (seen.errors > self._target) & tileset.has_children, seen.needed)
        self._used_at[wanted] = self._update
        missing = wanted[~self._held[wanted]]
        queue = missing[np.argsort(-seen.errors[missing], kind="stable")].tolist()
        total, loaded = int(self._bytes[self._held].sum()), []
        while queue and total <= float(rule.cache) + rule.overflow:
            tile = queue.pop(0)
            loaded.append(tile)
            self._held[tile] = True
            total += int(self._bytes[tile])
        most = total
        if total < rule.cache:
            self._target = max(self._target / _STEP, rule.target)
        elif queue:
            self._target *= _STEP
        self._drop(total)
        return Update(self._held.copy(), np.array(loaded, np.int64), len(queue), most)

    def _drop(self, total: int) -> None:
        """Unused tiles go while more than the cache is held."""
        unused = np.flatnonzero(self._held & (self._used_at < self._update))
        for tile in unused[np.lexsort((-unused, self._used_at[unused]))].tolist():
            if total <= self._rule.cache:
                break
            self._held[tile] = False
            total -= int(self._bytes[tile])
