"""Packed files: the same triangles, vertices and animations, or rounded by no more than is said."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hra.domains import meshes
from hra.domains.meshes.distances.two_sided import hausdorff_bound
from hra.domains.meshes.files.gltf_files import split_glb
from hra.domains.meshes.files.gltf_nodes import local_matrix
from hra.domains.meshes.files.gltf_packing import position_step, repacked, rounded_weights
from hra.domains.meshes.files.gltf_poses import influences, joint_matrices, skinned, transformed
from hra.domains.meshes.files.gltf_scene import GltfScene
from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh
from hra.errors import HraError
from tests.helpers.command import run_hra
from tests.helpers.scenes import Scene, fetched

PACKED = "EXT_meshopt_compression"
# Half of a step along each axis.
HALF = math.sqrt(3) / 2


def packed(scene: Scene, folder: Path, compression: Any) -> tuple[GltfScene, GltfScene]:
    """A scene before and after."""
    plain, after = scene.write(folder / "scene.glb"), folder / f"{compression}.glb"
    after.write_bytes(repacked(plain.read_bytes(), compression))
    return GltfScene.open(plain), GltfScene.open(after)


def columns(scene: GltfScene, number: int = 0) -> dict[str, np.ndarray]:
    """All that the vertices of a primitive have, by name."""
    primitive = scene.accessors.header["meshes"][0]["primitives"][number]
    parts = [("", primitive["attributes"]), *((f"{k} ", one) for k, one in enumerate(primitive.get("targets", [])))]
    return {f"{of}{name}": scene.accessors.scale(one[name]) for of, one in parts for name in one}


def corners(scene: GltfScene, number: int = 0) -> np.ndarray:
    """What the corners of a primitive's triangles have, sorted, each from its least one on, float64 [F, 3, k]."""
    every = np.concatenate([one.astype(np.float64) for one in columns(scene, number).values()], axis=1)
    turned = []
    for triangle in every[scene.triangles((0, number))].tolist():
        first = triangle.index(min(triangle))
        turned.append(triangle[first:] + triangle[:first])
    return np.array(sorted(turned))


def sheet(side: int) -> Scene:
    """A sheet whose sides are no powers of two, so that steps are those of all levels."""
    scene = Scene(side)
    scene.positions *= 0.9
    scene.primitive["attributes"]["POSITION"] = scene.add(scene.positions, bounds=True)
    return scene


