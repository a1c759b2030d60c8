"""GLB out: valid, complete, and readable by others."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh

from hra.domains import meshes
from hra.domains.meshes.files.gltf_files import split_glb
from hra.domains.meshes.files.write_glb import glb_bytes, left_out
from hra.domains.meshes.mesh.triangle_mesh import surface_normals
from tests.helpers import gltf_validator
from tests.helpers.pbr_meshes import ktx2, picture
from tests.helpers.seamed_meshes import carried, globe, terrain, with_attributes

_TYPES = {5121: np.uint8, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}
_COLUMNS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}


def red(kind: str) -> bytes:
    return ktx2() if kind == "KTX2" else picture((255, 0, 0), kind)


def textured_globe(kind: str = "PNG") -> meshes.TriangleMesh:
    mesh = globe()
    attributes = carried(mesh)
    south = (attributes.uv[:, 1] > 0.5).astype(np.int32)
    triangles = mesh.triangles[(south[mesh.triangles] == south[mesh.triangles][:, :1]).all(axis=1)]
    materials = (
        meshes.Material("north", image=red(kind), metallic=0.0, double_sided=True),
        meshes.Material("south", (0.5, 1.0, 1.0, 0.5), red(kind), emissive=(0.1, 0.0, 0.0), alpha_mode="BLEND"),
        meshes.Material("leaves", alpha_mode="MASK", alpha_cutoff=0.25),
    )
    arrays = {"uv": attributes.uv, "normals": attributes.normals, "colors": attributes.colors}
    return meshes.from_arrays(
        mesh.positions,
        triangles,
        meshes.VertexAttributes(**arrays, material=south, materials=materials),
    )


@pytest.fixture(scope="module")
def examples(request: pytest.FixtureRequest) -> dict[str, meshes.TriangleMesh]:
    skull = request.getfixturevalue("skull_clusters")
    seamed, striped = meshes.build(globe(96, 48)), meshes.build(terrain())
    found = {"one triangle": meshes.from_arrays(np.eye(3), [[0, 1, 2]]), "several materials": textured_globe()}
    for name, clusters in {"skull": skull, "globe": seamed, "terrain": striped}.items():
        found[f"{name}, root"] = clusters.mesh(np.flatnonzero(clusters.hierarchy.added_by < 0))
        found[f"{name}, source"] = clusters.mesh(np.flatnonzero(clusters.hierarchy.removed_by < 0))
    return found


def parse(content: bytes) -> tuple[dict[str, Any], bytes]:
    magic, version, length, size, kind = struct.unpack_from("<4sIII4s", content)
    assert (magic, version, length, kind) == (b"glTF", 2, len(content), b"JSON")
    binary_size, binary_kind = struct.unpack_from("<I4s", content, 20 + size)
    assert binary_kind == b"BIN\0"
    assert 28 + size + binary_size == len(content)
    return json.loads(content[20 : 20 + size]), content[28 + size :]


def array_of(header: dict[str, Any], binary: bytes, number: int) -> np.ndarray:
    accessor = header["accessors"][number]
    view = header["bufferViews"][accessor["bufferView"]]
    assert view["byteOffset"] % 4 == 0
    part = binary[view["byteOffset"] : view["byteOffset"] + view["byteLength"]]
    array = np.frombuffer(part, _TYPES[accessor["componentType"]]).reshape(-1, _COLUMNS[accessor["type"]])
    assert len(array) == accessor["count"]
    return array


def test_primitives_hold_the_triangles_of_their_material(examples: dict[str, meshes.TriangleMesh]) -> None:
    for mesh in examples.values():
        content = glb_bytes(mesh)
        split_glb(content, "memory")
        header, binary = parse(content)
        assert header["buffers"] == [{"byteLength": len(binary)}]
        count = 0
        for primitive in header["meshes"][0]["primitives"]:
            indices = array_of(header, binary, primitive["indices"]).reshape(-1, 3)
            arrays = {name: array_of(header, binary, n) for name, n in primitive["attributes"].items()}
            assert {len(array) for array in arrays.values()} == {int(indices.max()) + 1}
            position = header["accessors"][primitive["attributes"]["POSITION"]]
            assert position["min"] == arrays["POSITION"].min(axis=0).tolist()
            assert position["max"] == arrays["POSITION"].max(axis=0).tolist()
            material = primitive.get("material")
            mine = mesh.triangles
            if material is not None:
                mine = mine[carried(mesh).material[mine[:, 0]] == material]
                assert header["materials"][material]["name"] == carried(mesh).materials[material].name
            assert np.array_equal(arrays["POSITION"][indices], mesh.positions[mine])
            if "TEXCOORD_0" in arrays:
                assert np.array_equal(arrays["TEXCOORD_0"][indices], carried(mesh).uv[mine])
            if "COLOR_0" in arrays:
                assert np.array_equal(arrays["COLOR_0"][indices], carried(mesh).colors[mine])
            if "NORMAL" in arrays:
                assert np.abs(np.linalg.norm(arrays["NORMAL"], axis=1) - 1).max() < 1e-5
            count += len(indices)
        assert count == len(mesh.triangles)


def test_images_are_stored_once_and_byte_by_byte() -> None:
    header, binary = parse(glb_bytes(textured_globe()))
    assert len(header["images"]) == len(header["textures"]) == 1
    view = header["bufferViews"][header["images"][0]["bufferView"]]
    assert binary[view["byteOffset"] : view["byteOffset"] + view["byteLength"]] == red("PNG")
    assert header["images"][0]["mimeType"] == "image/png"


@pytest.mark.parametrize(
    ("kind", "name"),
    [("WEBP", "EXT_texture_webp"), ("AVIF", "EXT_texture_avif"), ("KTX2", "KHR_texture_basisu")],
)
@pytest.mark.parametrize("form", ["one mesh", "built", "levels", "compressed"])
def test_images_of_extensions_are_kept_byte_by_byte(kind: str, name: str, form: str, tmp_path: Path) -> None:
    mesh, path = textured_globe(kind), tmp_path / "a.glb"
    if form == "one mesh":
        mesh.export(path)
    elif form == "built":
        meshes.build(mesh).save(tmp_path / "a.hra")
        built = meshes.load_clusters(tmp_path / "a.hra")
        built.mesh(np.flatnonzero(built.hierarchy.removed_by < 0)).export(path)
    elif form == "levels":
        meshes.lod_chain(mesh, (1.0, 0.5)).export_one(path)
    else:
        path.write_bytes(meshes.compressed_glb(mesh))
    header, binary = parse(path.read_bytes())
    (image,) = header["images"]
    view, wanted = header["bufferViews"][image["bufferView"]], red(kind)
    assert binary[view["byteOffset"] : view["byteOffset"] + view["byteLength"]] == wanted
    assert image["mimeType"] == f"image/{kind.lower()}" and header["textures"] == [
        {"extensions": {name: {"source": 0}}}
    ]
    assert name in header["extensionsUsed"] and name in header["extensionsRequired"]
    loaded = meshes.load(path)
    assert {material.image for material in carried(loaded).materials} <= {wanted, None}


def test_equal_meshes_give_equal_bytes() -> None:
    assert glb_bytes(textured_globe()) == glb_bytes(textured_globe())


def test_everything_comes_back(tmp_path: Path) -> None:
    mesh = textured_globe()
    mesh.export(tmp_path / "a.glb")
    again = meshes.load(tmp_path / "a.glb")
    assert carried(again).materials[:2] == carried(mesh).materials[:2]
    assert carried(again).names == carried(mesh).names
    ours, theirs = ({tuple(row) for row in _corners(m)} for m in (mesh, again))
    assert ours == theirs


def _corners(mesh: meshes.TriangleMesh) -> np.ndarray:
    """One row per triangle: positions, coordinates, colours and material of its corners."""
    a = carried(mesh)
    rows = np.concatenate([mesh.positions, a.uv, a.colors, a.material[:, None]], axis=1)
    return rows[mesh.triangles].reshape(len(mesh.triangles), -1)


def test_trimesh_reads_what_was_written(tmp_path: Path) -> None:
    mesh = textured_globe()
    mesh.export(tmp_path / "a.glb")
    parts = list(trimesh.load_scene(tmp_path / "a.glb", process=False).geometry.values())
    assert [part.visual.material.name for part in parts] == ["north", "south"]
    assert sum(len(part.faces) for part in parts) == len(mesh.triangles)
    assert np.asarray(parts[0].visual.material.baseColorTexture)[0, 0].tolist()[:3] == [255, 0, 0]


def test_large_primitives_have_32_bit_indices() -> None:
    count = 70_000
    points = np.stack([np.arange(count), np.arange(count) % 2, np.zeros(count)], 1)
    faces = np.stack([np.arange(count - 2), np.arange(1, count - 1), np.arange(2, count)], 1)
    header, binary = parse(glb_bytes(meshes.TriangleMesh(points.astype(np.float32), faces.astype(np.uint32))))
    indices = header["meshes"][0]["primitives"][0]["indices"]
    assert header["accessors"][indices]["componentType"] == 5125
    assert np.array_equal(array_of(header, binary, indices).reshape(-1, 3), faces)


def test_missing_normals_are_those_of_the_surface() -> None:
    mesh = globe(bumps=0.0)
    normals = carried(mesh).normals.copy()
    normals[::3] = 0
    header, binary = parse(glb_bytes(with_attributes(mesh, normals=normals)))
    written = array_of(header, binary, header["meshes"][0]["primitives"][0]["attributes"]["NORMAL"])
    assert (np.einsum("va,va->v", written, carried(mesh).normals) > 0.98).all()
    flat = meshes.TriangleMesh(np.zeros((3, 3), np.float32), np.array([[0, 1, 2]], np.uint32))
    assert surface_normals(flat).tolist() == [[0, 0, 1]] * 3


@pytest.mark.skipif(not gltf_validator.available(), reason="Node.js or the npm package gltf-validator is missing")
def test_khronos_validator_finds_nothing(examples: dict[str, meshes.TriangleMesh], tmp_path: Path) -> None:
    for name, mesh in examples.items():
        mesh.export(tmp_path / "a.glb")
        found = gltf_validator.issues(tmp_path / "a.glb")
        assert (found["numErrors"], found["numWarnings"]) == (0, 0), (name, found["messages"])


def test_what_a_format_does_not_hold_is_true_of_its_files(tmp_path: Path) -> None:
    """A GLB file holds a second set of coordinates and tangents, and no note says otherwise."""
    count = 3
    names = {"uv": 2, "normals": 3, "uv2": 2, "tangents": 4}
    arrays = {name: np.zeros((count, columns), np.float32) for name, columns in names.items()}
    arrays["normals"][:, 2] = arrays["tangents"][:, 0] = arrays["tangents"][:, 3] = 1
    triangle = np.array([[0, 1, 2]], np.uint32)
    mesh = meshes.TriangleMesh(np.eye(3, dtype=np.float32), triangle, meshes.VertexAttributes(**arrays))  # pyright: ignore[reportArgumentType]
    mesh.export(tmp_path / "a.glb")
    found = meshes.load(tmp_path / "a.glb").attributes
    assert found is not None and mesh.attributes is not None
    assert set(left_out(found.names, ".glb")) == set(mesh.attributes.names) - set(found.names)
    assert left_out(mesh.attributes.names, ".glb") == []
