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


@st.composite
def tilesets(draw):
    """Up to 40 tiles of random bytes with falling errors, in boxes that lie in those of their parents."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    count = draw(st.integers(1, 40))
    parent = np.array([-1, *(int(rng.integers(0, k)) for k in range(1, count))])
    error, center, half = np.full(count, 10.0), np.zeros((count, 3)), np.full(count, 5.0)
    for k in range(1, count):
        error[k] = error[parent[k]] * rng.choice([0, 0.3, 0.6, 1.0])
        half[k] = half[parent[k]] * rng.uniform(0.3, 0.8)
        center[k] = center[parent[k]] + rng.uniform(-1, 1, 3) * (half[parent[k]] - half[k])
    size = rng.integers(0, 1000, count) * (rng.random(count) < 0.9)
    additive = rng.random(count) < draw(st.sampled_from([0.0, 0.5, 1.0]))
    volumes = Volumes(center, half[:, None, None] * np.eye(3), np.zeros(count))
    names = tuple(f"{k}.glb" for k in range(count))
    return tiles.Tileset(parent, error, size, names, additive, volumes)


def a_camera(distance=12.0, azimuth=0.0):
    return hra.Camera.orbit(np.array([[-5.0] * 3, [5.0] * 3]), azimuth=azimuth, distance=distance, viewport=(640, 480))


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


@given(tilesets(), st.floats(0, 1), st.sampled_from([tiles.ThreeTilesRule, tiles.CesiumRule]))
def test_no_rule_is_finer_with_the_same_bytes(tileset, share, rule):
    cameras = [a_camera(8, azimuth) for azimuth in (0, 60, 120)]
    cache = int(tileset.content_bytes[0] + share * tileset.content_bytes.sum())
    found = tiles.replay(tileset, cameras, rule(cache, target=1.0), updates=6)
    for camera, error, held in zip(cameras, found.error, found.held_bytes.tolist(), strict=True):
        assert tiles.plan(tileset, camera, max(held, int(tileset.content_bytes[0]))).target <= error
    assert found.loads >= found.reloads >= 0


@given(tilesets(), st.floats(1, 40))
def test_costs_are_the_bytes_of_what_is_held(tileset, distance):
    seen = tileset.seen(a_camera(distance))
    hierarchy = tileset.hierarchy(seen.needed)
    everything = tileset.content_bytes[held_tiles(tileset, tileset.has_children, seen.needed)].sum()
    assert hierarchy.base_cost == tileset.content_bytes[0] and hierarchy.total_cost == everything


def chain(sizes=(10, 20, 40), errors=(8.0, 4.0, 0.0)):
    """One tile below another."""
    count = len(sizes)
    volumes = Volumes(np.zeros((count, 3)), np.tile(np.eye(3), (count, 1, 1)), np.zeros(count))
    parent, names = np.arange(count) - 1, tuple(f"{k}.glb" for k in range(count))
    return tiles.Tileset(parent, np.array(errors), np.array(sizes), names, np.zeros(count, bool), volumes)


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


def test_three_tiles_refuses_while_it_is_full():
    found = tiles.replay(chain(), [a_camera()], tiles.ThreeTilesRule(cache=30, target=0.5), updates=10)
    # Three tiles are wanted at once: two arrive, the third is thrown away, and then the cache is full for ever.
    assert found.held_bytes.tolist() == [30] and found.refusals == 9 and found.loads == 3


def test_cesium_raises_its_target_until_things_fit():
    rule = tiles.CesiumRule(cache=25, target=1.0)
    found = tiles.replay(chain(), [a_camera()], rule, updates=400)
    assert found.held_bytes.tolist() == [30] and found.refusals > 50 and found.most_bytes >= 30


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