def moving() -> Scene:
    """A sheet with a skin, morph targets, normals, tangents and colours."""
    scene = sheet(21)
    scene.skin()
    scene.morph()
    rng = np.random.default_rng(0)
    normals = rng.normal(size=(len(scene.uv), 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    scene.primitive["targets"][0]["NORMAL"] = scene.add((normals[::-1] / 3).astype(np.float32))
    tangents = np.column_stack([np.roll(normals, 1, axis=1), rng.choice([-1.0, 1.0], len(normals))])
    scene.primitive["attributes"] |= {
        "NORMAL": scene.add(normals.astype(np.float32)),
        "TANGENT": scene.add(tangents.astype(np.float32)),
        "COLOR_0": scene.add(rng.integers(0, 256, (len(normals), 3), np.uint8), normalized=True),
        "_WEAR": scene.add(rng.random((len(normals), 1)).astype(np.float32)),
    }
    return scene


def animated(scene: GltfScene) -> list[np.ndarray]:
    header = scene.accessors.header
    numbers = [sampler[end] for one in header["animations"] for sampler in one["samplers"] for end in sampler]
    return [scene.accessors.array(n) for n in [*numbers, header["skins"][0]["inverseBindMatrices"]]]


def is_packed(scene: GltfScene, number: int) -> bool:
    return PACKED in scene.header["bufferViews"][scene.header["accessors"][number]["bufferView"]].get("extensions", {})


def test_nothing_is_lost(tmp_path: Path) -> None:
    before, after = packed(moving(), tmp_path, "meshopt")
    assert (corners(before) == corners(after)).all()
    assert all((a == b).all() for a, b in zip(animated(before), animated(after), strict=True))
    sizes = [(tmp_path / name).stat().st_size for name in ("scene.glb", "meshopt.glb")]
    assert sizes[1] < 0.8 * sizes[0]
    assert after.header["extensionsRequired"] == after.header["extensionsUsed"] == [PACKED]
    assert after.header["buffers"][1]["extensions"] == {PACKED: {"fallback": True}}
    assert repacked((tmp_path / "scene.glb").read_bytes(), "none") == (tmp_path / "scene.glb").read_bytes()


@settings(max_examples=40, deadline=None)
@given(
    kind=st.sampled_from(["i1", "u1", "i2", "u2", "f4"]),
    width=st.integers(1, 4),
    seed=st.integers(0, 2**32 - 1),
    wide=st.booleans(),
)
def test_attributes_of_every_layout_come_back(
    tmp_path_factory: Any, kind: str, width: int, seed: int, wide: bool
) -> None:
    scene, rng = Scene(4), np.random.default_rng(seed)
    rows = rng.integers(-128 if kind[0] == "i" else 0, 128, (16, width)).astype(kind)
    scene.primitive["attributes"]["_OWN"] = scene.add(rows)
    size = rows[:1].nbytes
    if size % 4:  # vertex attributes begin at multiples of four bytes
        padded = np.pad(rows.view(np.uint8).reshape(16, size), ((0, 0), (0, -size % 4)))
        scene.header["accessors"][-1]["bufferView"] = scene.add_bytes(padded.tobytes())
        scene.header["bufferViews"][-1]["byteStride"] = padded.shape[1]
    triangles = rng.permutation(scene.triangles)[: rng.integers(1, len(scene.triangles) + 1)]
    scene.primitive["indices"] = scene.add(triangles.reshape(-1, 1).astype(np.uint32 if wide else np.uint8))
    before, after = packed(scene, tmp_path_factory.mktemp("layouts"), "meshopt")
    assert (corners(before) == corners(after)).all()


@pytest.mark.parametrize(("kind", "side"), [("MAT2", 2), ("MAT3", 3)])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_matrices_come_back_with_their_columns(kind: str, side: int, dtype: Any, tmp_path: Path) -> None:
    scene = Scene(9)
    # Of these numbers that of the vertex itself can be told.
    rows = (np.arange(81)[:, None, None] + np.arange(side * side).reshape(side, side)).astype(dtype)
    size = rows[0, 0].nbytes
    cells = np.zeros((81, side, size + -size % 4), np.uint8)
    cells[..., :size] = rows.view(np.uint8)
    view = scene.add_bytes(cells.tobytes())
    scene.header["bufferViews"][view]["byteStride"] = cells[0].nbytes
    entry = {"bufferView": view, "componentType": 5121 if dtype == np.uint8 else 5123, "count": 81, "type": kind}
    scene.header["accessors"].append(entry)
    scene.primitive["attributes"]["_OWN"] = len(scene.header["accessors"]) - 1
    before, after = packed(scene, tmp_path, "meshopt")
    assert (corners(before) == corners(after)).all()
    for compression in ("none", "meshopt"):
        (level,) = meshes.scene_lod(tmp_path / "scene.glb", [0.5], compression=compression).export(tmp_path / "levels")
        found = columns(GltfScene.open(level))["_OWN"].astype(int)
        assert len(found) and (found - found[:, :1] == np.arange(side * side)).all()


def test_primitives_that_share_vertices_by_others_are_found(tmp_path: Path) -> None:
    scene = Scene(9)
    scene.primitive["attributes"]["TEXCOORD_1"] = scene.add(scene.uv + 1)
    first = scene.primitive["attributes"]
    parts = [
        {"POSITION": first["POSITION"], "TEXCOORD_0": scene.add(scene.uv + 2)},
        {"POSITION": scene.add(scene.positions + 1, bounds=True), "TEXCOORD_0": first["TEXCOORD_1"]},
    ]
    for number, attributes in enumerate(parts):
        triangles = np.random.default_rng(number).permutation(scene.triangles).reshape(-1, 1).astype(np.uint16)
        scene.header["meshes"][0]["primitives"].append({"attributes": attributes, "indices": scene.add(triangles)})
    before, after = packed(scene, tmp_path, "meshopt")
    assert all((corners(before, k) == corners(after, k)).all() for k in range(3))
    shared = [one["attributes"] for one in after.header["meshes"][0]["primitives"]]
    assert shared[0]["POSITION"] == shared[1]["POSITION"] and shared[0]["TEXCOORD_1"] == shared[2]["TEXCOORD_0"]


def test_rounded_files_say_by_how_much(tmp_path: Path) -> None:
    scene = moving()
    source = scene.write(tmp_path / "scene.glb")
    plain, rounded = (meshes.scene_lod(source, [0.5, 0.2], compression=how) for how in ("none", "rounded"))
    before, after = (lod.export(tmp_path / name) for lod, name in ((plain, "a"), (rounded, "b")))
    whole = meshes.load(source)
    step = position_step([scene.positions])
    assert rounded.chain.errors - plain.chain.errors == pytest.approx(HALF * step)
    for old, new, error in zip(before, after, rounded.chain.errors, strict=True):
        assert new.stat().st_size < 0.75 * old.stat().st_size
        assert hausdorff_bound(whole, meshes.load(new)) <= 1.03 * error
        (there, here) = (columns(GltfScene.open(path)) for path in (old, new))
        places = here["POSITION"] / step
        assert (places == np.rint(places)).all()
        order = [np.lexsort(np.rint(one["TEXCOORD_0"] * 64).T) for one in (there, here)]
        apart = {name: np.abs(there[name][order[0]] - here[name][order[1]]).max() for name in there}
        assert apart["TEXCOORD_0"] <= 2.0**-17 and apart["COLOR_0"] == apart["_WEAR"] == 0
        assert 0 < apart["WEIGHTS_0"] <= 2.0**-12 and (here["WEIGHTS_0"].sum(axis=1) == 1).all()
        assert 0 < apart["POSITION"] <= step / 2 and apart["1 POSITION"] <= step / 2
        assert 0 < apart["0 NORMAL"] <= 2.0**-12 and apart["NORMAL"] < 0.004 and apart["TANGENT"] < 0.004
        assert (np.sign(there["TANGENT"][order[0], 3]) == np.sign(here["TANGENT"][order[1], 3])).all()


@pytest.mark.parametrize(
    ("path", "width", "most"), [("rotation", 4, 1.0), ("scale", 3, 3.0), ("weights", 1, 1.0), ("translation", 3, 700.0)]
)
def test_tracks_and_times_are_rounded_but_pointers_are_not(path: str, width: int, most: float, tmp_path: Path) -> None:
    scene = moving()
    rng = np.random.default_rng(0)
    count = 2 if path == "weights" else 1  # of targets
    tracks = [(rng.random((20 * count, width)) * most).astype(np.float32) for _ in range(2)]
    if path == "translation":  # far away, but on a short way
        tracks = [one / 100 + 50 for one in tracks]
    times = np.arange(20, dtype=np.float32)[:, None] / 30
    samplers = [{"input": scene.add(times, bounds=True), "output": scene.add(one)} for one in tracks]
    pointer = {"KHR_animation_pointer": {"pointer": "/materials/0/emissiveFactor"}}
    channels = [
        {"sampler": 0, "target": {"node": 0, "path": path}},
        {"sampler": 1, "target": {"path": "pointer", "extensions": pointer}},
    ]
    scene.header["animations"] = [{"samplers": samplers, "channels": channels}]
    after = packed(scene, tmp_path, "rounded")[1]
    (found,) = after.accessors.header["animations"]
    assert 0 < np.abs(after.accessors.array(found["samplers"][0]["input"]) - times).max() <= 2.0**-16
    first, second = (after.accessors.array(one["output"]) for one in found["samplers"])
    way = np.ptp(tracks[0], axis=0).max() if path == "translation" else np.abs(tracks[0]).max()
    assert 0 < np.abs(first - tracks[0]).max() <= way * 2.0 ** (-13 if path == "weights" else -15)
    assert (second == tracks[1]).all()
    view = after.header["bufferViews"][after.header["accessors"][found["samplers"][0]["output"]]["bufferView"]]
    assert "target" not in view and "byteStride" not in view


@pytest.mark.parametrize("sign", [-1, 1])
def test_half_turns_between_keys_do_not_change_their_way(sign: int, tmp_path: Path) -> None:
    # As Blender exports a cube that turns by a half twice: the sign of the last digits says which way.
    scene, tiny = moving(), sign * np.float32(4.371139e-08)
    track = np.array([[0, 0, 0, 1], [0, 1, 0, tiny], [0, -2 * tiny, 0, 1]], np.float32)
    times = scene.add(np.arange(3, dtype=np.float32)[:, None], bounds=True)
    sampler = {"input": times, "output": scene.add(track)}
    scene.header["animations"] = [
        {"samplers": [sampler], "channels": [{"sampler": 0, "target": {"node": 0, "path": "rotation"}}]}
    ]
    after = packed(scene, tmp_path, "rounded")[1]
    found = after.accessors.array(sampler["output"]).astype(np.float64)
    cosines = [(one[:-1] * one[1:]).sum(axis=1) for one in (track.astype(np.float64), found)]
    assert cosines[0].all() and (np.sign(cosines[0]) == np.sign(cosines[1])).all()


def test_times_too_close_to_round_stay_exact(tmp_path: Path) -> None:
    scene = moving()
    times = (np.arange(20, dtype=np.float32)[:, None] + 0.1) * 2.0**-16
    sampler = {"input": scene.add(times, bounds=True), "output": scene.add(np.arange(60, dtype="f4").reshape(20, 3))}
    channel = {"sampler": 0, "target": {"node": 0, "path": "scale"}}
    scene.header["animations"] = [{"samplers": [sampler], "channels": [channel]}]
    after = packed(scene, tmp_path, "rounded")[1]
    assert (after.accessors.array(sampler["input"]) == times).all()


@pytest.mark.parametrize("skinned", [False, True])
def test_nodes_have_few_digits_which_count(skinned: bool, tmp_path: Path) -> None:
    scene = sheet(17)
    if skinned:
        scene.skin()
    node = scene.header["nodes"][-1 if skinned else 0]
    turn = np.array([0.1, 1e-12, 0.3, 0.9487], np.float32) / np.float32(0.99999)
    far = [6378137.123, float(np.float32(0.1)) * 1024, 1e300]
    moved = [float(np.float32(1000.1)), float(np.float32(1 / 3)), 0.0]
    node |= {"rotation": turn.astype(np.float64).tolist(), "translation": moved, "scale": [1.0, 1.0, 1.0]}
    tenth = float(np.float32(0.1))
    scene.header["nodes"] += [{"matrix": [tenth, *np.eye(4).reshape(-1).tolist()[1:]]}, {"translation": far}]
    scene.header["nodes"][-1] |= {"rotation": [0.0, 0.0, 0.0, 1.0], "name": "still"}
    source = scene.write(tmp_path / "scene.glb")
    found = json.loads(split_glb(repacked(source.read_bytes(), "rounded", brief_nodes=True), "")[0])["nodes"]
    assert found[-1] == {"translation": [6378137.123, 102.4, 1e300], "name": "still"}
    assert found[-2] == {"matrix": [0.1, *np.eye(4).reshape(-1).tolist()[1:]]}
    new = next(one for one in found if "rotation" in one)
    assert new["translation"] == [1000.1, 0.3333, 0] and "scale" not in new
    assert new["rotation"][1] == 0 and np.abs(new["rotation"] - turn).max() <= 5e-9
    plain, rounded = (meshes.scene_lod(source, [0.5], compression=how) for how in ("none", "rounded"))
    # Half of the last digit of 1000.1, and of what 1/3 loses.
    moved = math.hypot(moved[0] - 1000.1, moved[1] - 0.3333)
    assert (rounded.chain.errors - plain.chain.errors - HALF * position_step([scene.positions]) > moved).all()


@pytest.mark.parametrize(("path", "width"), [("rotation", 4), ("weights", 1), ("translation", 3)])
def test_steep_tangents_do_not_coarsen_the_values_between_them(path: str, width: int, tmp_path: Path) -> None:
    scene, rng = moving(), np.random.default_rng(0)
    count = 2 if path == "weights" else 1  # of targets
    values, times = rng.random((9, 1, count, width)), np.arange(9, dtype=np.float32)[:, None]
    tangents = rng.normal(size=(2, 9, 1, count, width)) * 50
    track = np.concatenate([tangents[0], values, tangents[1]], axis=1).reshape(-1, width).astype(np.float32)
    sampler = {"input": scene.add(times, bounds=True), "output": scene.add(track), "interpolation": "CUBICSPLINE"}
    channel = {"sampler": 0, "target": {"node": 0, "path": path}}
    scene.header["animations"] = [{"samplers": [sampler], "channels": [channel]}]
    after = packed(scene, tmp_path, "rounded")[1]
    apart = np.abs(after.accessors.array(sampler["output"]) - track)
    assert 0 < apart.max() <= (2.0**-13 if path == "weights" else 2.0**-16)


@pytest.mark.parametrize(("path", "width"), [("translation", 3), ("weights", 1)])
def test_splines_without_tangents_for_each_key_are_rounded_as_they_are(path: str, width: int, tmp_path: Path) -> None:
    scene, count = moving(), 10
    track = np.random.default_rng(0).random((count, width)).astype(np.float32)
    times = scene.add(np.arange(5, dtype=np.float32)[:, None], bounds=True)
    sampler = {"input": times, "output": scene.add(track), "interpolation": "CUBICSPLINE"}
    channel = {"sampler": 0, "target": {"node": 0, "path": path}}
    scene.header["animations"] = [{"samplers": [sampler], "channels": [channel]}]
    after = packed(scene, tmp_path, "rounded")[1]
    assert 0 < np.abs(after.accessors.array(sampler["output"]) - track).max() <= 2.0**-13


@pytest.mark.parametrize("compression", ["meshopt", "rounded"])
@pytest.mark.parametrize(("targets", "stride"), [(2, 8), (64, 256), (65, 4)])
def test_weights_of_one_target_lie_at_equal_places_of_rows(
    targets: int, stride: int, compression: Any, tmp_path: Path
) -> None:
    scene, count = Scene(5), 40
    target = scene.add(np.zeros_like(scene.positions), bounds=True)
    scene.primitive["targets"] = [{"POSITION": target}] * targets
    times = np.arange(count, dtype=np.float32)[:, None]
    # Whole steps come back as they were.
    track = np.rint(1024 * np.abs(np.sin(times / 9 + np.arange(targets)))).astype(np.float32).reshape(-1, 1) / 1024
    sampler = {"input": scene.add(times, bounds=True), "output": scene.add(track, bounds=True)}
    channel = {"sampler": 0, "target": {"node": 0, "path": "weights"}}
    scene.header["animations"] = [{"samplers": [sampler], "channels": [channel]}]
    before, after = packed(scene, tmp_path, compression)
    assert (after.accessors.array(sampler["output"]) == track).all()
    old, new = (one.header["accessors"][sampler["output"]] for one in (before, after))
    assert [old[key] for key in ("min", "max", "count")] == [new[key] for key in ("min", "max", "count")]
    assert after.header["bufferViews"][new["bufferView"]]["extensions"][PACKED]["byteStride"] == stride


def test_noise_of_tracks_that_stand_still_is_rounded(tmp_path: Path) -> None:
    scene, rng = Scene(5), np.random.default_rng(0)
    track = (np.array([0.3, 0, 5]) + rng.random((50, 3)) * 1e-9).astype(np.float32)
    sampler = {"input": scene.add(np.arange(50, dtype="f4")[:, None], bounds=True), "output": scene.add(track)}
    channel = {"sampler": 0, "target": {"node": 0, "path": "translation"}}
    scene.header["animations"] = [{"samplers": [sampler], "channels": [channel]}]
    after = packed(scene, tmp_path, "rounded")[1]
    apart = np.abs(after.accessors.array(sampler["output"]).astype(np.float64) - track)
    assert 0 < apart.max() <= 8 * 2.0**-23


@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_rounding_counts_where_the_scene_shows_it_largest(scale: float, tmp_path: Path) -> None:
    scene = sheet(17)
    scene.morph()
    scene.header["meshes"][0]["weights"] = [0.5, -2.0]
    scene.header["nodes"].append({"mesh": 0, "scale": [1, scale, 1], "translation": [3, 0, 0]})
    scene.header["scenes"][0]["nodes"].append(1)
    source = scene.write(tmp_path / "scene.glb")
    plain, rounded = (meshes.scene_lod(source, [0.5], compression=how) for how in ("none", "rounded"))
    expected = HALF * position_step([scene.positions]) * scale * 3.5
    assert rounded.chain.errors - plain.chain.errors == pytest.approx(expected)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 60), st.integers(0, 2**32 - 1), st.sampled_from([1e-6, 0.02, 1.0]))
