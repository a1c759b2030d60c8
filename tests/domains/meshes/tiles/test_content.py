"""Compressed GLB files: what decoders get, and the textures in them."""

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from hra.domains import meshes
from hra.domains.meshes.files.gltf_files import split_glb
from hra.domains.meshes.files.gltf_scene import GltfScene
from hra.domains.meshes.mesh.point_grid import PointGrid
from hra.domains.meshes.tiles.checking import glb_corners
from hra.domains.meshes.tiles.content import SharedTextures, with_own_textures
from hra.errors import MeshError
from tests.domains.meshes.conftest import grid_mesh
from tests.helpers.pbr_meshes import ktx2


def picture(size=64, kind="PNG"):
    values = np.zeros((size, size, 3), np.uint8)
    values[..., 0], values[..., 1] = (
        np.arange(size)[None] * 255 // (size - 1),
        np.arange(size)[:, None] * 255 // (size - 1),
    )
    buffer = io.BytesIO()
    Image.fromarray(values).save(buffer, kind)
    return buffer.getvalue()


def textured(uv, kind="PNG") -> Any:
    positions = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], np.float32)
    attributes = meshes.VertexAttributes(
        uv=np.array(uv, np.float32),
        normals=np.array([[0.6, 0, 0.8]] * 4, np.float32),
        colors=np.array([[1, 2, 3, 255]] * 4, np.uint8),
        material=np.ones(4, np.int32),
        materials=(meshes.Material("unused", image=picture(8)), meshes.Material("used", image=picture(kind=kind))),
    )
    return meshes.TriangleMesh(positions, np.array([[0, 1, 2], [0, 2, 3]], np.uint32), attributes)


SQUARE = [[0.25, 0.25], [0.5, 0.25], [0.5, 0.5], [0.25, 0.5]]


def streams(content):
    text, binary = split_glb(content, "")
    header = json.loads(text)
    return header, np.frombuffer(binary or b"", np.uint8)


@pytest.mark.parametrize("uv", [SQUARE, [[0, 0], [3, 0], [3, 3], [0, 3]]])
def test_attributes_come_back(uv, tmp_path):
    (tmp_path / "a.glb").write_bytes(meshes.compressed_glb(textured(uv)))
    read = GltfScene.open(tmp_path / "a.glb").accessors
    numbers = read.header["meshes"][0]["primitives"][0]["attributes"]
    assert np.abs(read.scale(numbers["NORMAL"]) - [0.6, 0, 0.8]).max() < 0.003
    assert np.abs(np.sort(read.scale(numbers["TEXCOORD_0"]), axis=0) - np.sort(uv, axis=0)).max() <= 2.0**-17
    assert (read.array(numbers["COLOR_0"]) == [1, 2, 3, 255]).all()


def test_positions_outside_of_a_grid_are_refused():
    mesh = textured(SQUARE)
    grid = PointGrid.around(mesh.positions / 4, 16)
    with pytest.raises(MeshError, match="outside of the grid"):
        meshes.compressed_glb(mesh, grid)


def test_only_materials_in_use_are_written():
    header, _ = streams(meshes.compressed_glb(textured(SQUARE)))
    assert [entry["name"] for entry in header["materials"]] == ["used"]
    assert header["meshes"][0]["primitives"][0]["material"] == 0 and len(header["images"]) == 1


def test_positions_are_within_half_a_step(tmp_path):
    points = np.random.default_rng(0).normal(0, 30, (300, 3)).astype(np.float32)
    mesh = meshes.TriangleMesh(points, np.arange(300, dtype=np.uint32).reshape(-1, 3))
    content = meshes.compressed_glb(mesh)
    (tmp_path / "a.glb").write_bytes(content)
    step = streams(content)[0]["nodes"][0]["scale"][0]
    corners, place = glb_corners(tmp_path / "a.glb")
    found = np.unique((corners + place).astype(np.float32).reshape(-1, 3), axis=0)
    far = np.linalg.norm(found[:, None] - points[None], axis=2).min(axis=1)
    assert far.max() <= step * np.sqrt(3) / 2 * 1.001


@pytest.mark.parametrize("size", [0.9, 0.27])
def test_files_say_their_grid_exactly(size):
    mesh = textured(SQUARE)
    mesh = replace(mesh, positions=(mesh.positions * size + 0.1234).astype(np.float32))
    grid = PointGrid.around(mesh.positions, 16)
    place = streams(meshes.compressed_glb(mesh))[0]["nodes"][0]
    assert (tuple(place["translation"]), place["scale"]) == (grid.origin, [grid.step] * 3)


