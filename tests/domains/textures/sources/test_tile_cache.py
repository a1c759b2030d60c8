from __future__ import annotations

import pickle

import numpy as np
import pytest
from PIL import Image

from hra.domains.textures import TileCache
from hra.errors import HraError, ImageError

pytest.importorskip("OpenImageIO")
TEXELS = np.random.default_rng(0).integers(0, 255, (70, 90, 3), np.uint8)


def test_a_rectangle_is_that_of_the_file_and_decoded_once(tmp_path):
    Image.fromarray(TEXELS).save(tmp_path / "a.png")
    cache, read = TileCache(2**25), 0
    for _ in range(2):
        found = cache.read(str(tmp_path / "a.png"), 0, (3, 20), (40, 90), np.dtype(np.uint8))
        np.testing.assert_array_equal(found, TEXELS[3:20, 40:90])
        read = cache.tiles_read
    assert read == cache.tiles_read > 0
    assert cache.bytes > 0
    assert pickle.loads(pickle.dumps(cache)).tiles_read == 0


def test_what_cannot_be_read_is_said(tmp_path):
    (tmp_path / "b.png").write_bytes(b"no image")
    with pytest.raises(ImageError, match=r"b\.png"):
        TileCache(2**25).read(str(tmp_path / "b.png"), 0, (0, 1), (0, 1), np.dtype(np.uint8))
    with pytest.raises(HraError, match="too small"):
        TileCache(2**20)
