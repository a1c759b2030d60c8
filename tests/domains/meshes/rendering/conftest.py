"""Meshes that are drawn, and what marks tests of OpenGL."""

from __future__ import annotations

from pathlib import Path

import pytest

from hra.domains import meshes
from hra.lab.inputs.rooms import Interior, interior, lump


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder: the marker says what happens without OpenGL."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.gl)


@pytest.fixture(scope="session")
def lumpy() -> meshes.ClusterMesh:
    return meshes.build(lump(16, seed=3), cluster_size=32)


@pytest.fixture(scope="session")
def rooms() -> Interior:
    return interior(side=3, detail=6)


@pytest.fixture
def lumpy_asset(lumpy: meshes.ClusterMesh, tmp_path: Path) -> meshes.MeshAsset:
    lumpy.save(tmp_path / "lump.hra", grid_bits=14)
    return meshes.open_asset(tmp_path / "lump.hra")
