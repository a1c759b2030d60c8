"""Mesh files: every format is read, every broken file is a typed error, nothing is fetched."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh

from hra.domains import meshes
from hra.errors import FileError, HraError, LimitExceeded, MeshError, MissingExtra, RepairWarning
from hra.files.limits import Limits
from tests.helpers.hostile.cases import FACES, POINTS
from tests.helpers.hostile.gltf import inline

OBJ = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def gltf(**changes: Any) -> dict[str, Any]:
    """A glTF with one embedded tetrahedron; ``changes`` replace top-level entries."""
    return inline() | changes


@pytest.mark.parametrize("suffix", [".glb", ".obj", ".off", ".ply", ".stl"])
def test_every_format_round_trips(suffix: str, bumpy: meshes.TriangleMesh, tmp_path: Path) -> None:
    path = tmp_path / f"bumpy{suffix}"
    bumpy.export(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RepairWarning)
        mesh = meshes.load(path)
    assert meshes.is_closed(mesh)
    assert np.allclose(mesh.positions[mesh.triangles], bumpy.positions[bumpy.triangles], atol=1e-7)


def test_gltf_scenes_are_joined_with_their_transforms(tmp_path: Path) -> None:
    nodes = [{"mesh": 0, "children": [1]}, {"mesh": 0, "translation": [5, 0, 0]}]
    mesh = meshes.load(written(tmp_path, "two.gltf", json.dumps(gltf(nodes=nodes))))
    assert len(mesh.triangles) == 8
    assert mesh.bounds.tolist() == [[0, 0, 0], [6, 1, 1]]


@pytest.mark.case(17)
def test_polygons_are_triangulated(tmp_path: Path) -> None:
    quads = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf -4 -3 -2 -1\n"
    with pytest.warns(RepairWarning, match="polygons"):
        mesh = meshes.load(written(tmp_path, "quad.obj", quads))
    assert len(mesh.triangles) == 2


@pytest.mark.case(6)
def test_negative_obj_indices_count_back_from_their_line(tmp_path: Path) -> None:
    blocks = "".join(f"v {x} 0 0\nvt 0 0\nv {x + 1} 0 0\nv {x} 1 0\nf -3/-1 -2/-1 -1/-1\n" for x in (0, 5))
    mesh = meshes.load(written(tmp_path, "blocks.obj", blocks))
    assert mesh.positions[mesh.triangles][:, :, 0].tolist() == [[0, 1, 0], [5, 6, 5]]


@pytest.mark.case(35)
def test_names_of_any_language_are_read(tmp_path: Path) -> None:
    assert len(meshes.load(written(tmp_path, "Schädel 頭.obj", OBJ + "f 1 2 3\n")).triangles) == 1


@pytest.mark.case(35)
@pytest.mark.parametrize(
    ("name", "content"),
    [
        (os.fsdecode(b"sch\xe4del.obj"), OBJ.encode() + b"f 1 2 3\n"),
        ("names.obj", b"o S\xe4ule\nusemtl gr\xfcn\n" + OBJ.encode() + b"f 1 2 3\n"),
        (
            "name.stl",
            b"solid S\xe4ule\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n"
            b"endloop\nendfacet\nendsolid S\xe4ule\n",
        ),
    ],
    ids=["path", "obj", "stl"],
)
def test_names_that_are_not_utf_8_are_read(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    assert len(meshes.load(tmp_path / name).triangles) == 1


def ply(
    vertices: str = "0 0 0\n1 0 0\n0 1 0\n", faces: str = "3 0 1 2\n", counts: tuple[object, object] = (3, 1)
) -> str:
    return (
        f"ply\nformat ascii 1.0\nelement vertex {counts[0]}\nproperty float x\nproperty float y\nproperty float z\n"
        f"element face {counts[1]}\nproperty list uchar int vertex_indices\nend_header\n{vertices}{faces}"
    )


def stl(count: int, triangles: int = 1) -> bytes:
    return bytes(80) + struct.pack("<I", count) + bytes(50 * triangles)


def glb(header: dict[str, Any], length: int = 0, version: int = 2, magic: bytes = b"glTF") -> bytes:
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 4)
    return (
        magic + struct.pack("<II", version, length or len(text) + 20) + struct.pack("<I4s", len(text), b"JSON") + text
    )


HUGE = [{"componentType": 5126, "count": 2_000_000_000, "type": "VEC3"}]
OVER = [{"bufferView": 0, "componentType": 5126, "count": 5, "type": "VEC3"}]

BROKEN_FILES: dict[str, tuple[str, str | bytes]] = {
    "empty file": ("a.ply", b""),
    "points only, ply": ("a.ply", ply(faces="", counts=(3, 0))),
    "points only, obj": ("a.obj", OBJ),
    "nan": ("a.ply", ply("0 0 nan\n1 0 0\n0 1 0\n")),
    "index out of range, ply": ("a.ply", ply(faces="3 0 1 9\n")),
    "index out of range, obj": ("a.obj", OBJ + "f 1 2 9\n"),
    "index out of range, off": ("a.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 7\n"),
    "obj index 0": ("a.obj", OBJ + "f 1 2 3\nf 0 1 2\n"),
    "obj index before the first vertex": ("a.obj", OBJ + "f -5 -2 -1\n"),
    "obj index 0 with texture": ("a.obj", OBJ + "f 1/1 0/1 2/1\n"),
    "2^31 vertices claimed": ("a.ply", ply(counts=(2**31, 1))),
    "2^31 faces claimed": ("a.ply", ply(counts=(3, 2**31))),
    "negative count": ("a.ply", ply(counts=(-3, 1))),
    "truncated ply": ("a.ply", ply(vertices="0 0 0\n1 0 0\n", faces="")),
    "wrong magic, ply": ("a.ply", b"PK\x03\x04" * 20),
    "wrong magic, glb": ("a.glb", glb(gltf(), magic=b"glTX")),
    "version 1 glb": ("a.glb", glb(gltf(), version=1)),
    "lying glb length": ("a.glb", glb(gltf(), length=10**9)),
    "truncated glb": ("a.glb", glb(gltf())[:-30]),
    "lying stl count": ("a.stl", stl(4_000_000_000)),
    "truncated stl": ("a.stl", stl(2)),
    "text stl without end": ("a.stl", "solid x\nfacet normal 0 0 1\n"),
    "accessor of 24 GB": ("a.glb", glb(gltf(accessors=HUGE))),
    "accessor beyond its view": ("a.gltf", json.dumps(gltf(accessors=OVER))),
    "cyclic nodes": ("a.gltf", json.dumps(gltf(nodes=[{"mesh": 0, "children": [1]}, {"children": [0]}]))),
    "3,000 deep nodes": (
        "a.gltf",
        json.dumps(gltf(nodes=[{"children": [i + 1]} for i in range(3000)] + [{"mesh": 0}])),
    ),
    "lines": ("a.gltf", json.dumps(gltf(meshes=[{"primitives": [{"attributes": {"POSITION": 0}, "mode": 1}]}]))),
    "missing view": ("a.gltf", json.dumps(gltf(bufferViews=[]))),
    "no JSON": ("a.gltf", "{"),
    "deep JSON": ("a.gltf", "[" * 100_000),
    "JSON list": ("a.gltf", "[]"),
    "missing buffer": ("a.gltf", json.dumps(gltf(buffers=[{"byteLength": 72, "uri": "gone.bin"}]))),
    "path traversal": ("a.gltf", json.dumps(gltf(buffers=[{"byteLength": 72, "uri": "../secret.bin"}]))),
    "encoded traversal": ("a.gltf", json.dumps(gltf(buffers=[{"byteLength": 72, "uri": "%2e%2e%2fsecret.bin"}]))),
    "absolute path": ("a.gltf", json.dumps(gltf(buffers=[{"byteLength": 72, "uri": "/etc/passwd"}]))),
    "file address": ("a.gltf", json.dumps(gltf(buffers=[{"byteLength": 72, "uri": "file:///etc/passwd"}]))),
    "http address": ("a.gltf", json.dumps(gltf(buffers=[{"byteLength": 72, "uri": "http://localhost/x.bin"}]))),
    "unknown format": ("a.xyz", "0 0 0\n"),
    "zip": ("a.zip", b"PK\x03\x04"),
    "zipped XML": ("a.3mf", b"PK\x03\x04"),
    "XML": ("a.dae", '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><x>&b;</x>'),
}


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        pytest.fail("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)


@pytest.mark.case(1, 2, 5, 6, 21, 24, 25, 27, 28, 29, 30, 31, 32, 33, 34)
@pytest.mark.parametrize("case", BROKEN_FILES)
def test_broken_files_are_typed_errors(case: str, tmp_path: Path, no_network: None) -> None:
    (tmp_path / "inner").mkdir()
    written(tmp_path, "secret.bin", POINTS.tobytes() + FACES.astype(np.uint16).tobytes())
    path = written(tmp_path / "inner", *BROKEN_FILES[case])
    with pytest.raises((FileError, MeshError)) as error:
        meshes.load(path)
    assert path.name in error.value.where or error.value.where.endswith((".bin", "passwd"))


@pytest.mark.parametrize("asset", [{"asset": {"version": "1.0"}}, {"asset": {"version": 1}}, {"asset": {}}, {}])
def test_the_first_version_is_named_with_what_converts_it(asset: dict[str, Any], tmp_path: Path) -> None:
    header = {"meshes": {"mesh_0": {"primitives": []}}, **asset}  # its lists are objects by name
    for name, content in {"a.gltf": json.dumps(header), "a.glb": glb(gltf(), version=1)}.items():
        with pytest.raises(FileError, match=r"(glTF|GLB) 1") as error:
            meshes.load(written(tmp_path, name, content))
        assert "npx gltf-pipeline" in error.value.fix


@pytest.mark.case(23)
def test_truncation_anywhere_is_an_error_or_a_mesh(bumpy: meshes.TriangleMesh, tmp_path: Path) -> None:
    small = meshes.from_arrays(POINTS, FACES)
    for suffix in (".glb", ".ply", ".stl"):
        small.export(tmp_path / f"whole{suffix}")
        content = (tmp_path / f"whole{suffix}").read_bytes()
        for end in range(0, len(content), 7):
            with pytest.raises(HraError):
                meshes.load(written(tmp_path, f"cut{suffix}", content[:end]))


def test_damaged_bytes_never_escape_as_other_errors(tmp_path: Path, rng: np.random.Generator) -> None:
    small = meshes.from_arrays(POINTS, FACES)
    for suffix in (".glb", ".ply", ".obj", ".off"):
        small.export(tmp_path / f"whole{suffix}")
        content = np.frombuffer((tmp_path / f"whole{suffix}").read_bytes(), np.uint8)
        for _ in range(60):
            damaged = content.copy()
            damaged[rng.integers(0, len(content), 3)] = rng.integers(0, 256, 3)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with contextlib.suppress(HraError):
                    meshes.load(written(tmp_path, f"damaged{suffix}", damaged.tobytes()))


@pytest.mark.case(32)
def test_missing_files_and_addresses_are_refused(tmp_path: Path, no_network: None) -> None:
    for path in (tmp_path / "none.ply", tmp_path, "http://localhost/a.ply", "https://localhost/a.glb"):
        with pytest.raises(FileError):
            meshes.load(path)


@pytest.mark.case(31)
def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    secret = written(tmp_path, "secret.bin", POINTS.tobytes() + FACES.astype(np.uint16).tobytes())
    (tmp_path / "inner" / "link.bin").symlink_to(secret)
    header = gltf(buffers=[{"byteLength": 72, "uri": "link.bin"}])
    with pytest.raises(FileError, match="outside"):
        meshes.load(written(tmp_path / "inner", "a.gltf", json.dumps(header)))


def test_a_buffer_beside_the_file_is_read(tmp_path: Path) -> None:
    written(tmp_path, "my buffer.bin", POINTS.tobytes() + FACES.astype(np.uint16).tobytes())
    header = gltf(buffers=[{"byteLength": 72, "uri": "my%20buffer.bin"}])
    assert len(meshes.load(written(tmp_path, "a.gltf", json.dumps(header))).triangles) == 4


@pytest.mark.case(30)
@pytest.mark.parametrize("library", ["../../secret.mtl", "/etc/passwd", "http://localhost/a.mtl", "C:\\a.mtl"])
def test_materials_outside_of_the_folder_are_refused(library: str, tmp_path: Path, no_network: None) -> None:
    path = written(tmp_path, "a.obj", f"mtllib {library}\n{OBJ}usemtl x\nf 1 2 3\n")
    with pytest.raises(FileError, match="outside"):
        meshes.load(path)
    assert len(meshes.load(path, attributes=False).triangles) == 1


def test_large_files_are_refused_before_reading(tmp_path: Path) -> None:
    with pytest.raises(LimitExceeded, match="file bytes, more than the limit of 10"):
        meshes.load(written(tmp_path, "a.obj", OBJ), limits=Limits(file_bytes=10))


def test_without_trimesh_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(__import__("sys").modules, "trimesh", None)
    with pytest.raises(MissingExtra, match=r"hra\[formats\]"):
        meshes.from_arrays(POINTS, FACES).export(tmp_path / "a.obj")
    for name in ("a.glb", "a.ply"):
        meshes.from_arrays(POINTS, FACES).export(tmp_path / name)


@pytest.mark.case(22)
def test_triangle_strips_are_a_mesh_or_an_error(tmp_path: Path) -> None:
    strip = gltf(meshes=[{"primitives": [{"attributes": {"POSITION": 0}, "mode": 5}]}])
    assert len(meshes.load(written(tmp_path, "a.gltf", json.dumps(strip))).triangles) == 2


def test_trimesh_agrees_on_the_skull(skull: meshes.TriangleMesh) -> None:
    import hra

    theirs = trimesh.load_mesh(hra.samples.path("skull.ply"), process=False)
    assert np.array_equal(skull.positions[skull.triangles], np.asarray(theirs.vertices, np.float32)[theirs.faces])
    assert meshes.is_closed(skull)
