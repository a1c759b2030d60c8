from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hra.domains.meshes.files.gltf_coordinates import Coordinates, layout_of, map_infos, texture_infos

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
