"""What of a scene is simplified, and what stands for what."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest

from hra.domains import meshes
from hra.domains.meshes.files.gltf_scene import GltfScene
from hra.domains.meshes.lods.stand_in import StandIn
from hra.errors import RepairWarning
from tests.helpers.scenes import Read, Scene


def test_a_copy_of_what_is_left_as_it_is_is_simplified(tmp_path: Path) -> None:
    """Two meshes hold the same; only the one that is shown larger has an extension that nobody knows."""
    scene = Scene()
    scene.header["meshes"].append(copy.deepcopy(scene.header["meshes"][0]) | {"extensions": {"X_solid": {}}})
    scene.header["nodes"].append({"mesh": 1, "scale": [3, 3, 3]})
    scene.header["scenes"][0]["nodes"].append(1)
    opened = GltfScene.open(scene.write(tmp_path / "scene.glb"))
    with pytest.warns(RepairWarning, match=r"meshes\[1\].*X_solid") as said:
        stand_in = StandIn.of(opened, once=True)
    assert [warning.filename for warning in said] == [__file__]
    count = scene.triangles.size // 3
    assert stand_in.place == [(0, 0)] and stand_in.copies == {} and stand_in.shown.tolist() == [1]
    assert stand_in.left == count and stand_in.count({}) == 2 * count


def test_copies_are_those_of_the_one_shown_largest(tmp_path: Path) -> None:
    scene = Scene()
    scene.header["meshes"].append(copy.deepcopy(scene.header["meshes"][0]))
    scene.header["nodes"].append({"mesh": 1, "scale": [2, 2, 2]})
    scene.header["scenes"][0]["nodes"].append(1)
    opened = GltfScene.open(scene.write(tmp_path / "scene.glb"))
    stand_in = StandIn.of(opened, once=True)
    assert stand_in.place == [(1, 0)] and stand_in.copies == {1: [0]} and stand_in.alike((1, 0)) == [(1, 0), (0, 0)]
    assert stand_in.shown.tolist() == pytest.approx([1.25])
    assert StandIn.of(opened).place == [(0, 0), (1, 0)]


def _cut(degrees: float) -> Scene:
    """A sheet whose right half has vertices of its own where both meet, with normals turned by so much around x."""
    scene = Scene(33)
    column = np.arange(len(scene.positions)) % scene.side
    middle = np.flatnonzero(column == scene.side // 2)
    slope = np.stack([np.cos(5 * scene.uv[:, 0]) * np.cos(4 * scene.uv[:, 1]), -np.ones(len(column))], axis=1)
    depth = -0.8 * np.sin(5 * scene.uv[:, 0]) * np.sin(4 * scene.uv[:, 1])
    normals = -np.column_stack([slope, depth])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    angle = np.radians(degrees)
    turned = normals[middle] @ [[1, 0, 0], [0, np.cos(angle), np.sin(angle)], [0, -np.sin(angle), np.cos(angle)]]
    copy_of = np.arange(len(column))
    copy_of[middle] = len(column) + np.arange(len(middle))
    right = np.all(column[scene.triangles] >= scene.side // 2, axis=1)
    triangles = np.where(right[:, None], copy_of[scene.triangles], scene.triangles)
    every = np.concatenate([np.arange(len(column)), middle])
    scene.primitive["attributes"] = {
        "POSITION": scene.add(scene.positions[every], bounds=True),
        "NORMAL": scene.add(np.concatenate([normals, turned]).astype(np.float32)),
        "TEXCOORD_0": scene.add(np.concatenate([scene.uv, scene.uv[middle] + 1]).astype(np.float32)),
    }
    scene.primitive["indices"] = scene.add(triangles.reshape(-1, 1).astype(np.uint16))
    return scene


@pytest.mark.parametrize("degrees", [0.002, 0.9, 20.0])
def test_normals_that_exporters_rounded_make_no_creases(degrees: float, tmp_path: Path) -> None:
    """Blender's and Draco's normals differ a little on both sides of a seam; 20 degrees are an edge."""
    found = []
    for turned in (0.0, degrees):
        source = _cut(turned).write(tmp_path / f"{turned}.glb")
        mesh = StandIn.of(GltfScene.open(source)).mesh
        assert mesh.attributes is not None and mesh.attributes.normals is not None
        alike = mesh.attributes.normals[mesh.position_of] == mesh.attributes.normals
        found.append([*(mesh.triangles[:, k].tolist() for k in range(3)), alike.all()])
        lod = meshes.scene_lod(source, [0.2])
        (path,) = lod.export(tmp_path, f"{turned}_")
        file = Read(path)
        attributes = file.header["meshes"][0]["primitives"][0]["attributes"]
        found[-1].append(file.array(attributes["POSITION"]).tolist())
    assert (found[0] == found[1]) == (degrees < 2)


def test_vertices_are_told_apart_by_the_last_of_a_hundred_targets(tmp_path: Path) -> None:
    scene = Scene(side=65)
    still = scene.add(np.zeros_like(scene.positions), bounds=True)
    moved = scene.add(np.repeat(scene.positions[::65], 65, axis=0), bounds=True)
    scene.primitive["targets"] = [{"NORMAL": still, "TANGENT": still}] * 100 + [{"NORMAL": moved}]
    scene.header["meshes"][0]["weights"] = [0.0] * 101
    opened = GltfScene.open(scene.write(tmp_path / "scene.glb"))
    stand_in = StandIn.of(opened, once=False)
    assert stand_in.mesh.attributes is not None and stand_in.mesh.attributes.more is not None
    apart = stand_in.mesh.attributes.more[:, 0]
    pairs = np.unique(np.column_stack([apart, stand_in.row // 65]), axis=0)
    assert len(pairs) == len(np.unique(apart)) == 65