def test_rounded_weights_have_the_same_sums(count: int, seed: int, least: float) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.random((count, 4)) * np.where(rng.random((count, 4)) < 0.4, least, 1)
    weights[rng.random(count) < 0.2] = 0
    weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
    weights = weights.astype(np.float32)
    rounded = rounded_weights(weights)
    assert (rounded.sum(axis=1) == np.rint(weights.sum(axis=1))).all() and rounded.dtype == np.float32
    assert (rounded * 4096 == np.rint(rounded * 4096)).all() and (rounded >= 0).all()
    assert np.abs(rounded.astype(np.float64) - weights).max() < 2.0**-12
    uneven = weights * np.float32(0.9)
    for kept in (uneven, np.rint(weights * 255).astype(np.uint8)):
        assert (rounded_weights(kept) == kept).all()
    both = rounded_weights(np.concatenate([uneven, weights]))
    assert (both == np.concatenate([uneven, rounded])).all()


def test_joints_without_weights_say_nothing_and_shared_ones_stay(tmp_path: Path) -> None:
    scene = Scene(5)
    scene.skin()
    weights = np.tile(np.array([0.99999, 0.00001, 0, 0], np.float32), (25, 1))
    weights[7] = 0
    joints = np.tile(np.array([0, 1, 1, 0], np.uint8), (25, 1))
    joints[7] = 1
    scene.primitive["attributes"] |= {"JOINTS_0": scene.add(joints, bounds=True), "WEIGHTS_0": scene.add(weights)}
    place = scene.primitive["attributes"]
    after = packed(scene, tmp_path, "rounded")[1].accessors
    found, kept = after.array(place["JOINTS_0"]), after.array(place["WEIGHTS_0"])
    says = after.header["accessors"][place["JOINTS_0"]]
    assert (says["min"], says["max"]) == ([0] * 4, [1, 1, 1, 1])
    empty = ~kept.any(axis=1)
    assert (found[empty] == 1).all() and empty.sum() == 1 and (found[~empty] == 0).all()
    assert (kept[~empty] == [1, 0, 0, 0]).all()

    def stay(name: str) -> bool:
        before, after = (columns(one)[name] for one in packed(scene, tmp_path, "rounded"))
        return bool((np.sort(before, 0) == np.sort(after, 0)).all())

    other = scene.primitive | {"attributes": place | {"WEIGHTS_0": scene.add(weights[::-1].copy())}}
    scene.header["meshes"][0]["primitives"].append(other)
    assert stay("WEIGHTS_0")
    scene.header["meshes"][0]["primitives"].pop()
    place["_NUMBER"] = place["JOINTS_0"]
    assert stay("_NUMBER")
    place |= {"WEIGHTS_1": scene.add(weights), "JOINTS_1": scene.add(joints)}
    assert stay("WEIGHTS_0")


