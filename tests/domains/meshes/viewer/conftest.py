"""Meshes and assets that are drawn, and what marks tests of OpenGL."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import hra
from hra.domains import meshes
from hra.kernels import raster
from hra_lab.inputs.rooms import Interior, interior, lump

SIZE = (121, 83)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder: the marker says what happens without OpenGL."""
    here = f"{Path(__file__).parent}{os.sep}"
    for item in items:
        if str(item.path).startswith(here):
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


@pytest.fixture(scope="session")
def asset(tmp_path_factory: pytest.TempPathFactory) -> meshes.MeshAsset:
    path = tmp_path_factory.mktemp("viewing") / "lump.hra"
    meshes.build(lump(48, seed=3), cluster_size=64).save(path, grid_bits=14)
    return meshes.open_asset(path)


@pytest.fixture(scope="session")
def eye(asset: meshes.MeshAsset) -> hra.Camera:
    return hra.Camera.orbit(asset.bounds, azimuth=30, elevation=20, up=(0, 0, 1), viewport=SIZE)


@pytest.fixture(scope="module")
def context() -> Iterator[raster.Context]:
    with raster.Context() as made:
        yield made
