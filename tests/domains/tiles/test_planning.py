"""Plans and the rules of viewers: bytes to the byte, no smaller target, never worse at equal bytes."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

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


def test_errors_that_grow_are_measured_by_the_last_that_fell():
    """Viewers go through a tile whose error is no smaller than that of the tile whose error brought them there."""
    tree, camera = chain(), a_camera(11)
    seen = replace(tree, error=np.array([8.0, 20.0, 10.0])).seen(camera).errors
    assert seen[0] == seen[1] == seen[2]  # 10 is less than 20, but viewers were brought there by the 8


def test_distances_are_those_of_boxes_and_spheres():
    axes = np.array([np.diag([1.0, 2, 3]), np.zeros((3, 3))])
    volumes = Volumes(np.zeros((2, 3)), axes, np.array([0.0, 2.0]))
    assert volumes.distances(np.array([4.0, 6, 3])).tolist() == pytest.approx([5, np.sqrt(61) - 2])
    assert volumes.distances(np.zeros(3)).tolist() == [0, 0]


def test_distances_to_boxes_whose_axes_lean_are_those_of_a_search():
    random = np.random.default_rng(0)
    axes = random.normal(size=(60, 3, 3))
    axes[::4] = np.linalg.qr(axes[::4])[0] * random.uniform(0.1, 3, (15, 3, 1))  # upright on each other
    axes[1::4] = axes[::4] * (0.2, 1, 3)  # as a transform stretches them
    axes[2::8, 2], axes[6::8, 2] = 0, axes[6::8, 0] - axes[6::8, 1]  # flat
    volumes = Volumes(np.zeros((60, 3)), axes, np.zeros(60))
    for eye in random.normal(size=(8, 3)) * [[0.5], [1], [2], [5], [9], [30], [0], [2]]:
        found = [np.linalg.norm(own.T @ lsq_linear(own.T, eye, (-1, 1), tol=1e-14).x - eye) for own in axes]
        np.testing.assert_allclose(volumes.distances(eye), found, atol=1e-8)


def test_arrays_of_the_caller_stay_writable():
    parent, bytes_ = np.array([-1]), np.ones(1, int)
    volumes = Volumes(np.zeros((1, 3)), np.eye(3)[None], np.zeros(1))
    made = tiles.Tileset(parent, np.ones(1), bytes_, ("a",), np.zeros(1, bool), volumes)
    assert parent.flags.writeable and bytes_.flags.writeable and not made.parent.flags.writeable


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


@pytest.mark.parametrize(
    ("center", "up"),
    [
        ([10, 20, 30], [0, 0, 1]),
        ([500_000, 5_500_000, 100], [0, 0, 1]),  # a map's grid
        ([-6_378_137, 0, 0], [-1, 0, 0]),
        ([0, 0, 6_356_752 + 9_000], [0, 0, 1]),
        ([0, 4_510_024, -4_487_348], [0, 0.7071, -0.7071]),
    ],
)
def test_up_is_away_from_the_earth_on_it_and_z_elsewhere(center, up):
    volumes = Volumes(np.array([center], float), np.eye(3)[None], np.zeros(1))
    tree = tiles.Tileset(np.array([-1]), np.ones(1), np.ones(1, int), ("a",), np.zeros(1, bool), volumes)
    assert tree.up == pytest.approx(up, abs=3e-3) and np.linalg.norm(tree.up) == pytest.approx(1)


def test_a_camera_that_cannot_be_turned_is_refused(tmp_path, capsys):
    volume = {"box": [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]}
    root = {"content": {"uri": "a.glb"}, "geometricError": 1, "refine": "REPLACE", "boundingVolume": volume}
    (tmp_path / "tileset.json").write_text(json.dumps({"asset": {"version": "1.1"}, "geometricError": 2, "root": root}))
    (tmp_path / "a.glb").write_bytes(bytes(300))
    s = 0.9e150  # half of it more than a camera may have, and so it is once it is turned
    view = [[s, s, 0, 0], [-s, s, 0, 0], [0, 0, s, -s / 100], [0, 0, 0, 1]]
    projection = hra.Camera.perspective((0, 0, 5), (0, 0, 0)).projection.tolist()
    (tmp_path / "camera.json").write_text(json.dumps({"view": view, "projection": projection}))
    options = "--cache", "1kB", "--camera", tmp_path / "camera.json", "--frames"
    assert run_hra("tiles", "plan", tmp_path / "tileset.json", *options, 1) == 0
    assert run_hra("tiles", "plan", tmp_path / "tileset.json", *options, 8) == 2
    assert "cannot be turned" in capsys.readouterr().err


def test_the_turn_keeps_its_height_above_the_ground(tmp_path):
    # A town of 400 m at 40 degrees north; the eye is 94 m above its middle and 50 m above its roofs.
    region = [-1.3197209591796106, 0.6988424218, -1.3196390408203893, 0.6989055782, 0, 88]
    record = {"boundingVolume": {"region": region}, "geometricError": 70, "refine": "ADD", "content": {"uri": "a.glb"}}
    record["children"] = [record | {"geometricError": 0, "content": {"uri": "b.glb"}}]
    (tmp_path / "tileset.json").write_text(json.dumps({"asset": {"version": "1.0"}, "root": record}))
    for name in ("a.glb", "b.glb"):
        (tmp_path / name).write_bytes(bytes(1000))
    root = tiles.read_tileset(tmp_path / "tileset.json").volumes
    up = root.axes[0][2] / np.linalg.norm(root.axes[0][2])
    eye = ",".join(map(str, (root.center[0] + 94 * up).tolist()))
    options = "--cache", "1kB", "--up", "0,0,1", f"--eye={eye}", "--frames", 8, "--json", tmp_path / "facts.json"
    assert run_hra("tiles", "plan", tmp_path / "tileset.json", *options) == 0
    facts = json.loads((tmp_path / "facts.json").read_text())
    assert facts["target_pixels"] == pytest.approx(70 * 540 * 3**0.5 / 50, rel=1e-3)
    assert facts["turn, plan: mean error"] == pytest.approx(facts["target_pixels"], rel=1e-3)
    assert facts["turn, 3DTilesRendererJS: mean error"] == pytest.approx(facts["target_pixels"], rel=1e-3)
    plans = []
    for name, more in (("usual.json", ()), ("given.json", ("--up", ",".join(map(str, up.tolist()))))):
        options = "--cache", "1kB", "--frames", 1, "--json", tmp_path / name
        assert run_hra("tiles", "plan", tmp_path / "tileset.json", *options, *more) == 0
        plans.append(json.loads((tmp_path / name).read_text())["target_pixels"])
    assert plans[0] == pytest.approx(plans[1], rel=1e-3)  # the camera is above the ground without --up, too