def test_short_numbers_of_nodes_far_away_stay_exact(tmp_path: Path) -> None:
    scene = sheet(17)
    scene.header["nodes"][0]["translation"] = [-2694045.0, -4266368.5, 3857878.25]
    source = scene.write(tmp_path / "scene.glb")
    plain, rounded = (meshes.scene_lod(source, [0.5], compression=how) for how in ("none", "rounded"))
    step = HALF * position_step([scene.positions])
    assert (rounded.chain.errors - plain.chain.errors <= step * 1.001).all()


def test_nodes_move_what_targets_move_far(tmp_path: Path) -> None:
    scene = sheet(17)
    scene.morph()
    far = np.zeros_like(scene.positions)
    far[:, 1] = 1e6
    scene.primitive["targets"][0]["POSITION"] = scene.add(far, bounds=True)
    scene.header["meshes"][0]["weights"] = [1.0, 0.0]
    turn = np.array([0.123456789, 0.2, 0.3, 0.9])
    turn = (turn / np.linalg.norm(turn)).astype(np.float32).astype(np.float64)
    scene.header["nodes"][0]["rotation"] = turn.tolist()
    source = scene.write(tmp_path / "scene.glb")
    brief = json.loads(split_glb(repacked(source.read_bytes(), "rounded", brief_nodes=True), "")[0])["nodes"][0]
    change = local_matrix(brief) - local_matrix(scene.header["nodes"][0])
    moved = np.linalg.norm((scene.positions + far) @ change[:3, :3].T, axis=1).max()
    plain, rounded = (meshes.scene_lod(source, [0.5], compression=how) for how in ("none", "rounded"))
    own = 2 * HALF * position_step([scene.positions])
    assert moved > 10 * own
    assert moved <= (rounded.chain.errors - plain.chain.errors)[0] <= 3 * moved + own


