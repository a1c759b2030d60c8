"""Compressed assets: what was moved is bounded, cuts do not crack, and damage is a FileError."""

from __future__ import annotations

import struct
from itertools import pairwise
from pathlib import Path

import meshoptimizer
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.domains import meshes
from hra.domains.meshes.mesh.point_grid import PointGrid
from hra.errors import MeshError, RepairWarning
from tests.helpers import mesh_file
from tests.helpers.mesh_file import refused, use


@pytest.fixture(scope="module")
def packed_file(dressed: meshes.ClusterMesh, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("packed") / "packed.hra"
    dressed.save(path, grid_bits=14)
    return path


@pytest.fixture(scope="module")
def skull_packed(skull_clusters: meshes.ClusterMesh, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("packed") / "skull.hra"
    skull_clusters.save(path, grid_bits=16)
    return path


def corner_sets(mesh: meshes.ClusterMesh, rows: np.ndarray) -> list[list[tuple]]:
    """For each cluster its triangles as rows of values, from the smallest corner on, in any order."""
    found = []
    for c in range(len(mesh.offsets) - 1):
        corners = rows[mesh.indices[mesh.offsets[c] : mesh.offsets[c + 1]].reshape(-1, 3)]
        turned = [[tuple(map(float, corner)) for corner in triangle] for triangle in corners]
        found.append(sorted(min((*t[k:], *t[:k]) for k in range(3)) for t in turned))
    return found


@pytest.mark.parametrize("name", ["dressed", "tiny", "bumpy_clusters"])
def test_all_but_positions_comes_back(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    mesh: meshes.ClusterMesh = request.getfixturevalue(name)
    mesh.save(tmp_path / "a.hra", grid_bits=16)
    again = meshes.load_clusters(tmp_path / "a.hra")
    grid = PointGrid.around(mesh.positions, 16)
    carried = [] if mesh.attributes is None else [mesh.attributes.rows]
    loaded = [] if again.attributes is None else [again.attributes.rows]
    moved = grid.positions(grid.snap(mesh.positions))
    assert np.abs(moved.astype(float) - mesh.positions).max() <= grid.step / 2 * (1 + 1e-6)
    assert corner_sets(mesh, np.hstack([moved, *carried])) == corner_sets(again, np.hstack([again.positions, *loaded]))
    for table in ("error", "area", "level", "vertex_count", "center"):
        assert np.array_equal(mesh.hierarchy.attribute(table), again.hierarchy.attribute(table)), table
    for link in ("added_by", "removed_by", "node_cost"):
        assert np.array_equal(getattr(mesh.hierarchy, link), getattr(again.hierarchy, link))
    if mesh.attributes is not None:
        assert again.attributes is not None and mesh.attributes.materials == again.attributes.materials


@pytest.mark.filterwarnings("ignore::hra.errors.RepairWarning")
def test_bounds_hold_for_the_source_as_it_was(skull: meshes.TriangleMesh, skull_clusters, tmp_path: Path) -> None:
    """A coarse grid, whose way shows: samples of the source and of cuts stay within the bound that the file states."""
    skull_clusters.save(tmp_path / "a.hra", grid_bits=9)
    asset = meshes.open_asset(tmp_path / "a.hra")
    bound, level = asset.hierarchy.attribute("hausdorff"), asset.hierarchy.attribute("level")
    step = float(mesh_file.section((tmp_path / "a.hra").read_bytes(), "grid")[3])
    assert 0 < bound[level == 0].min() <= step
    assert (bound > skull_clusters.hierarchy.attribute("hausdorff")).all()
    allocator = meshes.MeshAllocator(asset)
    for budget in (1_000, 42_480):
        cut = allocator.allocate(hra.Camera.orbit(asset.bounds, azimuth=20), budget).cut
        surface, allowed = asset.mesh(cut), float(bound[cut].max())
        rng = np.random.default_rng(0)
        for sampled, other in ((skull, surface), (surface, skull)):
            points = meshes.surface_points(sampled, 1_000, rng)
            assert meshes.nearest_distances(points, other.positions, other.triangles).max() <= allowed


def test_compressed_meshes_are_sound(skull_packed: Path, make_closed, tmp_path: Path) -> None:
    assert meshes.check(meshes.load_clusters(skull_packed), cuts=40, samples=200).sound
    meshes.build(make_closed(3)).save(tmp_path / "a.hra", grid_bits=8)
    report = meshes.check(meshes.load_clusters(tmp_path / "a.hra"), cuts=40, samples=200)
    assert report.sound and report.closed


def test_pages_are_a_third_and_fit_their_slots(skull_packed: Path, skull_file: Path) -> None:
    plain, asset = meshes.open_asset(skull_file), meshes.open_asset(skull_packed)
    assert (
        asset.page_bytes.sum()
        <= 12 * asset.facts["triangles"]
        < 34 * asset.facts["triangles"]
        <= plain.page_bytes.sum()
    )
    assert asset.slot_bytes <= 2**15
    vertices = asset.hierarchy.attribute("vertex_count").astype(int)
    drawn = np.bincount(asset.page_of, 6 * vertices + 3 * asset.triangles_per_cluster)
    assert -(-drawn.max() // 4) * 4 == asset.slot_bytes and drawn.mean() > 0.85 * asset.slot_bytes
    coarse = asset.page_of[np.flatnonzero(asset.hierarchy.removed_by >= 0)]
    for group in range(len(asset.hierarchy)):
        needs = asset.page_of[asset.hierarchy.removed_by == group].max()
        assert needs <= asset.page_of[asset.hierarchy.added_by == group].min()
    assert coarse.min() == 0


def test_a_page_is_what_its_documentation_says(packed_file: Path) -> None:
    content, asset = packed_file.read_bytes(), meshes.open_asset(packed_file)
    head = mesh_file.header(content)
    assert head["version"] == 2
    stored, counts = mesh_file.section(content, "stored"), mesh_file.section(content, "triangle_count").astype(int)
    origin, step = np.split(mesh_file.section(content, "grid"), [3])
    begin = 0
    columns = [mesh_file.section(content, f"page_{name}").tolist() for name in ("end", "offset", "bytes")]
    for page, (end, offset, size) in enumerate(zip(*columns, strict=True)):
        clusters = np.argsort(stored)[begin:end]
        data = content[offset : offset + size]
        count, *sizes = struct.unpack_from("<8I", data)
        assert 32 + sum(sizes) == size
        at = np.cumsum([32, *sizes])
        parts = [data[a:b] for a, b in pairwise(at)]
        places = meshoptimizer.decode_vertex_buffer(count, 8, parts[1], np.dtype("<u8")).view("<u2").reshape(-1, 4)
        corners = meshoptimizer.decode_index_buffer(3 * int(counts[clusters].sum()), 4, parts[-1])
        points = (places[:, :3] * step + origin).astype(np.float32)[corners]
        read = asset.read_page(page)
        first = np.repeat(read.vertex_offsets[:-1], np.diff(read.corner_offsets))
        assert np.array_equal(read.clusters, clusters) and not places[:, 3].any()
        assert np.array_equal(read.streams["position"][first + read.corners], points)
        begin = end


@given(data=st.data())
def test_forged_pages_never_crash(data: st.DataObject, target: Path, packed_file: Path) -> None:
    content = packed_file.read_bytes()
    page = data.draw(st.integers(0, mesh_file.header(content)["pages"] - 1))
    # Half of them in the lengths at the page's head.
    at = data.draw(st.integers(0, 31) | st.integers(0, 2**15))
    target.write_bytes(mesh_file.with_page_byte(content, page, at, data.draw(st.integers(0, 255))))
    use(target)


@given(data=st.data())
def test_forged_tables_never_crash(data: st.DataObject, target: Path, packed_file: Path) -> None:
    content = packed_file.read_bytes()
    name = data.draw(st.sampled_from(["stored", "grid", "page_bytes", "page_end", "vertex_count", "triangle_count"]))
    target.write_bytes(mesh_file.with_drawn_bytes(data, content, name))
    use(target)


def test_what_contradicts_itself_is_refused(packed_file: Path, target: Path) -> None:
    content = packed_file.read_bytes()
    stored = mesh_file.section(content, "stored").copy()
    stored[0] = stored[1]
    refused(target, mesh_file.with_section(content, "stored", stored), "stored")
    for grid in ([0, 0, 0, 0], [0, 0, np.nan, 1], [1e300, 0, 0, 1], [0, 0, 0, -1]):
        refused(target, mesh_file.with_section(content, "grid", np.array(grid, float)), "grid")
    refused(target, mesh_file.forged(content, version=1))


@pytest.mark.parametrize("bits", [0, 7, 17])
def test_other_grids_are_refused(tiny: meshes.ClusterMesh, tmp_path: Path, bits: int) -> None:
    with pytest.raises(MeshError, match=f"from 8 to 16, got {bits}"):
        tiny.save(tmp_path / "a.hra", grid_bits=bits)
    assert not (tmp_path / "a.hra").exists()


@pytest.mark.parametrize(("scale", "offset"), [(1e-30, 0.0), (1e30, 0.0), (1.0, 1e6), (1.0, -3e7)])
def test_any_size_and_place_has_a_grid(scale: float, offset: float, rng: np.random.Generator) -> None:
    points = (rng.normal(size=(200, 3)) * scale + offset).astype(np.float32)
    grid = PointGrid.around(points, 16)
    places = grid.snap(points)
    exact = places * np.float64(grid.step) + np.array(grid.origin)
    assert np.array_equal(exact, grid.positions(places).astype(np.float64))
    assert np.abs(exact - points).max() <= grid.step / 2
    assert np.array_equal(grid.snap(grid.positions(places)), places)


def test_details_that_vanish_are_told(make_grid, tmp_path: Path) -> None:
    sheet = meshes.build(make_grid(40))
    near = sheet.positions.copy()
    near[1:5] = near[0] + np.arange(1, 5)[:, None] * np.float32(1e-7)
    mesh = meshes.ClusterMesh(near, sheet.indices, sheet.offsets, sheet.hierarchy)
    with pytest.warns(RepairWarning, match="fell together"):
        mesh.save(tmp_path / "a.hra", grid_bits=8)
