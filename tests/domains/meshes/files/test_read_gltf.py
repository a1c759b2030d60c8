"""glTF scenes: buffers, coordinates, textures, places and memory come out as the header says."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hra.domains import meshes
from hra.domains.meshes.files.gltf_coordinates import Coordinates, layout_of, map_infos, texture_infos
from hra.domains.meshes.files.gltf_files import read_buffers
from hra.domains.meshes.files.gltf_materials import laid_out
from hra.domains.meshes.files.resolver import SiblingFiles
from hra.domains.meshes.mesh.materials import Texture
from hra.errors import FileError, LimitExceeded, RepairWarning
from hra.files.limits import Limits
from tests.helpers.hostile import gltf, gltf_extensions
from tests.helpers.hostile.cases import POINTS


def test_buffers_behind_one_for_other_readers_are_read(tmp_path: Path) -> None:
    fallback = {"byteLength": 9, "extensions": {"EXT_meshopt_compression": {"fallback": True}}}
    data = {"byteLength": 3, "uri": gltf.octets(b"abcd")}
    found = read_buffers({"buffers": [fallback, data, fallback, data]}, None, SiblingFiles(tmp_path), "a.gltf")
    assert found == [b"", b"abcd", b"", b"abcd"]


def test_a_buffer_without_data_is_named(tmp_path: Path) -> None:
    files, chunk = SiblingFiles(tmp_path), memoryview(b"abcd")
    assert read_buffers({"buffers": [{"byteLength": 4}]}, chunk, files, "a.glb") == [chunk]
    for buffers, what, where in (
        ([{"byteLength": 5}], "a buffer has 4 bytes, but the header states 5", "a.glb, buffer 0"),
        ([{"byteLength": 4}, {"byteLength": 1}], "a buffer has neither a file nor data", "a.glb, buffer 1"),
    ):
        with pytest.raises(FileError, match=what) as caught:
            read_buffers({"buffers": buffers}, chunk, files, "a.glb")
        assert caught.value.where == where


MATERIAL = {
    "name": "all",
    "pbrMetallicRoughness": {
        "metallicFactor": 0.5,
        "baseColorTexture": {"index": 0},
        "metallicRoughnessTexture": {"index": 1},
    },
    "normalTexture": {"index": 2, "scale": 3},
    "occlusionTexture": {"index": 3},
    "emissiveTexture": {"index": 4, "texCoord": 1},
}


def test_every_reference_to_a_texture_is_changed_and_nothing_else() -> None:
    found = map_infos(MATERIAL, lambda info: info | {"index": info["index"] + 10})
    assert {name: info["index"] for name, info in texture_infos(found).items()} == {
        "base_color_texture": 10,
        "metallic_roughness_texture": 11,
        "normal_texture": 12,
        "occlusion_texture": 13,
        "emissive_texture": 14,
    }
    assert [info["index"] for info in texture_infos(MATERIAL).values()] == [0, 1, 2, 3, 4]
    assert found["pbrMetallicRoughness"]["metallicFactor"] == 0.5 and found["normalTexture"]["scale"] == 3
    assert map_infos({"normalTexture": {"index": 7}}, lambda info: {})["normalTexture"] == {}


@pytest.mark.parametrize(
    ("base", "normal", "there", "sets", "of"),
    [
        (None, None, [0, 1, 2], [0, 1], {}),
        (None, None, [0], [0], {}),
        (1, None, [0, 1, 2], [1, 0], {"base_color_texture": 0}),
        (2, 0, [0, 1, 2], [2, 0], {"base_color_texture": 0, "normal_texture": 1}),
        (1, 1, [0, 1], [1, 0], {"base_color_texture": 0, "normal_texture": 0}),
        (None, 2, [0, 1, 2], [0, 2], {"normal_texture": 1}),
        (0, 5, [0, 1], [0, 1], {"base_color_texture": 0}),
    ],
)
def test_vertices_get_two_sets_those_of_textures_first(
    base: int | None, normal: int | None, there: list[int], sets: list[int], of: dict[str, int]
) -> None:
    material: dict[str, Any] = {} if normal is None else {"normalTexture": {"index": 0, "texCoord": normal}}
    if base is not None:
        material["pbrMetallicRoughness"] = {"baseColorTexture": {"index": 0, "texCoord": base}}
    layout = layout_of(material, there, "a.glb")
    assert layout.sets == tuple(Coordinates(number) for number in sets) and layout.of == of


def test_coordinates_are_scaled_then_turned_then_moved() -> None:
    # A quarter turn of KHR_texture_transform takes (u, v) to (v, -u).
    found = Coordinates(0, (0.5, 2.0), np.pi / 2, (2.0, 3.0)).applied(np.array([[1.0, 0.0], [0.0, 1.0]]))
    assert np.allclose(found, [[0.5, 0.0], [3.5, 2.0]])


@pytest.mark.parametrize("name", ["EXT_texture_webp", "KHR_texture_basisu"])
def test_an_image_that_only_an_extension_names_is_read(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.gltf"
    path.write_bytes(gltf.text(gltf.edited({"textures.0": {"extensions": {name: {"source": 0}}}})))
    found = meshes.load(path).attributes
    assert found is not None and found.materials[0].image == gltf.picture()


@pytest.mark.parametrize("source", [1, -1, "0", 0.0, None, True])
def test_an_image_that_is_not_there_is_none(source: object, tmp_path: Path) -> None:
    path = tmp_path / "a.gltf"
    path.write_bytes(gltf.text(gltf.edited({"textures.0": {"extensions": {"EXT_texture_webp": {"source": source}}}})))
    found = meshes.load(path).attributes
    assert found is not None and found.materials[0].image is None


def test_only_textures_without_coordinates_are_left_out() -> None:
    material = meshes.Material("a", image=gltf.picture(), normal_texture=Texture(gltf.picture()))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert laid_out(meshes.Material("b"), {}, "a.glb") == meshes.Material("b")
        found = laid_out(material, {"base_color_texture": 0, "normal_texture": 1}, "a.glb")
    assert found.normal_texture == Texture(gltf.picture(), 1) and found.image == material.image
    with pytest.warns(RepairWarning, match="a.glb: normal_texture needs more than the two available sets"):
        assert laid_out(material, {"base_color_texture": 0}, "a.glb").normal_texture is None


def test_compressed_data_begins_with_its_buffer_where_nothing_else_is_said(tmp_path: Path) -> None:
    header = gltf_extensions.compressed()
    del header["bufferViews"][0]["extensions"]["EXT_meshopt_compression"]["byteOffset"]
    (tmp_path / "a.gltf").write_bytes(gltf.text(header))
    mesh = meshes.load(tmp_path / "a.gltf")
    assert sorted(mesh.positions.tolist()) == sorted(POINTS.tolist())


def many(folder: Path) -> Path:
    """A tetrahedron in fifty places."""
    header, chunk = gltf.plain()
    header = gltf.edited({"nodes": [{"mesh": 0, "translation": [i, 0, 0]} for i in range(50)]}, header)
    header["scenes"] = [{"nodes": list(range(50))}]
    (folder / "a.glb").write_bytes(gltf.glb(header, chunk))
    return folder / "a.glb"


@pytest.mark.filterwarnings("ignore::hra.errors.RepairWarning")
def test_memory_counts_vertices_and_triangles_in_all_places(tmp_path: Path) -> None:
    path = many(tmp_path)
    size, needed = path.stat().st_size, 50 * (4 * 100 + 4 * 60)
    assert len(meshes.load(path, limits=Limits(memory_bytes=needed - size, memory_per_byte=1)).triangles) == 200
    with pytest.raises(LimitExceeded, match=f"would take {needed:,} bytes of memory"):
        meshes.load(path, limits=Limits(memory_bytes=needed - size - 1, memory_per_byte=1))


def test_memory_counts_second_coordinates_and_tangents(tmp_path: Path) -> None:
    nodes = [{"mesh": 0, "translation": [i, 0, 0]} for i in range(50)]
    changes = {"nodes": nodes, "scenes": [{"nodes": list(range(50))}], "scene": 0}
    changes |= {"meshes.0.primitives.0.attributes.TEXCOORD_1": 2, "skins": gltf.REMOVE, "animations": gltf.REMOVE}
    path = tmp_path / "a.gltf"
    path.write_bytes(gltf.text(gltf.edited(changes)))
    size, needed = path.stat().st_size, 50 * (4 * 160 + 4 * 60)
    with pytest.raises(LimitExceeded, match=f"would take {needed:,} bytes of memory"):
        meshes.load(path, limits=Limits(memory_bytes=needed - size - 1, memory_per_byte=1))


def instanced(folder: Path, rotations: list[list[float]]) -> Path:
    """The tetrahedron turned by each of some quaternions."""
    header, chunk = gltf.plain()
    data = np.array(rotations, np.float32).tobytes()
    view, accessor = len(header["bufferViews"]), len(header["accessors"])
    header["bufferViews"].append({"buffer": 0, "byteOffset": len(chunk), "byteLength": len(data)})
    header["accessors"].append({"bufferView": view, "componentType": 5126, "count": len(rotations), "type": "VEC4"})
    header["buffers"][0]["byteLength"] = len(chunk) + len(data)
    name = "EXT_mesh_gpu_instancing"
    header["nodes"] = [{"mesh": 0, "extensions": {name: {"attributes": {"ROTATION": accessor}}}}]
    header["extensionsUsed"] = [name]
    (folder / "a.glb").write_bytes(gltf.glb(header, chunk + data))
    return folder / "a.glb"


def test_instances_are_turned_whatever_the_length_of_their_quaternion(tmp_path: Path) -> None:
    mesh = meshes.load(instanced(tmp_path, [[0, 0, 2, 2], [0, 0.5, 0, 0]]), attributes=False)
    places = np.unique(np.r_[POINTS @ [[0, 1, 0], [-1, 0, 0], [0, 0, 1]], POINTS * [-1, 1, -1]].round(6), axis=0)
    assert np.allclose(np.unique(mesh.positions.astype(float).round(6) + 0.0, axis=0), places, atol=1e-6)


def test_instances_without_a_rotation_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="a rotation of an instance has no length") as caught:
        meshes.load(instanced(tmp_path, [[0, 0, 0, 1], [0, 0, 0, 0]]))
    assert caught.value.where.endswith("a.glb, nodes[0]")