def test_weights_of_a_bent_skin_count(tmp_path: Path) -> None:
    scene = sheet(38)
    scene.skin()
    bent = np.sqrt(0.5)
    scene.header["nodes"][-1] |= {"rotation": [0, 0, float(bent), float(bent)], "translation": [0.5, 3.0, 0]}
    source = scene.write(tmp_path / "scene.glb")
    plain, rounded = (meshes.scene_lod(source, [0.999], compression=how) for how in ("none", "rounded"))
    (tmp_path / "finest.glb").write_bytes(repacked(source.read_bytes(), "rounded", brief_nodes=True))
    places = []
    for path in (source, tmp_path / "finest.glb"):
        read = GltfScene.open(path)
        primitive, at = read.primitive((0, 0)), read.accessors
        own = skinned(joint_matrices(at, 0), influences(at, primitive, ""), 38**2, "")
        points = transformed(at.scale(primitive["attributes"]["POSITION"]).astype(np.float64), own)
        order = np.lexsort(np.rint(at.scale(primitive["attributes"]["TEXCOORD_0"]) * 64).T)
        places.append(points[order])
    moved = float(np.linalg.norm(places[0] - places[1], axis=1).max())
    stated = rounded.chain.errors[0] - plain.chain.errors[0]
    assert 5 * position_step([scene.positions]) < moved <= stated < 3 * moved


