"""What of a scene is simplified, and what stands for what."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest

from hra.domains.meshes.files.gltf_scene import GltfScene
from hra.domains.meshes.lods.stand_in import StandIn
from hra.errors import RepairWarning
from tests.helpers.scenes import Scene


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
