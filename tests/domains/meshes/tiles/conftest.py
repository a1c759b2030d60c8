"""What the tests of this folder share."""

import pytest

import hra
from hra.domains import meshes


@pytest.fixture(scope="module")
def skull_tree():
    return meshes.build_tiles(hra.samples.path("skull.ply"), 2048)