def test_what_cannot_be_rounded_stays_exact(tmp_path: Path) -> None:
    scene = Scene(9)
    normals = np.tile(np.array([0, 1, 0], np.float32), (81, 1))
    normals[5] = 0
    far = scene.uv + np.float32(1e5)
    scene.primitive["attributes"] |= {"NORMAL": scene.add(normals), "TEXCOORD_1": scene.add(far)}
    before, after = packed(scene, tmp_path, "rounded")
    there, here = columns(before), columns(after)
    for name in ("NORMAL", "TEXCOORD_1"):
        assert (np.unique(there[name], axis=0) == np.unique(here[name], axis=0)).all()
    assert "KHR_mesh_quantization" not in after.header["extensionsUsed"]
    # Three thousand metres away float32 has no finer steps.
    scene = Scene(9)
    scene.positions[:] = scene.positions / 64 + 3000
    scene.primitive["attributes"]["POSITION"] = scene.add(scene.positions, bounds=True)
    before, after = packed(scene, tmp_path, "rounded")
    assert (np.sort(columns(before)["POSITION"], axis=0) == np.sort(columns(after)["POSITION"], axis=0)).all()


@pytest.mark.parametrize("animated", [False, True])
def test_enlarged_coordinates_are_rounded_by_less(animated: bool, tmp_path: Path) -> None:
    scene = Scene(9)
    transform = {"KHR_texture_transform": {"scale": [1, 20.0]}}
    texture = {"index": 0, "extensions": transform}
    scene.header |= {
        "images": [{"uri": "data:image/png;base64,iVBORw0KGgo="}],
        "textures": [{"source": 0}],
        "materials": [{"pbrMetallicRoughness": {"baseColorTexture": texture}}],
        "extensionsUsed": ["KHR_texture_transform", *(["KHR_animation_pointer"] if animated else [])],
    }
    scene.uv[:] = np.random.default_rng(0).random(scene.uv.shape)
    scene.primitive["attributes"]["TEXCOORD_0"] = scene.add(scene.uv)
    before, after = packed(scene, tmp_path, "rounded")
    there, here = (np.sort(columns(one)["TEXCOORD_0"], axis=0) for one in (before, after))
    farthest = np.abs(there - here).max()
    assert farthest == 0 if animated else 0 < farthest <= 2.0**-17 / 32


def in_order(scene: GltfScene, number: int = 0) -> np.ndarray:
    """The corners of a primitive in its order, float32 [F, 3, 3]."""
    return columns(scene, number)["POSITION"][scene.triangles((0, number))]


@pytest.mark.parametrize("how", ["opaque", "blended", "variant"])
def test_triangles_that_are_blended_keep_their_order(how: str, tmp_path: Path) -> None:
    scene = Scene(17)
    scene.header["materials"] = [{}, {"alphaMode": "BLEND"}]
    scene.primitive["material"] = int(how == "blended")
    if how == "variant":
        variants = {"mappings": [{"material": 1, "variants": [0]}]}
        scene.primitive["extensions"] = {"KHR_materials_variants": variants}
        scene.header |= {
            "extensionsUsed": ["KHR_materials_variants"],
            "extensions": {"KHR_materials_variants": {"variants": [{"name": "glass"}]}},
        }
    shuffled = np.random.default_rng(0).permutation(scene.triangles)
    scene.primitive["indices"] = scene.add(shuffled.reshape(-1, 1).astype(np.uint16))
    before, after = (np.sort(in_order(one), axis=1) for one in packed(scene, tmp_path, "meshopt"))
    assert (before == after).all() == (how != "opaque")


def test_triangles_meet_the_vertex_cache_and_vertices_stand_in_their_order(tmp_path: Path) -> None:
    scene = Scene(33)
    shuffled = np.random.default_rng(0).permutation(scene.triangles)
    scene.primitive["indices"] = scene.add(shuffled.reshape(-1, 1).astype(np.uint16))
    before, after = packed(scene, tmp_path, "meshopt")

    assert fetched(after.triangles((0, 0))) < 0.85 < 2 < fetched(before.triangles((0, 0)))
    found = after.triangles((0, 0)).reshape(-1)
    assert (np.sort(np.unique(found, return_index=True)[1]) == np.unique(found, return_index=True)[1]).all()


