from __future__ import annotations

import numpy as np
import pytest
import trimesh
from PIL import Image

from hra import samples
from hra.errors import FileError


def test_the_samples_are_these_four():
    assert samples.names() == ["earth.jpg", "page.png", "photo.jpg", "skull.ply"]


@pytest.mark.parametrize("name", ["nothing.ply", "", "__init__.py", "../samples.py"])
def test_an_unknown_name_is_refused_with_the_names_that_there_are(name):
    with pytest.raises(FileError, match=r"skull\.ply"):
        samples.path(name)


@pytest.mark.parametrize(
    ("name", "size", "mode"),
    [("earth.jpg", (4096, 2048), "RGB"), ("photo.jpg", (2048, 1152), "RGB"), ("page.png", (1240, 1754), "L")],
)
def test_an_image_has_the_documented_size_and_content(name, size, mode):
    with Image.open(samples.path(name)) as image:
        assert (image.size, image.mode) == (size, mode)
        assert np.asarray(image).std() > 20


def test_the_skull_is_closed_welded_and_of_the_documented_size():
    skull = trimesh.load_mesh(samples.path("skull.ply"), process=False)
    assert skull.faces.shape == (42_480, 3)
    assert len(np.unique(skull.vertices, axis=0)) == len(skull.vertices) == 21_260
    assert skull.is_watertight
    assert skull.is_winding_consistent
    assert skull.body_count == 23
    assert skull.volume == pytest.approx(0.000231, rel=0.01)
