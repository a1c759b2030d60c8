"""glTF scenes: buffers, coordinates, textures, places and memory come out as the header says."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

from hra.domains import meshes
from hra.domains.meshes.files.gltf_materials import laid_out
from hra.domains.meshes.mesh.materials import Texture
from hra.errors import FileError, LimitExceeded, RepairWarning
from hra.files.limits import Limits
from tests.helpers import draco
from tests.helpers.hostile import gltf, gltf_extensions
from tests.helpers.hostile.cases import POINTS


@pytest.mark.parametrize("name", ["EXT_texture_avif", "EXT_texture_webp", "KHR_texture_basisu"])
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


@pytest.mark.parametrize("kind", ["meshopt", "draco"])
def test_compressed_geometry_counts_as_long_as_it_unpacks(kind: str, tmp_path: Path) -> None:
    """A scan of two million triangles may be a file of 5 MB: that is no bomb."""
    path = tmp_path / "a.glb"
    if kind == "draco":
        scene = draco.compressed(path)
        vertices, triangles = len(scene.positions), len(scene.triangles)
        needed, plain = 100 * vertices + 60 * triangles, 12 * vertices + 6 * triangles
    else:
        places = {"nodes": [{"mesh": 0}] * 50, "scenes": [{"nodes": list(range(50))}]}
        path = tmp_path / "a.gltf"
        path.write_bytes(gltf.text(gltf.edited(places, gltf_extensions.compressed())))
        plain = 12 * 4 + 2 * 12
        needed = 50 * (100 * 4 + 60 * 4) + plain
    size = path.stat().st_size
    fixed = needed - size - plain
    assert len(meshes.load(path, limits=Limits(memory_bytes=fixed, memory_per_byte=1)).triangles)
    with pytest.raises(LimitExceeded, match=f"its {size:,} bytes would take {needed:,} bytes of memory"):
        meshes.load(path, limits=Limits(memory_bytes=fixed - 1, memory_per_byte=1))


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
