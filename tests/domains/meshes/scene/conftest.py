"""What the tests of this folder share."""

from __future__ import annotations

import pytest

from hra.domains import meshes


@pytest.fixture(scope="session")
def small(make_closed) -> meshes.ClusterMesh:
    """A closed mesh of 1,280 triangles."""
    return meshes.build(make_closed(3), cluster_size=32, group_size=4)
