from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from hra.domains import tokens
from hra.domains.tokens.embedding.pictures import load_if_path, picture
from hra.errors import ArrayError, FileError

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
