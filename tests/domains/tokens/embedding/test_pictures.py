from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageOps

from hra.domains import tokens
from hra.domains.tokens.embedding.pictures import load_if_path, picture
from hra.errors import ArrayError, FileError, HraWarning

PIXELS = np.random.default_rng(0).integers(0, 255, (20, 30, 3), np.uint8)


def test_paths_arrays_and_contexts_are_one_picture(tmp_path):
    Image.fromarray(PIXELS).save(tmp_path / "a.png")
    expected = PIXELS.astype(np.float32) / 255
    for given in (tmp_path / "a.png", str(tmp_path / "a.png"), PIXELS, tokens.TokenContext.of(PIXELS)):
        np.testing.assert_allclose(picture(given, (20, 30)), expected, atol=1e-6)
    assert load_if_path(PIXELS) is PIXELS


def test_another_picture_and_none_are_refused(tmp_path):
    with pytest.raises(ArrayError, match="20 x 30"):
        picture(PIXELS, (30, 20))
    with pytest.raises(ArrayError, match="needs the image"):
        picture(None, (20, 30))
    with pytest.raises(FileError):
        picture(tmp_path / "missing.png", (20, 30))


def test_a_photo_that_is_shown_turned_is_turned_from_its_path_and_told_as_a_pillow_image(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(PIXELS).save(tmp_path / "a.png", exif=exif)
    assert picture(tmp_path / "a.png", (30, 20)).shape == (30, 20, 3)
    with Image.open(tmp_path / "a.png") as opened, pytest.warns(HraWarning, match="EXIF orientation 6.*exif_transpose"):
        assert picture(opened, (20, 30)).shape == (20, 30, 3)
    with Image.open(tmp_path / "a.png") as opened:
        upright = picture(ImageOps.exif_transpose(opened), (30, 20))
    np.testing.assert_array_equal(upright, picture(tmp_path / "a.png", (30, 20)))