@pytest.mark.parametrize("named", ["feature", "unknown"])
def test_vertices_that_count_by_their_numbers_keep_them(named: str, tmp_path: Path) -> None:
    scene = Scene(9)
    name = {"feature": "EXT_mesh_features", "unknown": "X_cloth"}[named]
    scene.primitive["extensions"] = {
        name: {"featureIds": [{"featureCount": 81}]} if named == "feature" else {"pins": [1]}
    }
    scene.header["extensionsUsed"] = [name]
    before, after = packed(scene, tmp_path, "meshopt")
    assert (columns(before)["POSITION"] == columns(after)["POSITION"]).all()
    # The codec may begin a triangle with another of its corners.
    assert (np.sort(before.triangles((0, 0)), axis=1) == np.sort(after.triangles((0, 0)), axis=1)).all()


def test_what_extensions_refer_to_and_images_stay_as_they_are(tmp_path: Path) -> None:
    scene = Scene(9)
    table, image = scene.add_bytes(bytes(range(81))), scene.add_bytes(b"\x89PNG\r\n\x1a\n" + bytes(40))
    scene.header |= {
        "images": [{"bufferView": image, "mimeType": "image/png"}],
        "extensionsUsed": ["EXT_structural_metadata", "EXT_mesh_gpu_instancing"],
        "extensions": {"EXT_structural_metadata": {"propertyTables": [{"properties": {"a": {"values": table}}}]}},
    }
    places = scene.add(np.arange(60, dtype=np.float32).reshape(20, 3))
    scene.header["nodes"][0]["extensions"] = {"EXT_mesh_gpu_instancing": {"attributes": {"TRANSLATION": places}}}
    before, after = packed(scene, tmp_path, "rounded")
    for number in (table, image):
        assert after.accessors.views.content(number) == before.accessors.views.content(number)
    assert (after.accessors.array(places) == before.accessors.array(places)).all()
    assert not is_packed(after, places) and is_packed(after, scene.primitive["attributes"]["POSITION"])


def test_shared_vertices_and_lines(tmp_path: Path) -> None:
    scene = Scene(9)
    half = scene.primitive | {"indices": scene.add(scene.triangles[:50].reshape(-1, 1).astype(np.uint16))}
    lines = {"attributes": dict(scene.primitive["attributes"]), "mode": 1}
    lines["attributes"]["POSITION"] = scene.add(scene.positions[:10].copy(), bounds=True)
    lines["attributes"].pop("TEXCOORD_0")
    lines["indices"] = scene.add(np.array([[0, 3, 3, 7, 7, 1]], np.uint16).T)
    scene.header["meshes"][0]["primitives"] += [half, lines]
    before, after = packed(scene, tmp_path, "meshopt")
    assert all((corners(before, k) == corners(after, k)).all() for k in (0, 1))
    assert after.primitive((0, 0))["attributes"] == after.primitive((0, 1))["attributes"]
    drawn = [
        one.accessors.array(lines["attributes"]["POSITION"])[one.accessors.array(lines["indices"])[:, 0]]
        for one in (before, after)
    ]
    assert (drawn[0] == drawn[1]).all()


@pytest.mark.parametrize("compression", ["meshopt", "rounded"])
@pytest.mark.parametrize(("side", "count", "form"), [(9, 0, ""), (9, 2, "bufferView"), (150, 9, "sparse")])
@pytest.mark.parametrize("based", [False, True])
def test_sparse_targets_take_the_shortest_form(
    side: int, count: int, form: str, based: bool, compression: Any, tmp_path: Path
) -> None:
    scene, rng = Scene(side), np.random.default_rng(0)
    moved = np.zeros_like(scene.positions)
    # Whole steps come back as they were.
    moved[rng.choice(len(moved), count, replace=False)] = rng.integers(1, 99, (count, 3)) / 256
    places = np.flatnonzero(moved.any(axis=1))
    entry: dict[str, Any] = {"componentType": 5126, "count": len(moved), "type": "VEC3"}
    if based:
        entry["bufferView"] = scene.add_bytes(bytes(moved.nbytes))
    if count:
        indices = {"bufferView": scene.add_bytes(places.astype(np.uint16).tobytes()), "componentType": 5123}
        values = {"bufferView": scene.add_bytes(moved[places].tobytes())}
        # A track in the view of sparse values is packed with them.
        track = np.arange(300, dtype="f4")[:, None]
        view = scene.header["bufferViews"][values["bufferView"]]
        times = scene.add(track, bounds=True)
        scene.header["accessors"][times] |= {"bufferView": values["bufferView"], "byteOffset": view["byteLength"]}
        view["byteLength"] += track.nbytes
        sampler = {"input": times, "output": times}
        channel = {"sampler": 0, "target": {"node": 0, "path": "weights"}}
        scene.header["animations"] = [{"samplers": [sampler], "channels": [channel]}]
        entry["sparse"] = {"count": count, "indices": indices, "values": values}
    entry |= {"min": moved.min(axis=0).tolist(), "max": moved.max(axis=0).tolist()}
    scene.header["accessors"].append(entry)
    target = len(scene.header["accessors"]) - 1
    scene.primitive["targets"] = [{"POSITION": target}]
    scene.primitive["attributes"] = {"POSITION": scene.add(np.round(scene.positions * 256) / 256, bounds=True)}
    before, after = packed(scene, tmp_path, compression)
    assert (corners(before) == corners(after)).all()
    found = after.header["accessors"][target]
    if based and not count:  # what lies in a view as zeros may stay there
        form = "bufferView"
    assert {"bufferView", "sparse"} & set(found) == ({form} if form else set())
    assert (found["min"], found["max"]) == (entry["min"], entry["max"])
    if count:
        assert is_packed(after, scene.header["animations"][0]["samplers"][0]["input"])


