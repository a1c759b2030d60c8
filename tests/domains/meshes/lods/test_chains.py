"""Chains of levels: counts, monotone errors that hold, when to switch, and files that others read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.domains import meshes
from hra.domains.meshes.distances.surface import surface_points
from hra.errors import BudgetTooSmall, CameraError, FileError, HraError
from tests.domains.meshes.conftest import closed_mesh
from tests.helpers import gltf_validator
from tests.helpers.scenes import fetched
from tests.helpers.seamed_meshes import grid


@pytest.fixture(scope="module")
def chain(bumpy_clusters: meshes.ClusterMesh) -> meshes.DiscreteLOD:
    return meshes.lod_chain(bumpy_clusters, [1, 0.5, 0.25, 640, 300])


def scene_of(path: Path) -> dict[str, Any]:
    """The meshes of a file by name, as trimesh reads it."""
    scene: Any = trimesh.load(path, process=False)
    return dict(scene.geometry)


def counts(chain: meshes.DiscreteLOD) -> list[int]:
    return [len(mesh.triangles) for mesh in chain.levels]


def test_the_sphere_holds_all_levels_and_the_source_and_no_more(bumpy_clusters: meshes.ClusterMesh) -> None:
    coarse = meshes.lod_chain(bumpy_clusters, [300])
    source = bumpy_clusters.mesh(np.flatnonzero(bumpy_clusters.hierarchy.removed_by < 0)).positions
    farthest = np.linalg.norm(source - coarse.center, axis=1).max()
    assert farthest <= coarse.radius <= 1.1 * farthest + coarse.errors[0]
    # The root of the hierarchy is larger: its spheres lie around those below.
    assert coarse.radius < bumpy_clusters.hierarchy.attribute("radius").max()


def test_each_level_has_at_most_so_many_triangles(chain: meshes.DiscreteLOD) -> None:
    asked = [5120, 2560, 1280, 640, 300]
    assert all(0.95 * most <= count <= most for count, most in zip(counts(chain), asked, strict=True))
    assert all(meshes.is_closed(mesh) for mesh in chain.levels)


@pytest.mark.parametrize("alpha", ["MASK", "BLEND"])
def test_triangles_of_levels_suit_the_cache_of_vertices(chain: meshes.DiscreteLOD, alpha: Any) -> None:
    assert all(fetched(mesh.triangles) < 0.85 for mesh in chain.levels)
    numbers = np.zeros(len(chain.levels[0].positions), np.int32)
    attributes = meshes.VertexAttributes(material=numbers, materials=(meshes.Material(alpha_mode=alpha),))
    clusters = meshes.build(replace(chain.levels[0], attributes=attributes))
    level = meshes.lod_chain(clusters, [0.5]).levels[0]
    assert (fetched(level.triangles) < 0.85) == (alpha == "MASK")


@pytest.fixture(scope="module")
def small_clusters() -> meshes.ClusterMesh:
    return meshes.build(closed_mesh(3))


@pytest.fixture(scope="module")
def plain_clusters(bumpy: meshes.TriangleMesh) -> meshes.ClusterMesh:
    """Without certified bounds."""
    return meshes.build(bumpy, certified=False)


@given(shares=st.lists(st.floats(0.12, 1.0), min_size=1, max_size=6, unique_by=lambda share: int(share * 1280)))
def test_whatever_is_asked_for_levels_are_monotone(small_clusters: meshes.ClusterMesh, shares: list[float]) -> None:
    shares = sorted(shares, reverse=True)
    found = meshes.lod_chain(small_clusters, shares)
    assert all(count <= share * 1280 for count, share in zip(counts(found), shares, strict=True))
    assert (np.diff(counts(found)) <= 0).all()
    assert (np.diff(found.errors) >= 0).all()
    assert found.certified
    corners = set(map(tuple, small_clusters.positions.tolist()))
    assert all(set(map(tuple, mesh.positions.tolist())) <= corners for mesh in found.levels)


def test_a_level_is_the_best_within_its_triangles(bumpy_clusters: meshes.ClusterMesh) -> None:
    # Holding on to the coarser levels costs nothing here; the optimum is that of the level by itself.
    error, area = (bumpy_clusters.hierarchy.attribute(name) for name in ("error", "area"))
    allocator = meshes.MeshAllocator(bumpy_clusters, meshes.SurfaceError(), hra.Exact())
    for share in (0.5, 0.25, 0.12):
        (mesh,) = meshes.lod_chain(bumpy_clusters, [share]).levels
        best = allocator.allocate(None, int(share * 5120))
        assert best.status == "optimal"
        assert best.residual == pytest.approx(float((error[best.cut].astype(float) ** 2 * area[best.cut]).sum()))
        assert len(mesh.triangles) == best.cost


def test_neither_surface_is_farther_from_the_other_than_a_certified_error(
    chain: meshes.DiscreteLOD, bumpy: meshes.TriangleMesh
) -> None:
    assert chain.certified
    assert chain.errors[0] == 0
    rng = np.random.default_rng(1)
    for mesh, error in zip(chain.levels[1:], chain.errors[1:], strict=True):
        pairs = (bumpy, mesh), (mesh, bumpy)
        points = [meshes.surface_points(one, 2000, rng) for one, _ in pairs]
        others = [(other.positions, other.triangles) for _, other in pairs]
        farthest = max(meshes.nearest_distances(p, *other).max() for p, other in zip(points, others, strict=True))
        assert 0.7 * error < farthest <= error


def test_without_bounds_of_clusters_errors_are_still_bounds(
    bumpy: meshes.TriangleMesh, plain_clusters: meshes.ClusterMesh
) -> None:
    clusters, chain = plain_clusters, meshes.lod_chain(plain_clusters, [0.5])
    (count,) = counts(chain)
    cut = meshes.MeshAllocator(clusters, meshes.SurfaceError(), hra.Exact()).allocate(None, 2560).cut
    assert count == int(clusters.triangles_per_cluster[cut].sum())
    assert chain.certified and chain.appearance is not None
    assert chain.appearance.tolist() == [clusters.hierarchy.attribute("error")[cut].max()]
    (mesh,), points = chain.levels, meshes.surface_points(bumpy, 20_000, np.random.default_rng(0))
    farthest = meshes.nearest_distances(points, mesh.positions, mesh.triangles).max()
    assert 0.8 * chain.errors[0] < farthest <= chain.errors[0]


def test_on_a_grid_errors_are_what_the_file_knows(
    bumpy_clusters: meshes.ClusterMesh, plain_clusters: meshes.ClusterMesh, tmp_path: Path
) -> None:
    for certified, name in ((True, "hausdorff"), (False, "error")):
        (bumpy_clusters if certified else plain_clusters).save(tmp_path / "grid.hra", grid_bits=16)
        asset = meshes.open_asset(tmp_path / "grid.hra")
        chain = meshes.lod_chain(asset, [0.5])
        cut = meshes.MeshAllocator(asset.with_cost("triangles"), meshes.SurfaceError(), hra.Exact()).allocate(
            None, 2560
        )
        assert chain.certified == certified
        assert chain.errors.tolist() == [asset.hierarchy.attribute(name)[cut.cut].max()]


def test_meshes_and_files_give_the_same_chain_and_so_do_assets_and_clusters(
    bumpy: meshes.TriangleMesh, bumpy_clusters: meshes.ClusterMesh, tmp_path: Path
) -> None:
    bumpy.export(tmp_path / "bumpy.glb")
    bumpy_clusters.save(tmp_path / "bumpy.hra")
    asset = meshes.open_asset(tmp_path / "bumpy.hra")
    for sources in (bumpy, tmp_path / "bumpy.glb"), (bumpy_clusters, bumpy_clusters.with_cost("bytes"), asset):
        found = [meshes.lod_chain(source, [0.5, 0.2]) for source in sources]
        assert len({str((counts(one), one.errors.tolist())) for one in found}) == 1


def test_levels_of_a_mesh_are_nearer_than_those_of_clusters_for_cameras(
    skull: meshes.TriangleMesh, skull_clusters: meshes.ClusterMesh
) -> None:
    """As groups are simplified, their borders stay: on a scan levels are half as far again from the source."""
    points = surface_points(skull, 20_000, np.random.default_rng(0))
    (own,), (cut,) = (meshes.lod_chain(source, [0.5]).levels for source in (skull, skull_clusters))
    own, cut = (np.square(meshes.nearest_distances(points, one.positions, one.triangles)).mean() for one in (own, cut))
    assert own < 0.6 * cut


@pytest.mark.parametrize("levels", [[], [0.25, 0.5], [0.5, 0.5], [0.5, 0], [-1], [0.5, 300.5], [np.nan], [np.inf, 1]])
def test_levels_must_fall(bumpy_clusters: meshes.ClusterMesh, levels: Sequence[float]) -> None:
    with pytest.raises(HraError, match=r"levels (must fall|is (nan|inf))"):
        meshes.lod_chain(bumpy_clusters, levels)


def test_a_level_below_the_root_is_refused(bumpy_clusters: meshes.ClusterMesh) -> None:
    with pytest.raises(BudgetTooSmall, match=str(bumpy_clusters.root_triangle_count)):
        meshes.lod_chain(bumpy_clusters, [0.5, bumpy_clusters.root_triangle_count - 1])


@given(
    level=st.integers(0, 4),
    pixels=st.floats(0.1, 20),
    lens=st.tuples(st.floats(5, 150), st.integers(10, 4000), st.integers(10, 4000)),
    farther=st.floats(1, 10),
    direction=st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda d: np.linalg.norm(d) > 0.1),
    aside=st.floats(-60, 60),
)
def test_from_the_switch_distance_on_the_level_is_good_enough(
    chain: meshes.DiscreteLOD, level: int, pixels: float, lens: tuple, farther: float, direction: tuple, aside: float
) -> None:
    fov, *viewport = lens
    options = {"vertical_fov_degrees": fov, "viewport": tuple(viewport)}
    distances = chain.switch_distances(pixels, **options)
    assert distances[0] == 0
    assert (np.diff(distances) >= 0).all()
    distance = max(distances[level], 0.01) * farther
    axis = np.array(direction) / np.linalg.norm(direction)
    sideways = np.cross(axis, [0.31, 0.52, 0.79])
    # Wherever the camera looks from there: the chain may be in a corner of the view.
    target = chain.center + np.tan(np.radians(aside)) * distance * sideways / np.linalg.norm(sideways)
    camera = hra.Camera.perspective(chain.center + distance * axis, target, sideways + 0.1 * axis, **options)
    assert chain.by_pixels(camera, pixels) >= level


def test_a_lens_or_a_tolerance_that_is_none_is_refused(chain: meshes.DiscreteLOD) -> None:
    with pytest.raises(HraError, match="pixels must be a number above 0"):
        chain.switch_distances(0)
    with pytest.raises(CameraError):
        chain.switch_distances(1, vertical_fov_degrees=180)


def test_each_level_is_a_file(chain: meshes.DiscreteLOD, tmp_path: Path) -> None:
    paths = chain.export(tmp_path / "new" / "folder", stem="ball")
    assert [path.name for path in paths] == [f"ball{number}.glb" for number in range(5)]
    for path, mesh in zip(paths, chain.levels, strict=True):
        (read,) = scene_of(path).values()
        assert np.array_equal(read.vertices[read.faces], mesh.positions[mesh.triangles])


def test_all_levels_are_nodes_of_one_file(chain: meshes.DiscreteLOD, tmp_path: Path) -> None:
    path = tmp_path / "ball.glb"
    chain.export_one(path)
    scene = scene_of(path)
    assert list(scene) == ["LOD0", "LOD1", "LOD2", "LOD3", "LOD4"]
    for mesh, read in zip(chain.levels, scene.values(), strict=True):
        assert np.array_equal(read.vertices[read.faces], mesh.positions[mesh.triangles])
    # What knows nothing of the extension shows the finest level, and nothing else.
    assert len(meshes.load(path).triangles) == 5120


def test_levels_of_equal_triangles_stay_two_nodes(bumpy_clusters: meshes.ClusterMesh, tmp_path: Path) -> None:
    root = bumpy_clusters.root_triangle_count
    chain = meshes.lod_chain(bumpy_clusters, [root + 1, root])
    chain.export_one(tmp_path / "two.glb")
    assert counts(chain) == [root, root]
    assert list(scene_of(tmp_path / "two.glb")) == ["LOD0", "LOD1"]


def test_attributes_reach_the_levels_and_an_image_is_stored_once(tmp_path: Path) -> None:
    mesh = textured_sheet(40)
    chain = meshes.lod_chain(mesh, [1, 0.5, 0.25])
    chain.export_one(tmp_path / "sheet.glb")
    content = (tmp_path / "sheet.glb").read_bytes()
    assert mesh.attributes is not None
    image = mesh.attributes.materials[0].image
    assert image is not None and content.count(image) == 1
    for read in scene_of(tmp_path / "sheet.glb").values():
        assert read.visual.uv.shape == (len(read.vertices), 2)
        assert read.visual.material.baseColorTexture.size == (4, 4)


def test_all_triangles_are_the_source_where_the_estimate_sees_no_difference() -> None:
    """A flat disc whose border has tiny teeth: the simplifier takes them off at an error of 0, by rounding."""
    turn = np.linspace(0, 2 * np.pi, 1200, endpoint=False)
    radius = 1 + 4e-5 * (np.arange(1200) % 2)
    rim = np.column_stack([np.cos(turn) * radius, np.sin(turn) * radius, np.zeros(1200)])
    ring = np.arange(1200)
    inner, outer = ring, ring + 1200
    positions = np.concatenate([rim * 0.5, rim]).astype(np.float32)
    ahead = np.roll(ring, -1)
    triangles = np.concatenate(
        [np.column_stack([inner, outer, outer[ahead]]), np.column_stack([inner, outer[ahead], inner[ahead]])]
    )
    chain = meshes.lod_chain(meshes.from_arrays(positions, triangles), [1, 0.5])
    assert counts(chain)[0] == 2400
    assert chain.errors[0] < 1e-5


def textured_sheet(cells: int) -> meshes.TriangleMesh:
    """A wavy square with texture coordinates and two materials, of which both use one image."""
    import io

    from PIL import Image

    png = io.BytesIO()
    Image.fromarray(np.arange(48, dtype=np.uint8).reshape(4, 4, 3)).save(png, "PNG")
    side = np.linspace(0, 1, cells + 1)
    halves = []
    for number in range(2):
        x, y = np.meshgrid(side, side)
        points = np.stack([x + number, y, 0.1 * np.sin(9 * x) * np.cos(7 * y)], axis=-1).reshape(-1, 3)
        halves.append((points, grid(cells, cells) + number * len(points), np.stack([x, y], -1).reshape(-1, 2)))
    points, faces, uv = (np.concatenate(part) for part in zip(*halves, strict=True))
    materials = tuple(meshes.Material(name=name, image=png.getvalue()) for name in ("left", "right"))
    attributes = meshes.VertexAttributes(
        uv=uv.astype(np.float32), material=np.repeat([0, 1], len(points) // 2).astype(np.int32), materials=materials
    )
    return meshes.from_arrays(points, faces, attributes)


@pytest.mark.skipif(not gltf_validator.available(), reason="no Node.js with gltf-validator")
def test_khronos_validator_finds_nothing_wrong(chain: meshes.DiscreteLOD, tmp_path: Path) -> None:
    chain.export_one(tmp_path / "ball.glb")
    meshes.lod_chain(textured_sheet(20), [1, 0.4]).export_one(tmp_path / "sheet.glb")
    for name in ("ball.glb", "sheet.glb"):
        found = gltf_validator.issues(tmp_path / name)
        assert found["numErrors"] == found["numWarnings"] == 0, found["messages"]
        # It does not know the extension, and so not what the coarser nodes are for.
        assert {message["code"] for message in found["messages"]} <= {"UNSUPPORTED_EXTENSION", "UNUSED_OBJECT"}


@pytest.mark.parametrize("name", ["chain.obj", "chain", "missing/chain.glb"])
def test_one_file_that_cannot_be_written_is_an_error(chain: meshes.DiscreteLOD, tmp_path: Path, name: str) -> None:
    with pytest.raises(FileError):
        chain.export_one(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_an_error(chain: meshes.DiscreteLOD, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(FileError, match="cannot create the folder"):
        chain.export(tmp_path / "file")


def test_it_says_what_its_errors_are(chain: meshes.DiscreteLOD, bumpy: meshes.TriangleMesh) -> None:
    assert "bounds" in repr(chain) and "5,120" in repr(chain)
    assert "bounds" in repr(meshes.build_discrete(bumpy, np.array([1, 0.5])))  # pyright: ignore[reportArgumentType]
