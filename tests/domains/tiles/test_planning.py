"""Plans and the rules of viewers: bytes to the byte, no smaller target, never worse at equal bytes."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.domains import tiles
from hra.domains.tiles.planning import held_tiles
from hra.domains.tiles.tileset import Volumes
from hra.errors import BudgetTooSmall
from tests.helpers.command import run_hra
from tests.helpers.planning_cases import a_camera, chain, tilesets


@given(tilesets(), st.floats(0, 1), st.floats(1, 40))
def test_a_plan_fits_and_no_smaller_target_does(tileset, share, distance):
    camera = a_camera(distance)
    seen = tileset.seen(camera)
    cache = int(tileset.content_bytes[0] + share * tileset.content_bytes.sum())
    plan = tiles.plan(tileset, camera, cache)
    assert plan.held_bytes <= cache < plan.finer_bytes
    assert plan.held_bytes == tileset.content_bytes[plan.held].sum()
    for target in np.unique(seen.errors):
        held = held_tiles(tileset, (seen.errors > target) & tileset.has_children, seen.needed)
        fits = tileset.content_bytes[held].sum() <= cache
        assert not fits if target < plan.target and plan.finer_bytes < np.inf else True
        if target == plan.target:
            assert np.array_equal(held, plan.held)
    at = held_tiles(tileset, (seen.errors > plan.setting) & tileset.has_children, seen.needed)
    assert np.array_equal(at, plan.held) and plan.setting >= plan.target


@given(tilesets(), st.floats(1, 40))
def test_costs_are_the_bytes_of_what_is_held(tileset, distance):
    seen = tileset.seen(a_camera(distance))
    hierarchy = tileset.hierarchy(seen.needed)
    everything = tileset.content_bytes[held_tiles(tileset, tileset.has_children, seen.needed)].sum()
    assert hierarchy.base_cost == tileset.content_bytes[0] and hierarchy.total_cost == everything


def test_screen_errors_are_those_of_viewers():
    camera = a_camera(11)
    scale, errors = camera.projection[1, 1] * 240, chain().seen(camera).errors
    away = chain().volumes.distances(np.asarray(camera.position, np.float64))[0]
    assert errors.tolist() == pytest.approx([8 * scale / away, 4 * scale / away, 0])


def test_distances_are_those_of_boxes_and_spheres():
    axes = np.array([np.diag([1.0, 2, 3]), np.zeros((3, 3))])
    volumes = Volumes(np.zeros((2, 3)), axes, np.array([0.0, 2.0]))
    assert volumes.distances(np.array([4.0, 6, 3])).tolist() == pytest.approx([5, np.sqrt(61) - 2])
    assert volumes.distances(np.zeros(3)).tolist() == [0, 0]


def test_what_is_behind_or_beside_is_out_of_view():
    camera = hra.Camera.perspective((0, 0, 10), (0, 0, 0), viewport=(100, 100))
    center = np.array([[0, 0, 0], [0, 0, 20], [30, 0, 0], [0.0, -30, 0]])
    volumes = Volumes(center, np.tile(np.eye(3), (4, 1, 1)), np.zeros(4))
    assert volumes.in_view(camera).tolist() == [True, False, False, False]


def test_a_cache_that_does_not_hold_the_root():
    with pytest.raises(BudgetTooSmall):
        tiles.plan(chain(), a_camera(), 9)


def test_the_command_says_what_the_library_says(tmp_path):
    sizes = {"a.glb": 100, "b.glb": 200, "c.glb": 300}
    boxes = {"boundingVolume": {"box": [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]}}
    children = [{"content": {"uri": name}, "geometricError": 0, **boxes} for name in ("b.glb", "c.glb")]
    root = {"content": {"uri": "a.glb"}, "geometricError": 1, "refine": "REPLACE", "children": children, **boxes}
    (tmp_path / "tileset.json").write_text(json.dumps({"asset": {"version": "1.1"}, "geometricError": 2, "root": root}))
    for name, size in sizes.items():
        (tmp_path / name).write_bytes(bytes(size))
    options = "--cache", "599", "--up", "0,0,1", "--frames", 3, "--json", tmp_path / "facts.json"
    assert run_hra("tiles", "plan", tmp_path / "tileset.json", *options) == 0
    facts = json.loads((tmp_path / "facts.json").read_text())
    assert facts["held"] == ["a.glb"] and facts["bytes_of_any_smaller_target"] == 600
    assert facts["turn, 3DTilesRendererJS: most bytes"] >= 600
