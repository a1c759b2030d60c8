from __future__ import annotations

import numpy as np

from hra.domains import textures
from tests.helpers.explorers import unpacked


def test_the_ground_s_places_are_its_pages(of_texture):
    places = unpacked(of_texture["places"]).reshape(-1, 3)
    scene = textures.PlaneScene.ground(np.zeros((512, 512, 3), np.uint8))
    assert len(places) == len(scene.textures.hierarchy.node_cost)
    assert len(of_texture["levels"]) == places[:, 0].max() + 1