@pytest.mark.parametrize("compression", ["meshopt", "rounded"])
def test_sparse_rows_that_are_packed_wider_are_written_in_full(compression: Any, tmp_path: Path) -> None:
    """Rows of bytes get a fourth one, and weights of targets lie in rows by keys: sparse values have neither."""
    scene, count = Scene(150), 40_000  # so many that few are shorter

    def sparse(rows: int, component: int, kind: str, values: np.ndarray) -> int:
        indices = {"bufferView": scene.add_bytes(np.array([7, 90], np.uint16).tobytes()), "componentType": 5123}
        entry = {"count": 2, "indices": indices, "values": {"bufferView": scene.add_bytes(values.tobytes())}}
        scene.header["accessors"].append({"componentType": component, "count": rows, "type": kind, "sparse": entry})
        return len(scene.header["accessors"]) - 1

    marks = sparse(len(scene.positions), 5121, "VEC3", np.array([3, 5, 9, 4, 6, 8], np.uint8))
    scene.primitive["attributes"]["_MARK"] = marks
    scene.primitive["targets"] = [{"POSITION": scene.add(scene.positions, bounds=True)}] * 2
    weights = sparse(2 * count, 5126, "SCALAR", np.array([0.5, 0.25], np.float32))
    sampler = {"input": scene.add(np.arange(count, dtype="f4")[:, None], bounds=True), "output": weights}
    channel = {"sampler": 0, "target": {"node": 0, "path": "weights"}}
    scene.header["animations"] = [{"samplers": [sampler], "channels": [channel]}]
    before, after = packed(scene, tmp_path, compression)
    assert (before.accessors.array(weights) == after.accessors.array(weights)).all()
    assert (np.sort(before.accessors.array(marks), 0) == np.sort(after.accessors.array(marks), 0)).all()


def test_chains_of_meshes_are_packed_too(tmp_path: Path) -> None:
    scene = Scene(33)
    mesh = TriangleMesh(scene.positions, scene.triangles.astype(np.uint32))
    plain, exact, rounded = (
        meshes.lod_chain(mesh, [0.5, 0.2], compression=how) for how in ("none", "meshopt", "rounded")
    )
    files = [chain.with_normals().export(tmp_path / chain.compression)[1] for chain in (plain, exact, rounded)]
    sizes = [file.stat().st_size for file in files]
    assert sizes[2] < 0.6 * sizes[0] and sizes[2] < sizes[1] < sizes[0]
    assert (exact.errors == plain.errors).all() and (rounded.errors > plain.errors).all()
    assert hausdorff_bound(mesh, meshes.load(files[2])) <= 1.03 * rounded.errors[1]
    rounded.export_one(tmp_path / "one.glb")
    header = GltfScene.open(tmp_path / "one.glb").header
    assert {PACKED, "MSFT_lod"} <= set(header["extensionsUsed"])
    assert header["nodes"][1]["extras"]["error"] == rounded.errors[1]


def test_bytes_buy_more_triangles(tmp_path: Path) -> None:
    source = moving().write(tmp_path / "scene.glb")
    limits = [20_000, 12_000]
    plain, rounded = (meshes.scene_lod(source, limits, unit="bytes", compression=how) for how in ("none", "rounded"))
    for lod in (plain, rounded):
        sizes = [path.stat().st_size for path in lod.export(tmp_path / lod.compression)]
        assert all(size <= limit for size, limit in zip(sizes, limits, strict=True))
    assert all(few < 0.8 * many for few, many in zip(plain.triangles, rounded.triangles, strict=True))


def test_the_command_packs_and_says_when_it_does_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = Scene(17).write(tmp_path / "scene.glb")
    assert run_hra("mesh", "lods", source, "-o", tmp_path / "a", "--ratios", ".5", "--compression", "meshopt") == 0
    packed_one, said = (
        tmp_path / "a" / "lod0.glb",
        "lod0.glb is compressed by EXT_meshopt_compression; its levels are not",
    )
    for more in ((), ("--compression", "rounded")):
        capsys.readouterr()
        assert run_hra("mesh", "lods", packed_one, "-o", tmp_path / "b", "--ratios", ".5", *more) == 0
        assert (said in capsys.readouterr().out) == (not more)


@pytest.mark.parametrize("call", [meshes.lod_chain, meshes.scene_lod])
def test_another_compression_is_refused(call: Any, tmp_path: Path) -> None:
    with pytest.raises(HraError, match="compression"):
        call(Scene(9).write(tmp_path / "scene.glb"), [0.5], compression="zip")
