"""The tiles of the textures that a feedback buffer counts, numbered."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.caching import cached_property
from hra.errors import ArrayError
from hra.kernels.raster.checks import index_rows

_MAX_SIDE = 2**24  # whole numbers that float32 holds


@dataclass(frozen=True, eq=False)
class TextureTable:
    """Sizes of textures whose mip levels are cut into square tiles, down to the first level that fits into one tile.

    Tile (level, y, x) covers the tiles (level - 1, 2y .. 2y + 1, 2x .. 2x + 1), as in sparse textures. All levels that
    fit into one tile count as one, the mip tail.

    Parameters
    ----------
    sizes : whole numbers [N, 2], width and height of level 0 in texels.
    tile : texels along one side of a tile.

    Raises
    ------
    ArrayError : another shape, a size that is not in 1 .. 2**24, or a tile below one texel.
    """

    sizes: np.ndarray
    tile: int = 128

    def __post_init__(self) -> None:
        sizes = index_rows("sizes", self.sizes, 2, _MAX_SIDE + 1).astype(np.int64)
        if sizes.size and sizes.min() < 1:
            raise ArrayError("a texture has no texels", where=f"sizes[{int(np.argmin(sizes) // 2)}]")
        if not 1 <= self.tile <= _MAX_SIDE:
            raise ArrayError(f"a tile of {self.tile} texels is not positive", where="argument tile", fix="128 is usual")
        object.__setattr__(self, "sizes", sizes)

    def __len__(self) -> int:
        return len(self.sizes)

    @cached_property
    def tail(self) -> np.ndarray:
        """int64 [N], the first level that fits into one tile."""
        tiles = -(-self.sizes.max(axis=1, initial=1) // self.tile)
        return np.ceil(np.log2(tiles)).astype(np.int64)

    @cached_property
    def first_level(self) -> np.ndarray:
        """int64 [N + 1], the row in `grids` of level 0 of each texture."""
        return np.concatenate([[0], np.cumsum(self.tail + 1)])

    @cached_property
    def level(self) -> np.ndarray:
        """int64 [L], the level of each row of `grids`."""
        return np.arange(self.first_level[-1]) - np.repeat(self.first_level[:-1], self.tail + 1)

    @cached_property
    def grids(self) -> np.ndarray:
        """int64 [L, 2], columns and rows of tiles of each level of each texture."""
        finest = -(-np.repeat(self.sizes, self.tail + 1, axis=0) // self.tile)
        return -(-finest // (1 << self.level)[:, None])

    @cached_property
    def first_tile(self) -> np.ndarray:
        """int64 [L + 1], the number of the first tile of each level."""
        return np.concatenate([[0], np.cumsum(self.grids.prod(axis=1))])
