"""Files are read in parts: a cut touches its pages and no others."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import hra
from hra.domains import meshes
from hra.domains.meshes.asset import mesh_asset
from hra.errors import ArrayError, FileError, MeshError
from tests.helpers import mesh_file


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The pages that are read, in order."""
    seen: list[int] = []
    read = mesh_asset.read_page

    def noting(file, tables, page):
        seen.append(page)
        return read(file, tables, page)

    monkeypatch.setattr(mesh_asset, "read_page", noting)
    return seen


def test_opening_and_allocating_read_no_page(skull_file: Path, reads: list[int]) -> None:
    asset = meshes.open_asset(skull_file)
    allocator = meshes.MeshAllocator(asset)
    allocation = allocator.allocate(hra.Camera.orbit(asset.bounds, azimuth=30), 2000)
    assert reads == []
    assert len(asset.page_bytes) >= 10
    mesh = allocator.realize(allocation)
    assert reads == asset.pages_of(allocation.cut).tolist() and len(reads) <= 3
    assert 0.98 * 2000 < len(mesh.triangles) <= 2000


def test_the_root_lies_in_the_first_page(skull_file: Path, reads: list[int]) -> None:
    asset = meshes.open_asset(skull_file)
    mesh = asset.mesh(np.flatnonzero(asset.hierarchy.added_by < 0))
    assert reads == [0] and len(mesh.triangles) == asset.facts["root_triangles"]


@pytest.mark.parametrize("name", ["skull_clusters", "dressed"])
def test_cuts_of_files_are_those_of_the_mesh(
    name: str, request: pytest.FixtureRequest, tmp_path: Path, down_closed, rng: np.random.Generator
) -> None:
    mesh: meshes.ClusterMesh = request.getfixturevalue(name)
    mesh.save(tmp_path / "a.hra")
    asset = meshes.open_asset(tmp_path / "a.hra")
    for _ in range(5):
        cut = np.flatnonzero(mesh.hierarchy.active_nodes(down_closed(mesh.hierarchy, rng)))
        for clusters in (cut, rng.permutation(cut)[:5], [cut[0], cut[0]]):
            expected, found = mesh.mesh(np.asarray(clusters)), asset.mesh(clusters)
            assert np.array_equal(found.positions, expected.positions)
            assert np.array_equal(found.triangles, expected.triangles)
            if expected.attributes is not None and found.attributes is not None:
                assert np.array_equal(found.attributes.rows, expected.attributes.rows)
                assert found.attributes.materials == expected.attributes.materials
            assert (found.attributes is None) == (expected.attributes is None)


def test_pages_are_coarse_first_and_hold_whole_groups(skull_file: Path) -> None:
    asset = meshes.open_asset(skull_file)
    hierarchy, pages = asset.hierarchy, asset.page_of
    members = np.flatnonzero(hierarchy.added_by >= 0)
    offsets, products = hierarchy.removed_nodes
    assert (pages[products[offsets[hierarchy.added_by[members]]]] <= pages[members]).all()
    assert all(np.ptp(pages[hierarchy.added_by == g]) == 0 for g in range(len(hierarchy)))
    assert asset.page_bytes.max() <= 2**17
    assert asset.page_bytes[:-1].min() > 2**16


def test_a_page_alone_holds_its_triangles(skull_file: Path, skull_clusters: meshes.ClusterMesh) -> None:
    page = meshes.open_asset(skull_file).read_page(3)
    for k, cluster in enumerate(page.clusters[:20]):
        corners = page.corners[page.corner_offsets[k] : page.corner_offsets[k + 1]].astype(int)
        places = page.vertex_offsets[k] + corners
        begin, end = skull_clusters.offsets[cluster : cluster + 2]
        assert np.array_equal(page.vertices[places], skull_clusters.indices[begin:end])
        assert np.array_equal(page.streams["position"][places], skull_clusters.positions[page.vertices[places]])
    assert not page.corners.flags.writeable


def test_a_damaged_page_spoils_only_what_needs_it(skull_file: Path, tmp_path: Path) -> None:
    content = bytearray(skull_file.read_bytes())
    last = int(mesh_file.section(bytes(content), "page_offset")[-1])
    content[last + 1000] ^= 4
    (tmp_path / "a.hra").write_bytes(content)
    asset = meshes.open_asset(tmp_path / "a.hra")
    coarse = np.flatnonzero(asset.hierarchy.added_by < 0)
    assert len(asset.mesh(coarse).triangles) > 0
    with pytest.raises(FileError, match="page"):
        asset.mesh(np.flatnonzero(asset.page_of == len(asset.page_bytes) - 1))
    with pytest.raises(FileError, match="page"):
        asset.read()


def test_clusters_and_pages_that_are_none_are_refused(skull_file: Path) -> None:
    asset = meshes.open_asset(skull_file)
    for clusters in ([-1], [10**6], [0.5], "a"):
        with pytest.raises(ArrayError):
            asset.mesh(clusters)
    with pytest.raises(MeshError):
        asset.mesh([])
    for page in (-1, len(asset.page_bytes)):
        with pytest.raises(ArrayError, match="page"):
            asset.read_page(page)


@pytest.mark.case(96)
def test_a_reader_keeps_the_file_that_it_opened(
    tiny: meshes.ClusterMesh, skull_clusters: meshes.ClusterMesh, tmp_path: Path, assert_same
) -> None:
    tiny.save(tmp_path / "a.hra")
    asset = meshes.open_asset(tmp_path / "a.hra")
    skull_clusters.save(tmp_path / "a.hra")
    assert_same(tiny, asset.read())
    assert meshes.open_asset(tmp_path / "a.hra").facts["triangles"] == skull_clusters.triangle_count


def test_a_failed_write_leaves_the_old_file(
    tiny: meshes.ClusterMesh, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, assert_same
) -> None:
    tiny.save(tmp_path / "a.hra")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match="No space left"):
        tiny.save(tmp_path / "a.hra")
    assert_same(tiny, meshes.load_clusters(tmp_path / "a.hra"))
    assert os.listdir(tmp_path) == ["a.hra"]
