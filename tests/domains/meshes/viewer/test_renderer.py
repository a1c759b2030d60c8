"""Frames against an independent rasteriser's, their colours, what is uploaded, and what is refused."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

import hra
from hra.domains import meshes
from hra.errors import ArrayError, BackendUnavailable, BudgetTooSmall, CameraError, HraError
from hra.kernels import raster
from hra.kernels.raster.target import with_reversed_depth
from hra_lab.inputs.crowds import crowd

SIZE = (121, 83)


def view(bounds: np.ndarray, azimuth: float = 30, **options) -> hra.Camera:
    return hra.Camera.orbit(bounds, azimuth=azimuth, up=(0, 0, 1), viewport=SIZE, **options)


def matrix(camera: hra.Camera) -> np.ndarray:
    return camera.projection @ camera.view


@pytest.mark.parametrize("reversed_depth", [False, True])
def test_pixels_are_those_of_the_plain_draw_list(lumpy: meshes.ClusterMesh, reversed_depth: bool) -> None:
    camera = view(lumpy.bounds, reversed_depth=reversed_depth)
    cut = meshes.MeshAllocator(lumpy).allocate(camera, budget=2_000).cut
    with meshes.Renderer(lumpy, SIZE, reversed_depth=reversed_depth) as renderer:
        facts, seen = renderer.draw(camera, cut), renderer.visible()
    assert facts.triangles == facts.drawn == len(lumpy.triangles(cut)) and facts.clusters == len(cut)
    ranges = np.stack([lumpy.offsets[cut], lumpy.offsets[cut + 1]], 1) // 3
    with raster.Context() as context:
        plain = raster.DrawList(context, lumpy.positions, lumpy.indices.reshape(-1, 3), ranges=ranges, ids=cut)
        buffer = raster.VisibilityBuffer(context, SIZE, reversed_depth)
        buffer.draw(plain, matrix(camera))
        expected = buffer.read()
        kept = raster.VisibilityBuffer(context, SIZE, reversed_depth=True)  # the kind that renderers have
        kept.draw(plain, matrix(camera) if reversed_depth else with_reversed_depth(matrix(camera)))
        depth = kept.read().depth
    np.testing.assert_array_equal(seen.depth, depth if reversed_depth else 1 - depth)
    np.testing.assert_allclose(seen.depth, expected.depth, rtol=0, atol=5e-7)
    np.testing.assert_array_equal(seen.clusters, expected.ids)
    there = seen.clusters != raster.EMPTY
    rows = lumpy.offsets[seen.clusters[there]] // 3 + seen.triangles[there]
    np.testing.assert_array_equal(rows, expected.triangles[there])


@pytest.mark.parametrize("near", [1e-3, 1e-9])
def test_a_near_plane_at_the_eye_changes_no_pixel(lumpy: meshes.ClusterMesh, near: float) -> None:
    """Depth that grows with the distance would be 1 in float32 for all of the mesh."""
    low, high = lumpy.bounds.astype(float)
    middle, far = (low + high) / 2, 2 * float(np.linalg.norm(high - low))
    cut, frames = np.flatnonzero(lumpy.hierarchy.attribute("level") == 0), []
    with meshes.Renderer(lumpy, SIZE) as renderer:
        for plane in (far / 4, near * far):
            camera = hra.Camera.perspective(np.add(middle, (0, far, 0)), middle, (0, 0, 1), near=plane, viewport=SIZE)
            renderer.draw(camera, cut)
            frames.append(renderer.visible())
    assert (frames[0].clusters != raster.EMPTY).sum() > 200
    np.testing.assert_array_equal(frames[1].clusters, frames[0].clusters)
    np.testing.assert_array_equal(frames[1].triangles, frames[0].triangles)


def test_an_asset_draws_as_the_mesh_that_it_holds(lumpy_asset: meshes.MeshAsset) -> None:
    camera, whole = view(lumpy_asset.bounds), lumpy_asset.read()
    cut = meshes.MeshAllocator(whole).allocate(camera, budget=1_500).cut
    frames = []
    for mesh in (lumpy_asset, whole):
        with meshes.Renderer(mesh, SIZE) as renderer:
            renderer.draw(camera, cut)
            frames.append(renderer.visible())
    np.testing.assert_array_equal(frames[0].depth, frames[1].depth)


def test_only_changes_are_uploaded(lumpy: meshes.ClusterMesh) -> None:
    placements = crowd(50, seed=1)
    scene = meshes.Scene([(lumpy, placements)])
    cameras = [
        hra.Camera.perspective((5, 5, -12), (5, 5, 5), viewport=SIZE),
        hra.Camera.perspective((5, 5, -9), (5, 5, 5), viewport=SIZE),
    ]
    allocation = scene.allocate(cameras[0], budget=30_000)
    with meshes.Renderer([(lumpy, placements)], SIZE) as renderer:
        renderer.draw(cameras[0], allocation)
        before = renderer.uploaded_bytes
        renderer.draw(cameras[1], allocation)
        assert renderer.uploaded_bytes == before
        placements = placements.copy()
        placements[7, 0, 3] += 1
        renderer.move(placements)
        assert renderer.uploaded_bytes == before + 96
        finer = meshes.Scene([(lumpy, placements)]).allocate(cameras[0], budget=31_000)
        renderer.draw(cameras[0], finer)
        rows = 4 * 50 * -(-len(lumpy.offsets) // 32)
        assert before + 96 < renderer.uploaded_bytes <= before + 96 + rows


def test_a_frozen_frame_shows_no_more_than_was_drawn(lumpy: meshes.ClusterMesh) -> None:
    camera = view(lumpy.bounds)
    cut = meshes.MeshAllocator(lumpy).allocate(camera, budget=3_000).cut
    with meshes.Renderer(lumpy, SIZE) as renderer:
        for _ in range(3):  # the first one knows nothing, the second one draws all that the first one showed
            renderer.draw(camera, cut)
        _, drawn = renderer.drawn()
        renderer.draw_again(view(lumpy.bounds, azimuth=210))
        behind = renderer.visible().clusters
        assert 0 < len(drawn) < len(cut) and set(behind[behind != raster.EMPTY].tolist()) <= set(drawn.tolist())


@pytest.mark.parametrize("coloring", ["shaded", "cluster", "overdraw"])
def test_a_first_frame_of_nothing_is_the_background(lumpy: meshes.ClusterMesh, coloring) -> None:
    nothing = np.zeros(0, np.int64)
    with meshes.Renderer(lumpy, SIZE) as renderer:
        facts = renderer.draw(view(lumpy.bounds), nothing)
        seen, picture = renderer.visible(), renderer.picture(coloring)
        assert facts.clusters == facts.drawn == 0 and (seen.clusters == raster.EMPTY).all()
        assert (picture == picture[0, 0]).all()
        renderer.draw_again(view(lumpy.bounds, azimuth=210))
        assert (renderer.picture(coloring) == picture).all()


def quad(image: np.ndarray, **options) -> meshes.ClusterMesh:
    """A square in the plane z = 0 with an image upright on it."""
    stream = io.BytesIO()
    Image.fromarray(image).save(stream, "PNG")
    points = np.array([[-1, 1, 0], [1, 1, 0], [1, -1, 0], [-1, -1, 0]], np.float32)
    attributes = meshes.VertexAttributes(
        uv=np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32) * options.pop("times", 1),
        material=np.zeros(4, np.int32),
        materials=(meshes.Material("painted", image=stream.getvalue(), **options),),
    )
    return meshes.build(meshes.TriangleMesh(points, np.array([[0, 2, 1], [0, 3, 2]], np.uint32), attributes))


def drawn_flat(mesh: meshes.ClusterMesh, size: int) -> np.ndarray:
    camera = hra.Camera.orthographic((0, 0, 400), (0, 0, 0), height=2, viewport=(size, size), far=1000)
    with meshes.Renderer(mesh, (size, size)) as renderer:
        renderer.draw(camera, np.arange(1))
        return renderer.picture()


def test_a_texture_seen_from_the_front_is_its_image() -> None:
    image = np.random.default_rng(0).integers(0, 256, (32, 32, 3), np.uint8)
    assert np.abs(drawn_flat(quad(image), 32).astype(int) - image).max() <= 1


def test_a_texture_far_away_is_its_mean() -> None:
    image = np.zeros((64, 64, 3), np.uint8)
    image[::2, ::2] = image[1::2, 1::2] = 255
    # Half of the light of white is 188 of 255 in sRGB.
    assert np.abs(drawn_flat(quad(image), 4).astype(int) - 188).max() <= 2


@pytest.mark.parametrize(
    ("wrap", "expected"), [("REPEAT", (0, 255)), ("CLAMP_TO_EDGE", (255, 255)), ("MIRRORED_REPEAT", (255, 0))]
)
def test_textures_go_on_as_their_sampler_says(wrap: str, expected: tuple[int, int]) -> None:
    """Black left and white right half, four times across."""
    image = np.zeros((16, 16, 3), np.uint8)
    image[:, 8:] = 255
    sampler = meshes.Sampler(wrap_s=wrap, wrap_t=wrap)  # pyright: ignore[reportArgumentType]
    row = drawn_flat(quad(image, times=4, sampler=sampler), 64)[2, :, 0]
    assert (row[18], row[30]) == expected


def test_base_colours_are_linear_and_vertex_colours_are_drawn() -> None:
    image = np.full((4, 4, 3), 255, np.uint8)
    assert np.abs(drawn_flat(quad(image, base_color=(0.5, 0.5, 0.5, 1)), 8).astype(int) - 188).max() <= 1
    points = np.array([[-1, 1, 0], [1, 1, 0], [1, -1, 0], [-1, -1, 0]], np.float32)
    colors = np.tile(np.array([10, 200, 90, 255], np.uint8), (4, 1))
    mesh = meshes.TriangleMesh(
        points, np.array([[0, 2, 1], [0, 3, 2]], np.uint32), meshes.VertexAttributes(colors=colors)
    )
    assert np.abs(drawn_flat(meshes.build(mesh), 8).astype(int) - [10, 200, 90]).max() <= 1


def test_colourings_show_clusters_levels_and_overdraw(lumpy: meshes.ClusterMesh) -> None:
    camera = view(lumpy.bounds)
    cut = meshes.MeshAllocator(lumpy).allocate(camera, budget=2_000).cut
    with meshes.Renderer(lumpy, SIZE) as renderer:
        renderer.draw(camera, cut, "none")
        there = renderer.visible().clusters != raster.EMPTY
        pictures = {name: renderer.picture(name) for name in ("shaded", "cluster", "level", "error", "overdraw")}
    background = pictures["shaded"][0, 0]
    for name in ("shaded", "cluster", "level", "error"):
        assert (pictures[name][~there] == background).all() and (pictures[name][there] != background).any(axis=-1).all()
    # A closed mesh is drawn twice along a ray, at least.
    assert (
        not pictures["overdraw"][~there].any()
        and (pictures["overdraw"][there][:, 0] >= 2 * 3 * 255 // 8 - 2).mean() > 0.95
    )


def test_what_cannot_be_drawn_is_refused(lumpy: meshes.ClusterMesh, lumpy_asset: meshes.MeshAsset) -> None:
    camera = view(lumpy.bounds)
    with pytest.raises(BudgetTooSmall, match="no slot"):
        meshes.Renderer(lumpy_asset, SIZE, pool_bytes=100)
    with meshes.Renderer(lumpy_asset, SIZE, pool_bytes=2 * lumpy_asset.slot_bytes) as renderer:
        with pytest.raises(HraError, match="nothing was drawn"):
            renderer.picture()
        with pytest.raises(ArrayError, match="in no slot"):
            renderer.draw(camera, np.arange(3))
    with meshes.Renderer(lumpy, SIZE) as renderer:
        with pytest.raises(CameraError, match="viewport"):
            renderer.draw(hra.Camera.orbit(lumpy.bounds, viewport=(8, 8)), np.arange(1))
        with pytest.raises(CameraError, match="kind of depth"):
            renderer.draw(view(lumpy.bounds, reversed_depth=True), np.arange(1))
        with pytest.raises(ArrayError, match="not in the mesh"):
            renderer.draw(camera, np.array([10**6]))
        with pytest.raises(ArrayError, match=r"culling .* is unknown"):
            renderer.draw(camera, np.arange(1), "some")  # pyright: ignore[reportArgumentType]
        renderer.draw(camera, np.arange(1))
        with pytest.raises(HraError, match="coloring 'mood' is unknown"):
            renderer.picture("mood")  # pyright: ignore[reportArgumentType]
        scene = meshes.Scene([(lumpy, np.tile(np.eye(4), (2, 1, 1)))])
        with pytest.raises(HraError, match="another scene"):
            renderer.draw(camera, scene.allocate(camera, budget=5_000))
    with pytest.raises((HraError, BackendUnavailable)):
        renderer.draw(camera, np.arange(1))
