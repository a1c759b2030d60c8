"""Valid images that are read by regions, to be damaged at random."""

from __future__ import annotations

import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

_DZI = '<Image TileSize="254" Overlap="1" Format="png"><Size Width="300" Height="200"/></Image>'
_LAYOUTS: tuple[dict[str, Any], ...] = (
    {"tile": (16, 32)},
    {"tile": (16, 16), "compression": "zlib", "predictor": True},
    {"tile": (16, 16), "compression": "jpeg", "bigtiff": True},
    {"rowsperstrip": 7, "byteorder": ">"},
    {"rowsperstrip": 40, "planarconfig": "separate"},
    {"tile": (16, 16), "resolution": (1e4, 1e4), "resolutionunit": 3, "description": "a slide"},
)


def seeds() -> tuple[tuple[bytes, str], ...]:
    """TIFF files in tiles, in strips, plane by plane and with levels, and a Deep Zoom description."""
    descriptions = ((_DZI.encode(), ".dzi"),)
    if find_spec("tifffile") is None:
        return descriptions
    return (*((content, ".tif") for content in _tiffs()), *descriptions)


def read(path: Path) -> Any:
    """All levels of a file: a tile at each corner."""
    from hra.files.images import open_regions

    image = open_regions(path)
    if path.suffix == ".dzi":  # its tiles are files of their own
        return image
    for number, level in enumerate(image.levels):
        rows, columns = level.grid
        for row, column in {(0, 0), (rows - 1, columns - 1)}:
            image.tile(number, row, column)
    return image


def _tiffs() -> list[bytes]:
    import tifffile

    pixels = np.random.default_rng(3).integers(0, 256, (40, 48, 3), np.uint8)
    files = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.tif")
        for options in _LAYOUTS:
            given = pixels.transpose(2, 0, 1) if "planarconfig" in options else pixels
            tifffile.imwrite(path, np.ascontiguousarray(given), photometric="rgb", **options)
            files.append(path.read_bytes())
        with tifffile.TiffWriter(path, ome=True) as writer:
            options = {"tile": (16, 16), "photometric": "minisblack"}
            values = pixels[..., 0].astype(np.uint16)
            writer.write(values, subifds=1, metadata={"axes": "YX", "PhysicalSizeX": 0.25}, **options)
            writer.write(values[::2, ::2].copy(), subfiletype=1, **options)
        files.append(path.read_bytes())
    return files