def test_large_meshes_get_wide_indices(tmp_path):
    count = 3 * 23_000
    points = np.random.default_rng(0).random((count, 3)).astype(np.float32)
    mesh = meshes.TriangleMesh(points, np.arange(count, dtype=np.uint32).reshape(-1, 3))
    (tmp_path / "a.glb").write_bytes(meshes.compressed_glb(mesh))
    assert len(glb_corners(tmp_path / "a.glb")[0]) == 23_000


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "AVIF"])
def test_a_tile_gets_its_part_of_the_texture(kind):
    own: Any = with_own_textures(textured(SQUARE, kind), 1.0)
    material, uv = own.attributes.materials[1], own.attributes.uv
    image: Any = Image.open(io.BytesIO(material.image)).convert("RGB")
    assert image.format is None and material.image_type == f"image/{kind.lower()}" and image.width < 24
    # The colours of the picture are its coordinates.
    for place, expected in zip(uv, SQUARE, strict=True):
        x, y = np.clip(place * image.size, 0, np.array(image.size) - 1).astype(int)
        assert np.abs(np.array(image.getpixel((int(x), int(y)))[:2]) / 255 - expected).max() < 0.05


def test_coarse_tiles_get_fewer_pixels():
    whole: Any = with_own_textures(textured([[0, 0], [1, 0], [1, 1], [0, 1]]), 1 / 16)
    assert Image.open(io.BytesIO(whole.attributes.materials[1].image)).size == (16, 16)
    assert (whole.attributes.uv == [[0, 0], [1, 0], [1, 1], [0, 1]]).all()


def test_whole_images_keep_their_bytes():
    mesh = textured([[0, 0], [1, 0], [1, 1], [0, 1]])
    own: Any = with_own_textures(mesh, 1.0)
    assert own.attributes.materials == mesh.attributes.materials


@pytest.mark.parametrize(("share", "image"), [(1.0, ktx2()), (1 / 64, ktx2()), (1.0, ktx2(height=0))])
def test_images_that_are_not_decoded_are_shared_as_they_are(share, image):
    mesh = textured(SQUARE)
    mesh = replace(mesh, attributes=replace(mesh.attributes, materials=(meshes.Material("used", image=image),) * 2))
    shared = SharedTextures([(mesh, share)])
    own: Any = with_own_textures(mesh, share, shared)
    assert own.attributes.materials == mesh.attributes.materials and (own.attributes.uv == mesh.attributes.uv).all()
    assert shared.files == {image: "image0000.ktx2"}
    alone: Any = with_own_textures(mesh, share)
    assert alone.attributes.materials == mesh.attributes.materials


def test_repeated_images_are_not_cut():
    mesh = textured([[0, 0], [3, 0], [3, 3], [0, 3]])
    own: Any = with_own_textures(mesh, 1 / 4)
    assert (own.attributes.uv == mesh.attributes.uv).all()
    assert Image.open(io.BytesIO(own.attributes.materials[1].image)).size == (32, 32)


_SIDE = 1024


def mapped(size: int, scattered: bool, kind: str) -> meshes.TriangleMesh:
    """Waves under a photo, as one chart or with a chart for each triangle anywhere in it."""
    waves = grid_mesh(size, 0.1)
    corners = waves.positions[waves.triangles].reshape(-1, 3)
    uv = waves.positions[:, :2][waves.triangles]
    uv = (uv - uv.min()) / np.ptp(uv)
    if scattered:
        rng = np.random.default_rng(0)
        uv = (uv - uv.mean(axis=1, keepdims=True)) + rng.uniform(0.1, 0.9, (len(uv), 1, 2))
    rng, stream = np.random.default_rng(1), io.BytesIO()
    noise = Image.fromarray(rng.integers(0, 255, (_SIDE, _SIDE, 3), np.uint8))
    noise.save(stream, kind.split()[0], **({"lossless": True} if "lossless" in kind else {"quality": 60}))
    attributes = meshes.VertexAttributes(
        uv=np.clip(uv, 0, 1).reshape(-1, 2).astype(np.float32),
        material=np.zeros(len(corners), np.int32),
        materials=(meshes.Material(image=stream.getvalue()),),
    )
    return meshes.TriangleMesh(corners, np.arange(len(corners), dtype=np.uint32).reshape(-1, 3), attributes)


@pytest.mark.parametrize(
    ("kind", "scattered"),
    [("JPEG", False), ("JPEG", True), ("WEBP", False), ("WEBP", True), ("WEBP lossless", False), ("AVIF", False)],
)
def test_images_of_the_finest_tiles_take_no_more_than_the_source(tmp_path: Path, kind: str, scattered: bool) -> None:
    mesh = mapped(64, scattered, kind)
    assert mesh.attributes is not None
    image = mesh.attributes.materials[0].image
    assert image is not None
    tree = meshes.build_tiles(mesh, 2048)
    tree.save(tmp_path)
    taken: dict[Any, int] = {}
    for tile in np.flatnonzero(tree.mesh.hierarchy.attribute("level") == 0).tolist():
        header, binary = streams((tmp_path / f"tile{tile:04}.glb").read_bytes())
        (entry,) = header["images"]
        if "uri" in entry:
            assert (tmp_path / entry["uri"]).read_bytes() == image
            taken[entry["uri"]] = len(image)
        else:
            assert binary.size
            taken[tile] = header["bufferViews"][entry["bufferView"]]["byteLength"]
    assert len(taken) == (1 if scattered else 4)
    assert sum(taken.values()) <= 1.1 * len(image)
    assert meshes.check_tileset(tmp_path, cuts=20).sound
