"""Tiles of image files, decoded on demand by OpenImageIO and kept within a limit of memory (extra ``textures``)."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from hra.errors import HraError, ImageError, needs
from hra.files.images.opening import as_image_error
from hra.model.arrays import is_number

# Files that are stored in scan lines are cached in tiles of this many texels along one side.
TILE = 128
_LEAST_BYTES = 10 * 2**20


class TileCache:
    """Recently used tiles of any number of image files.

    Source: the ImageCache of OpenImageIO; a few tiles more than fit may be in memory for a while.

    Parameters
    ----------
    max_bytes : memory of the decoded tiles.

    Raises
    ------
    MissingExtra : OpenImageIO is not installed.
    HraError : a limit below 10 MiB.

    Examples
    --------
    >>> import hra
    >>> from hra.domains.textures import TileCache, open_image
    >>> cache = TileCache(2**25)
    >>> names = ("photo.jpg", "earth.jpg")
    >>> photo, earth = (open_image(hra.samples.path(name), cache=cache) for name in names)
    >>> photo.mips[0][:2, :2].shape, cache.tiles_read > 0
    ((2, 2, 3), True)
    """

    def __init__(self, max_bytes: int = 2**28) -> None:
        if not (is_number(max_bytes) and max_bytes >= _LEAST_BYTES):  # OpenImageIO would use more than it was told
            what = f"a cache of {max_bytes!r} bytes is too small"
            raise HraError(what, where="max_bytes", fix=f"use {_LEAST_BYTES} or more")
        self._max_bytes = max_bytes
        self._cache = openimageio().ImageCache(False)
        settings = {"max_memory_MB": max_bytes / 2**20, "autotile": TILE, "forcefloat": 0, "unassociatedalpha": 1}
        for name, value in settings.items():
            self._cache.attribute(name, value)

    def __reduce__(self) -> tuple[type[TileCache], tuple[int]]:
        # Another process fills a cache of its own.
        return TileCache, (self._max_bytes,)

    @property
    def bytes(self) -> int:
        """Memory that the decoded tiles take now."""
        return int(self._cache.getattribute("stat:cache_memory_used", "int64"))

    @property
    def tiles_read(self) -> int:
        """Tiles decoded so far; one that was decoded twice counts twice."""
        return int(self._cache.getattribute("stat:tiles_created"))

    def read(
        self, path: str, level: int, rows: tuple[int, int], columns: tuple[int, int], dtype: np.dtype
    ) -> np.ndarray:
        """Texels [h, w, C] of a rectangle of a level of a file, each axis from its first to past its last texel.

        Raises
        ------
        ImageError : the file has become unreadable, or is corrupt there.
        """
        kind = openimageio().UINT8 if dtype == np.uint8 else openimageio().FLOAT
        with as_image_error(path):
            texels = self._cache.get_pixels(path, 0, level, *columns, *rows, 0, 1, kind)
            reason = "" if texels is not None else " ".join(self._cache.geterror().split())
        if texels is None:
            where = f"{path}, level {level}, rows {rows[0]} .. {rows[1]}, columns {columns[0]} .. {columns[1]}"
            raise ImageError(f"texels cannot be read: {reason}", where=where, fix="check that the file is complete")
        return texels


def openimageio() -> ModuleType:
    """The package OpenImageIO; :class:`MissingExtra` if it is not installed."""
    with needs("OpenImageIO", "textures"):
        import OpenImageIO
    return OpenImageIO
