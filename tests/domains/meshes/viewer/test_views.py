"""Two eyes on one cut, and textured pictures, against a rasteriser and a shader in plain NumPy."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

import hra
from hra.domains import meshes
from hra.kernels import raster
from tests.kernels.raster.plain_rasteriser import Raster, rasterise

SIZE = (121, 83)


def matrix(camera: hra.Camera) -> np.ndarray:
    return camera.projection @ camera.view


def plainly(mesh: meshes.TriangleMesh, camera: hra.Camera) -> Raster:
    corners = mesh.positions[mesh.triangles].astype(np.float64)
    return rasterise(corners, matrix(camera), camera.viewport, camera.reversed_depth)


def eyes(bounds: np.ndarray, azimuth: float) -> list[hra.Camera]:
    """Left and right eye, parallel, apart by a fifteenth of what they look at."""
    middle = hra.Camera.orbit(bounds, azimuth=azimuth, up=(0, 0, 1), viewport=SIZE, reversed_depth=True)
    apart = np.ptp(bounds, axis=0).max() / 15
    cameras = []
    for side in (apart / 2, -apart / 2):
        view = middle.view.copy()
        view[0, 3] += side
        cameras.append(hra.Camera.from_matrices(view, middle.projection, SIZE))
    return cameras


def test_two_eyes_see_one_cut_each_from_its_place(lumpy: meshes.ClusterMesh) -> None:
    allocator = meshes.MeshAllocator(lumpy)
    with meshes.Renderer(lumpy, SIZE, reversed_depth=True) as renderer:
        for azimuth in (0, 9, 75):
            both = eyes(lumpy.bounds, azimuth)
            allocation = allocator.allocate(both, budget=700)
            cut = lumpy.mesh(allocation.cut)
            assert allocation.cost == len(cut.triangles) <= 700
            uploaded, seen = [], []
            for camera in both:  # one after the other: what the other eye saw decides what is drawn first
                facts = renderer.draw(camera, allocation.cut)
                uploaded.append(renderer.uploaded_bytes)
                expected, image = plainly(cut, camera), renderer.visible()
                there = image.clusters != raster.EMPTY
                certain = expected.certain
                assert facts.triangles == len(cut.triangles) and certain.mean() > 0.7
                np.testing.assert_array_equal(there[certain], expected.triangle[certain] >= 0)
                close = np.abs(image.depth - expected.depth) <= expected.slack + 1e-6
                assert close[certain].all() and there.sum() > 1000
                seen.append(image.depth)
            assert uploaded[0] == uploaded[1] and (seen[0] != seen[1]).any()


def painted_sheet(texture: np.ndarray) -> meshes.ClusterMesh:
    """A bumpy square, its image repeated 1.7 times across."""
    stream = io.BytesIO()
    Image.fromarray(texture).save(stream, "PNG")
    side = np.linspace(0, 1, 13)
    x, y = (axis.ravel() for axis in np.meshgrid(side, side))
    points = np.column_stack([x, y, 0.08 * np.sin(7 * x) * np.cos(5 * y)]).astype(np.float32)
    corner = (np.arange(12)[:, None] * 13 + np.arange(12)).ravel()
    quads = np.stack([corner, corner + 1, corner + 14, corner + 13], 1)
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]).astype(np.uint32)
    attributes = meshes.VertexAttributes(
        uv=(1.7 * np.column_stack([x, y])).astype(np.float32),
        material=np.zeros(len(points), np.int32),
        materials=(meshes.Material("painted", image=stream.getvalue(), base_color=(0.9, 0.6, 0.8, 1)),),
    )
    return meshes.build(meshes.TriangleMesh(points, triangles, attributes), cluster_size=32)


def to_linear(color: np.ndarray) -> np.ndarray:
    return np.where(color > 0.04045, ((color + 0.055) / 1.055) ** 2.4, color / 12.92)


def bilinear(texture: np.ndarray, uv: np.ndarray) -> np.ndarray:
    """Linear light at texture coordinates [N, 2] of an sRGB image that repeats."""
    height, width = texture.shape[:2]
    at = uv * (width, height) - 0.5
    low = np.floor(at).astype(int)
    part, light, total = at - low, to_linear(texture / 255), 0.0
    for right, down in ((0, 0), (1, 0), (0, 1), (1, 1)):
        share = np.abs(1 - right - part[:, 0]) * np.abs(1 - down - part[:, 1])
        total = total + share[:, None] * light[(low[:, 1] + down) % height, (low[:, 0] + right) % width]
    return np.asarray(total)


def uv_of(mesh: meshes.TriangleMesh) -> np.ndarray:
    assert mesh.attributes is not None and mesh.attributes.uv is not None
    return mesh.attributes.uv.astype(np.float64)


def shaded_plainly(mesh: meshes.TriangleMesh, triangle: np.ndarray, rows: np.ndarray, columns: np.ndarray, **scene):
    """sRGB colours 0 .. 255 where rays through pixels meet the triangles [N] that they show."""
    camera, texture, base = scene["camera"], scene["texture"], scene["base"]
    width, height = camera.viewport
    device = np.column_stack([2 * (columns + 0.5) / width - 1, 1 - 2 * (rows + 0.5) / height])
    inverse = np.linalg.inv(matrix(camera))
    far = np.column_stack([device, np.full(len(device), 0.5), np.ones(len(device))]) @ inverse.T
    direction = far[:, :3] / far[:, 3:] - camera.position
    a, b, c = np.moveaxis(mesh.positions[mesh.triangles[triangle]].astype(np.float64), 1, 0)
    normal = np.cross(b - a, c - a)
    reach = np.sum((a - camera.position) * normal, 1) / np.sum(direction * normal, 1)
    point = camera.position + reach[:, None] * direction
    sides = [np.cross(c - b, point - b), np.cross(a - c, point - c), np.cross(b - a, point - a)]
    weights = np.stack([np.sum(side * normal, 1) for side in sides], 1) / np.sum(normal**2, 1)[:, None]
    uv = np.einsum("nk,nkc->nc", weights, uv_of(mesh)[mesh.triangles[triangle]])
    towards = camera.position - point
    facing = np.abs(np.sum(towards * normal, 1)) / np.linalg.norm(towards, axis=1) / np.linalg.norm(normal, axis=1)
    linear = bilinear(texture, uv) * base * (0.25 + 0.75 * facing)[:, None]
    return 255 * np.where(linear > 0.0031308, 1.055 * linear ** (1 / 2.4) - 0.055, 12.92 * linear)


@pytest.mark.parametrize("coarse", [False, True])
def test_a_textured_mesh_has_the_colours_of_a_plain_shader(coarse: bool) -> None:
    """Within a step of 255, seen so steeply that the image is magnified everywhere: no coarser level of it is seen."""
    texture = np.random.default_rng(2).integers(0, 256, (8, 8, 3), np.uint8)
    sheet = painted_sheet(texture)
    camera = hra.Camera.perspective((0.4, 0.1, 1.2), (0.5, 0.5, 0), (0, 0, 1), viewport=SIZE, reversed_depth=True)
    finest = np.flatnonzero(sheet.hierarchy.attribute("level") == 0)
    cut = meshes.MeshAllocator(sheet).allocate(camera, budget=150).cut if coarse else finest
    mesh = sheet.mesh(cut)
    with meshes.Renderer(sheet, SIZE, reversed_depth=True) as renderer:
        renderer.draw(camera, cut)
        picture = renderer.picture().astype(float)
    seen = plainly(mesh, camera)
    rows, columns = np.nonzero(seen.certain & (seen.triangle >= 0))
    base = np.array([0.9, 0.6, 0.8])
    expected = shaded_plainly(
        mesh, seen.triangle[rows, columns], rows, columns, camera=camera, texture=texture, base=base
    )
    assert len(rows) > 2000 and (len(mesh.triangles) < 200) == coarse
    assert np.abs(picture[rows, columns] - expected).max() <= 1
    assert expected.std(axis=0).min() > 20
