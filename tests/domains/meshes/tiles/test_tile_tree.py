"""Trees of tiles and the files that viewers read."""

import dataclasses
import json

import numpy as np
import pytest

import hra
from hra.domains import meshes
from hra.domains.meshes.tiles.tile_tree import cells_of, shared_vertices
from hra.errors import FileError, HraError
from tests.domains.meshes.conftest import grid_mesh


def open_grid(size):
    """Waves with an edge and texture coordinates."""
    mesh = grid_mesh(size, 0.3)
    return dataclasses.replace(mesh, attributes=meshes.VertexAttributes(uv=mesh.positions[:, :2].copy()))


def test_every_cut_of_the_tree_is_sound(skull_tree):
    report = meshes.check(skull_tree.mesh, cuts=200, samples=200)
    assert report.sound and report.closed


def test_tiles_form_one_tree_from_coarse_to_fine(skull_tree):
    parent, errors = skull_tree.parent, skull_tree.errors
    assert (parent < 0).sum() == 1 and (parent[1:] < np.arange(1, len(parent))).all()
    assert (errors[parent[1:]] >= errors[1:]).all() and (errors > 0).all()
    assert skull_tree.mesh.triangles_per_cluster[0] <= 256


def test_errors_bound_the_distance_from_the_mesh_as_it_was_given(skull_tree):
    source = meshes.load(hra.samples.path("skull.ply"))
    root, rng = skull_tree.mesh.mesh(np.array([0])), np.random.default_rng(0)
    for one, other in ((source, root), (root, source)):
        points = meshes.surface_points(one, 500, rng)
        assert meshes.nearest_distances(points, other.positions, other.triangles).max() <= skull_tree.errors[0]


def test_a_triangle_that_the_grid_swallows_counts():
    big = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]])
    speck = np.array([[0.5, 0.5, 0.5]]) + 1e-7 * big
    corners = np.concatenate([big, speck]).astype(np.float32)
    tree = meshes.build_tiles(meshes.TriangleMesh(corners, np.array([[0, 1, 2], [3, 4, 5]], np.uint32)))
    assert tree.mesh.triangle_count == 1
    assert tree.errors.min() >= 0.28


def test_files_are_sound_and_decode_to_the_tree(skull_tree, tmp_path):
    files = skull_tree.save(tmp_path)
    report = meshes.check_tileset(tmp_path, cuts=200)
    assert report.sound and report.closed and report.triangles == 42480
    assert {file.name for file in files} | {"manifest.json"} == {file.name for file in tmp_path.iterdir()}


def test_open_surfaces_with_seams_have_no_cracks(tmp_path):
    meshes.build_tiles(open_grid(60), 512).save(tmp_path)
    report = meshes.check_tileset(tmp_path, cuts=100)
    assert report.sound and not report.closed


def test_equal_meshes_give_equal_files(skull_tree, tmp_path):
    first = {file.name: file.read_bytes() for file in skull_tree.save(tmp_path / "a")}
    again = meshes.build_tiles(hra.samples.path("skull.ply"), 2048)
    assert first == {file.name: file.read_bytes() for file in again.save(tmp_path / "b")}


def test_the_grid_of_a_compressed_file_counts(tmp_path):
    built = meshes.build(open_grid(20), certified=False)
    built.save(tmp_path / "plain.hra")
    built.save(tmp_path / "coarse.hra", grid_bits=8)
    plain, coarse = (meshes.build_tiles(tmp_path / name) for name in ("plain.hra", "coarse.hra"))
    assert coarse.moved > 100 * plain.moved


@pytest.mark.parametrize("triangles", [0, 255, 4096.0])
def test_tiles_of_no_size_are_refused(triangles):
    with pytest.raises(HraError, match="tiles of"):
        meshes.build_tiles(open_grid(4), triangles)


def test_a_folder_that_cannot_be_made(skull_tree, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError):
        skull_tree.save(tmp_path / "file" / "tiles")


def test_cells_are_halves_of_cells():
    depth, cell = cells_of(np.random.default_rng(0).random((1000, 3)), 100)
    assert depth == 4 and np.bincount(cell).max() <= 63 and np.bincount(cell >> 2).tolist() == [250] * 4


def test_shared_vertices_are_those_of_several_cells():
    triangles = np.array([[0, 1, 2], [1, 2, 3], [3, 4, 5]])
    assert shared_vertices(triangles, np.array([0, 1, 1]), 6).tolist() == [0, 1, 1, 0, 0, 0]


@pytest.mark.parametrize("side", [2, 11])
def test_a_small_mesh_is_one_tile(side, tmp_path):
    """Of 256 triangles or fewer nothing is simplified: the root is all."""
    tree = meshes.build_tiles(grid_mesh(side))
    assert tree.parent.tolist() == [-1] and tree.mesh.triangle_count <= 256
    tree.save(tmp_path / "tiles")
    report = meshes.check_tileset(tmp_path / "tiles")
    assert report.sound and json.loads((tmp_path / "tiles" / "tileset.json").read_text())["root"]["geometricError"] >= 0
