"""A tiled TIFF, an OME-Zarr and a slide by regions, and tokens of one of them."""

import tempfile
from pathlib import Path

import numpy as np
import tifffile
import zarr

from hra.domains import tokens
from hra.files.images import open_regions

pixels = np.random.default_rng(0).integers(0, 255, (512, 640, 3), np.uint8)
with tempfile.TemporaryDirectory() as folder:
    for name in ("a.tif", "a.svslide"):
        tifffile.imwrite(Path(folder, name), pixels, tile=(128, 128), photometric="rgb", compression="lzw")
        assert (open_regions(Path(folder, name)).levels[0][9:200, 30:600] == pixels[9:200, 30:600]).all()
    group = zarr.open_group(Path(folder, "a.zarr"), mode="w", zarr_format=2)
    group.create_array("0", shape=(512, 640), chunks=(100, 100), dtype="u1")[:] = pixels[..., 0]
    axes = [{"name": "y"}, {"name": "x"}]
    group.attrs["multiscales"] = [{"axes": axes, "datasets": [{"path": "0"}]}]
    assert (
        open_regions(Path(folder, "a.zarr")).levels[0][
            :,
            :,
        ][..., 1]
        == pixels[..., 0]
    ).all()
    image = tokens.StreamedImage.open(Path(folder, "a.tif"))
    allocator = tokens.StreamedPyramid()
    assert len(allocator.realize(allocator.allocate((image, "left"), 60))) == 60
