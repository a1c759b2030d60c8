"""Levels of a glTF scene keep all of it but triangles."""

from __future__ import annotations

import copy
import json
import math
import re
import tomllib
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from hra.domains import meshes
from hra.domains.meshes.distances.two_sided import hausdorff_bound
from hra.domains.meshes.files.gltf_files import split_glb
from hra.domains.meshes.files.gltf_scene import GltfScene
from hra.errors import FileError, HraError, MeshError, RepairWarning
from tests.helpers import gltf_validator
from tests.helpers.command import run_hra
from tests.helpers.hostile import gltf, gltf_extensions
from tests.helpers.scenes import Read, Scene, fetched

NAMES = tomllib.loads((Path(__file__).parents[3] / "helpers" / "gltf_names.toml").read_text())
# Attributes that one mesh holds, and their names there.
CARRIED = {"NORMAL": "normals", "TANGENT": "tangents", "TEXCOORD_0": "uv", "TEXCOORD_1": "uv2", "COLOR_0": "colors"}
PAGE = Path(__file__).parents[4] / "docs" / "readers.md"
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360606060000000050001"
    "a5f645400000000049454e44ae426082"
)


def levels(scene: Scene, folder: Path, shares: tuple[float, ...] = (1.0, 0.5, 0.2)) -> list[Read]:
    lod = meshes.scene_lod(scene.write(folder / "scene.glb"), list(shares))
    return [Read(path) for path in lod.export(folder / "levels")]


def rest(header: dict[str, Any]) -> dict[str, Any]:
    """A header without what says where data lies, and without the numbers of accessors in primitives."""
    left = copy.deepcopy({k: v for k, v in header.items() if k not in ("accessors", "bufferViews", "buffers")})
    for mesh in left["meshes"]:
        for primitive in mesh["primitives"]:
            primitive["attributes"] = sorted(primitive["attributes"])
            primitive["targets"] = [sorted(target) for target in primitive.get("targets", [])]
            primitive.pop("indices", None)
    return left


def rich() -> Scene:
    """A scene with everything that a level has to keep."""
    scene = Scene(33)
    scene.skin(scale=0.01)
    scene.morph()
    image = {"bufferView": scene.add_bytes(PNG), "mimeType": "image/png", "name": "dot"}
    scene.primitive["material"] = 0
    scene.header |= {
        "images": [image],
        "textures": [{"source": 0}],
        "materials": [
            {
                "name": "glass",
                "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}},
                "extensions": {
                    "KHR_materials_clearcoat": {"clearcoatFactor": 0.3, "clearcoatTexture": {"index": 0}},
                    "KHR_materials_ior": {"ior": 1.4},
                    "X_surface_wear": {"wear": 0.25, "note": "kept as it is"},
                },
            },
        ],
        "extensionsUsed": ["KHR_materials_clearcoat", "KHR_materials_ior", "X_surface_wear", "KHR_lights_punctual"],
        "extensionsRequired": ["X_surface_wear"],
        "extensions": {"KHR_lights_punctual": {"lights": [{"type": "point", "intensity": 3}]}},
        "cameras": [{"type": "perspective", "perspective": {"yfov": 0.5, "znear": 0.1}, "name": "eye"}],
        "extras": {"author": "nobody", "count": 3},
    }
    scene.header["nodes"] += [
        {"camera": 0, "name": "eye", "extras": {"a": [1, 2.5]}},
        {"extensions": {"KHR_lights_punctual": {"light": 0}}, "name": "lamp"},
        {"name": "a hand", "children": [len(scene.header["nodes"]) + 3], "translation": [1, 2, 3]},
        {"name": "a finger"},
    ]
    first = len(scene.header["nodes"]) - 4
    scene.header["scenes"][0]["nodes"] += [first, first + 1, first + 2]
    return scene


def test_all_of_a_scene_but_triangles_is_kept(tmp_path: Path) -> None:
    scene = rich()
    files = levels(scene, tmp_path)
    counts = [file.header["accessors"][file.header["meshes"][0]["primitives"][0]["indices"]]["count"] for file in files]
    assert counts[0] == scene.triangles.size and counts[1] <= 0.5 * counts[0] and counts[2] <= 0.2 * counts[0]
    for file in files:
        assert rest(file.header) == rest(scene.header)
        assert file.view(file.header["images"][0]["bufferView"]) == PNG
        (animation,), (skin,) = file.header["animations"], file.header["skins"]
        before = Read(tmp_path / "scene.glb")
        numbers = [*animation["samplers"][0].values(), skin["inverseBindMatrices"]]
        assert all((file.array(n) == before.array(n)).all() for n in numbers)


@pytest.mark.parametrize("blended", [False, True])
def test_triangles_of_levels_suit_the_cache_of_vertices(blended: bool, tmp_path: Path) -> None:
    scene = Scene(33)
    scene.header["materials"] = [{"alphaMode": "BLEND" if blended else "MASK"}]
    scene.primitive["material"] = 0
    found = levels(scene, tmp_path)[1]
    triangles = found.array(found.header["meshes"][0]["primitives"][0]["indices"]).reshape(-1, 3)
    assert (fetched(triangles) < 0.95) == (not blended)
    first = np.unique(triangles, return_index=True)[1]
    assert (np.diff(first) > 0).all()


def with_floats(value: Any) -> Any:
    """A header with 1.0 for 1 everywhere, as writers have it that know no whole numbers."""
    if isinstance(value, (dict, list)):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        found = {key: with_floats(one) for key, one in items}
        return found if isinstance(value, dict) else list(found.values())
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


@pytest.mark.parametrize("compression", ["none", "rounded"])
def test_whole_numbers_may_be_written_as_floats(compression: Any, tmp_path: Path) -> None:
    scene = rich()
    whole = meshes.scene_lod(scene.write(tmp_path / "whole.glb"), [1.0, 0.3], compression=compression)
    scene.header = with_floats(scene.header)
    lod = meshes.scene_lod(scene.write(tmp_path / "scene.glb"), [1.0, 0.3], compression=compression)
    for path, other in zip(lod.export(tmp_path / "a"), whole.export(tmp_path / "b"), strict=True):
        assert Read(path).header == Read(other).header
        assert Read(path).chunk == Read(other).chunk


def from_alike(positions: np.ndarray, rows: np.ndarray, there: np.ndarray, rows_there: np.ndarray) -> float:
    """How far vertices are at most from one of the source's with the same row, which there must be."""
    at: dict[tuple[float, ...], list[int]] = {}
    for number, row in enumerate(rows_there.tolist()):
        at.setdefault(tuple(row), []).append(number)
    alike = [there[at[tuple(row)]] for row in rows.tolist()]
    return max(np.linalg.norm(one - p, axis=1).min() for one, p in zip(alike, positions, strict=True))


def test_every_vertex_is_moved_by_poses_as_one_of_the_source_is(tmp_path: Path) -> None:
    """Its joints, weights and morph targets are that one's; what is fitted stays near to what it has."""
    scene = rich()
    before = Read(scene.write(tmp_path / "scene.glb"))
    for file in levels(scene, tmp_path)[1:]:
        own, source = (one.header["meshes"][0]["primitives"][0] for one in (file, before))

        def rows(read: Read, primitive: dict[str, Any]) -> np.ndarray:
            names = [name for name in sorted(primitive["attributes"]) if name.startswith(("JOINTS_", "WEIGHTS_"))]
            assert len(names) >= 2
            numbers = [primitive["attributes"][name] for name in names]
            numbers += [target["POSITION"] for target in primitive["targets"]]
            return np.concatenate([read.array(number).astype(np.float64) for number in numbers], axis=1)

        kept, there = rows(file, own), rows(before, source)
        positions = file.array(own["attributes"]["POSITION"])
        far = from_alike(positions, kept, before.array(source["attributes"]["POSITION"]), there)
        assert far < 1 / math.sqrt(len(kept))
        assert len(kept) == len(np.unique(file.array(own["indices"]))) < len(there)
        weights = file.array(own["attributes"]["WEIGHTS_0"])
        assert np.allclose(weights.sum(axis=1), 1)
        entry = file.header["accessors"][own["attributes"]["POSITION"]]
        assert entry["min"] == positions.min(axis=0).tolist() and entry["max"] == positions.max(axis=0).tolist()


@pytest.mark.parametrize(("side", "shown"), [(1.0, True), (0.3, True), (0.0, False)])
def test_morph_targets_of_few_vertices_stay_short(side: float, shown: bool, tmp_path: Path) -> None:
    """Sparse accessors are written as such where that is shorter, as others elsewhere, and hold the same rows."""
    scene = Scene(65)
    lifted = np.flatnonzero((scene.uv[:, 0] < side) & shown).astype(np.uint16)
    rows = np.zeros_like(scene.positions)
    rows[lifted, 1] = 0.1 + scene.uv[lifted, 1]
    entry: dict[str, Any] = {"componentType": 5126, "count": len(rows), "type": "VEC3"}
    entry |= {"min": rows.min(axis=0).tolist(), "max": rows.max(axis=0).tolist()}
    if shown:
        indices = {"bufferView": scene.add_bytes(lifted.tobytes()), "componentType": 5123}
        values = {"bufferView": scene.add_bytes(rows[lifted].tobytes())}
        entry["sparse"] = {"count": len(lifted), "indices": indices, "values": values}
    scene.header["accessors"].append(entry)
    scene.primitive["targets"] = [{"POSITION": len(scene.header["accessors"]) - 1}]
    scene.header["meshes"][0]["weights"] = [0.0]
    lod = meshes.scene_lod(scene.write(tmp_path / "scene.glb"), [0.5])
    (path,) = lod.export(tmp_path / "levels")
    level, before = GltfScene.open(path), GltfScene.open(tmp_path / "scene.glb")
    own, source = level.primitive((0, 0)), before.primitive((0, 0))
    number = own["targets"][0]["POSITION"]
    found = level.accessors.array(number)
    places = [one.accessors.array(of["attributes"]["POSITION"]) for one, of in ((level, own), (before, source))]
    assert from_alike(places[0], found, places[1], rows) < 0.02
    written = level.accessors.header["accessors"][number]
    assert ("bufferView" in written) == (side == 1)
    if side == 0.3:
        assert written["sparse"]["count"] == np.count_nonzero(found.any(axis=1))
    if gltf_validator.available():
        assert gltf_validator.errors([path]) == [[]]


@pytest.mark.parametrize("place", [(0.0, 0.0, 0.0), (381_797.0, 20.0, 5_820_377.0)])
def test_vertices_are_fitted_and_errors_are_those_of_the_file(place: tuple[float, ...], tmp_path: Path) -> None:
    """Wherever the sheet stands; its normals have unit length, and its texture stays where it was on it."""
    scene = Scene(25)
    scene.primitive["attributes"]["NORMAL"] = scene.add(np.tile(np.array([0, 1, 0], np.float32), (625, 1)))
    scene.primitive["material"] = 0
    image = {"bufferView": scene.add_bytes(PNG), "mimeType": "image/png"}
    scene.header |= {"images": [image], "textures": [{"source": 0}]}
    scene.header["materials"] = [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]
    scene.header["nodes"][0]["translation"] = list(place)
    lod = meshes.scene_lod(scene.write(tmp_path / "scene.glb"), [0.3, 0.1])
    assert lod.chain.certified
    source = meshes.TriangleMesh(scene.positions, scene.triangles.astype(np.uint32))
    rows = {tuple(row) for row in scene.positions.tolist()}
    for path, level, error in zip(lod.export(tmp_path / "levels"), lod.chain.levels, lod.chain.errors, strict=True):
        file = Read(path)
        own = file.header["meshes"][0]["primitives"][0]
        points, uv, normals = (file.array(own["attributes"][name]) for name in ("POSITION", "TEXCOORD_0", "NORMAL"))
        assert len(rows & {tuple(row) for row in points.tolist()}) < len(points) / 2
        assert np.allclose(np.linalg.norm(normals, axis=1), 1)
        assert np.abs(uv - points[:, [0, 2]]).max() < 0.02
        mesh = meshes.TriangleMesh(points, file.array(own["indices"]).reshape(-1, 3).astype(np.uint32))
        bound = hausdorff_bound(source, mesh)
        assert 0.97 * error < bound <= 1.021 * error
        assert len(level.positions) == len(points) and len(level.triangles) == len(mesh.triangles)
        entry = file.header["accessors"][own["attributes"]["POSITION"]]
        assert entry["min"] == points.min(axis=0).tolist() and entry["max"] == points.max(axis=0).tolist()


def test_an_accessor_that_is_positions_and_normals_becomes_two(tmp_path: Path) -> None:
    """A ball around its origin of radius 1, as exporters write it; its levels are no rounder than they are stated."""
    scene = Scene(33)
    scene.positions = scene.positions - np.array([0.5, -1.0, 0.5], np.float32)
    scene.positions /= np.linalg.norm(scene.positions, axis=1, keepdims=True)
    both = scene.add(scene.positions, bounds=True)
    scene.primitive["attributes"] |= {"POSITION": both, "NORMAL": both}
    lod = meshes.scene_lod(scene.write(tmp_path / "scene.glb"), [1.0, 0.1, 0.02])
    source = meshes.TriangleMesh(scene.positions, scene.triangles.astype(np.uint32))
    for path, error in zip(lod.export(tmp_path / "levels"), lod.chain.errors, strict=True):
        file = Read(path)
        own = file.header["meshes"][0]["primitives"][0]
        points, normals = (file.array(own["attributes"][name]) for name in ("POSITION", "NORMAL"))
        assert np.allclose(np.linalg.norm(normals, axis=1), 1)
        mesh = meshes.TriangleMesh(points, file.array(own["indices"]).reshape(-1, 3).astype(np.uint32))
        assert hausdorff_bound(source, mesh) <= 1.021 * error + 1e-6
    # What is the same stays one.
    finest = Read(tmp_path / "levels" / "lod0.glb").header["meshes"][0]["primitives"][0]["attributes"]
    assert finest["POSITION"] == finest["NORMAL"]


@pytest.mark.parametrize("place", [(0.0, 0.0, 0.0), (100.0, -20.0, 7.0), (381_797.0, 20.0, 5_820_377.0)])
def test_levels_as_whole_meshes_are_where_the_scene_is(place: tuple[float, ...], tmp_path: Path) -> None:
    scene = Scene(17)
    scene.header["nodes"][0]["translation"] = list(place)
    path = scene.write(tmp_path / "scene.glb")
    lod = meshes.scene_lod(path, [1.0, 0.2])
    with pytest.warns(RepairWarning, match="loses names"):
        whole = meshes.load(path)
    expected = whole.positions + np.array(whole.origin)
    finest = lod.chain.levels[0]
    found = finest.positions + np.array(finest.origin)
    assert np.allclose(found.min(axis=0), expected.min(axis=0), atol=1e-5, rtol=0)
    assert np.allclose(found.max(axis=0), expected.max(axis=0), atol=1e-5, rtol=0)
    assert (np.linalg.norm(finest.positions - lod.chain.center, axis=1) <= lod.chain.radius * 1.0001).all()
    first = Read(lod.chain.export(tmp_path / "chain")[0])
    node = first.header["nodes"][0]
    points = first.array(first.header["meshes"][0]["primitives"][0]["attributes"]["POSITION"])
    written = points + np.array(node.get("translation", (0, 0, 0)))
    assert np.allclose(written.min(axis=0), expected.min(axis=0), atol=1e-5, rtol=0)


def in_islands(shown: bool) -> Scene:
    """A sheet each of whose squares is an island in a texture, which a material shows or not."""
    scene = Scene(17)
    cell = np.arange(len(scene.triangles)) // 2
    corners = np.concatenate([np.unique(scene.triangles[2 * k : 2 * k + 2]) for k in range(256)])
    places = np.searchsorted(corners.reshape(256, 4)[0], scene.triangles[:2])
    scene.triangles = places[np.arange(len(cell)) % 2] + 4 * cell[:, None]
    scene.positions = scene.positions[corners]
    own = scene.uv[corners] + np.repeat(np.arange(256) % 7, 4)[:, None].astype(np.float32)
    attributes = {"POSITION": scene.add(scene.positions, bounds=True), "TEXCOORD_0": scene.add(own)}
    scene.primitive |= {"attributes": attributes, "material": 0}
    scene.primitive["indices"] = scene.add(scene.triangles.reshape(-1, 1).astype(np.uint16))
    image = {"bufferView": scene.add_bytes(PNG), "mimeType": "image/png"}
    scene.header |= {"images": [image], "textures": [{"source": 0}]}
    scene.header["materials"] = [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}} if shown else {}}]
    return scene


def test_seams_that_no_picture_shows_hold_nothing(tmp_path: Path) -> None:
    """Coordinates that no texture is laid out by stay, and cost no triangles; those that are shown do."""
    found = []
    for shown in (False, True):
        scene = in_islands(shown)
        lod = meshes.scene_lod(scene.write(tmp_path / f"{shown}.glb"), [0.25])
        (path,) = lod.export(tmp_path / f"levels {shown}")
        file = Read(path)
        own = file.header["meshes"][0]["primitives"][0]
        assert "TEXCOORD_0" in own["attributes"]
        assert lod.triangles[0] <= 128
        found.append(float(lod.chain.errors[0]))
    assert found[0] < 0.5 * found[1] and found[0] < 0.02


def bent(read: Read, angle: float) -> tuple[np.ndarray, np.ndarray]:
    """Positions [V, 3] of the sheet with its upper joint turned, and its triangles."""
    primitive = read.header["meshes"][0]["primitives"][0]
    positions, weights, joints = (
        read.array(primitive["attributes"][name]).astype(np.float64) for name in ("POSITION", "WEIGHTS_0", "JOINTS_0")
    )
    share = np.where(joints == 1, weights, 0).sum(axis=1)[:, None]
    cosine, sine = np.cos(angle), np.sin(angle)
    x, y, z = (positions - [0.5, 0, 0]).T
    turned = np.column_stack([cosine * x - sine * y + 0.5, sine * x + cosine * y, z])
    return (1 - share) * positions + share * turned, read.array(primitive["indices"]).reshape(-1, 3)


def test_a_level_of_a_skin_bends_as_the_source_does(tmp_path: Path) -> None:
    """In the pose that the file's animation ends with, no vertex of the source is far from the level's surface."""
    scene = Scene(33)
    scene.skin()
    files = levels(scene, tmp_path, (1.0, 0.25))
    (fine, _), (coarse, triangles) = (bent(file, np.pi / 2) for file in files)
    far = meshes.nearest_distances(fine, coarse.astype(np.float32), triangles.astype(np.uint32))
    assert far.max() < 0.02


def test_the_weights_of_a_skin_are_minded(tmp_path: Path) -> None:
    """On a flat sheet nothing but the skin can ask for vertices: they are where it bends."""
    scene = Scene(33)
    scene.positions[:, 1] = 0
    begin = scene.header["bufferViews"][0]["byteOffset"]
    chunk = scene.positions.tobytes()
    scene.chunk = scene.chunk[:begin] + chunk + scene.chunk[begin + len(chunk) :]
    del scene.primitive["attributes"]["TEXCOORD_0"]
    scene.skin()
    scene.header["accessors"][0] |= {"min": [0, 0, 0], "max": [1, 0, 1]}
    (file,) = levels(scene, tmp_path, (0.1,))
    positions = file.array(file.header["meshes"][0]["primitives"][0]["attributes"]["POSITION"])
    assert np.mean((positions[:, 0] > 0.2) & (positions[:, 0] < 0.8)) > 0.6
    (fine, _), (coarse, triangles) = bent(Read(tmp_path / "scene.glb"), np.pi / 2), bent(file, np.pi / 2)
    far = meshes.nearest_distances(fine, coarse.astype(np.float32), triangles.astype(np.uint32))
    assert far.max() < 0.02


def test_instances_stay_and_count_once(tmp_path: Path) -> None:
    scene = Scene()
    places = np.zeros((5, 3), np.float32)
    places[:, 0] = np.arange(5)
    extension = {"EXT_mesh_gpu_instancing": {"attributes": {"TRANSLATION": scene.add(places)}}}
    scene.header["nodes"][0]["extensions"] = extension
    scene.header["extensionsUsed"] = ["EXT_mesh_gpu_instancing"]
    lod = meshes.scene_lod(scene.write(tmp_path / "scene.glb"), [1.0, 0.5])
    assert lod.triangles[0] == len(scene.triangles)
    file = Read(lod.export(tmp_path / "levels")[1])
    used = file.header["nodes"][0]["extensions"]["EXT_mesh_gpu_instancing"]["attributes"]["TRANSLATION"]
    assert (file.array(used) == places).all()


def once_and_often(aside: int) -> Scene:
    """A mesh in one place, and its mirror image in sixteen, so far ``aside``."""
    scene = Scene()
    other = copy.deepcopy(scene.primitive)
    other["attributes"]["POSITION"] = scene.add(scene.positions * np.array([1, -1, 1], np.float32), bounds=True)
    scene.header["meshes"].append({"primitives": [other]})
    for place in range(16):
        scene.header["nodes"].append({"mesh": 1, "translation": [aside, 0, place]})
        scene.header["scenes"][0]["nodes"].append(place + 1)
    return scene


@pytest.mark.parametrize("unit", ["triangles", "bytes"])
def test_what_is_shown_often_keeps_more(unit: Any, tmp_path: Path) -> None:
    """Of two equal meshes the one that is shown in sixteen places has fewer errors."""
    path = once_and_often(2).write(tmp_path / "scene.glb")
    lod = meshes.scene_lod(path, [0.3 if unit == "triangles" else path.stat().st_size / 3], unit=unit)
    file = Read(lod.export(tmp_path / "levels")[0])
    once, often = (file.header["accessors"][m["primitives"][0]["indices"]]["count"] for m in file.header["meshes"])
    assert often > 1.3 * once > 0


@pytest.mark.parametrize("unit", ["triangles", "bytes"])
def test_nothing_is_said_of_how_places_are_weighed(unit: Any, tmp_path: Path) -> None:
    """Two meshes in each other, one of which is shown in sixteen places: nobody can mend what that does to sums."""
    path = once_and_often(0).write(tmp_path / "scene.glb")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        meshes.scene_lod(path, [0.5, 0.25] if unit == "triangles" else [18_000, 9_000], unit=unit)


def features(scene: Scene, numbers: np.ndarray, name: str = "_FEATURE_ID_0") -> None:
    """Give triangles numbers: vertices between two of them are doubled."""
    rows = scene.triangles + 1000 * numbers[:, None]
    pairs, index = np.unique(rows, return_inverse=True)
    vertices, owner = pairs % 1000, (pairs // 1000).astype(np.float32)[:, None]
    attributes = {"POSITION": scene.add(scene.positions[vertices], bounds=True), name: scene.add(owner)}
    scene.primitive |= {"attributes": attributes, "indices": scene.add(index.reshape(-1, 1).astype(np.uint16))}


@pytest.mark.parametrize("name", ["_FEATURE_ID_0", "_BATCHID"])
def test_numbers_of_features_do_not_bleed(name: str, tmp_path: Path) -> None:
    """Each kept triangle has one number, and the border between two numbers is where it was."""
    scene = Scene(25)
    middle = scene.uv[scene.triangles].mean(axis=1)
    numbers = (middle[:, 0] > 0.5) + 2 * (middle[:, 1] > 0.3)
    features(scene, numbers, name)
    (file,) = levels(scene, tmp_path, (0.3,))
    primitive = file.header["meshes"][0]["primitives"][0]
    ids = file.array(primitive["attributes"][name])[file.array(primitive["indices"]).reshape(-1, 3)][..., 0]
    points = file.array(primitive["attributes"]["POSITION"])[file.array(primitive["indices"]).reshape(-1, 3)]
    assert (ids == ids[:, :1]).all() and set(np.unique(ids)) == {0, 1, 2, 3}
    right = ids[:, 0] % 2 == 1
    assert points[right, :, 0].min() >= 0.5 and points[~right, :, 0].max() <= 0.5 + 1 / 24


def test_a_mesh_whose_vertices_mean_something_is_left_as_it_is(tmp_path: Path) -> None:
    scene = Scene()
    scene.primitive["attributes"]["_FEATURE_ID_0"] = scene.add(np.arange(289, dtype=np.float32)[:, None])
    other = copy.deepcopy(scene.primitive)
    del other["attributes"]["_FEATURE_ID_0"]
    scene.header["meshes"].append({"primitives": [other]})
    scene.header["nodes"].append({"mesh": 1})
    scene.header["scenes"][0]["nodes"].append(1)
    path = scene.write(tmp_path / "scene.glb")
    with pytest.warns(RepairWarning, match=r"meshes\[0\] 'wavy'.*several numbers of _FEATURE_ID_0"):
        lod = meshes.scene_lod(path, [1.0, 0.75])
    file = Read(lod.export(tmp_path / "levels")[1])
    counts = [file.header["accessors"][mesh["primitives"][0]["indices"]]["count"] for mesh in file.header["meshes"]]
    assert counts[0] == scene.triangles.size and counts[1] <= 0.5 * scene.triangles.size
    assert sum(counts) == 3 * lod.triangles[1] <= 0.75 * 2 * scene.triangles.size


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda s: s.primitive.update(extensions={"X_outline": {"indices": 2}}), "X_outline may speak of its vertices"),
        (lambda s: s.header["meshes"][0].update(extensions={"X_solid": {}}), "X_solid may speak"),
        (
            lambda s: s.primitive.update(extensions={"EXT_mesh_features": {"featureIds": [{"featureCount": 289}]}}),
            "each of its vertices a number of its own",
        ),
    ],
)
def test_extensions_of_geometry_that_are_not_known_leave_a_mesh_alone(change, said: str, tmp_path: Path) -> None:
    scene = Scene()
    other = copy.deepcopy(scene.primitive)
    change(scene)
    scene.header["meshes"].append({"primitives": [other]})
    scene.header["nodes"].append({"mesh": 1})
    scene.header["scenes"][0]["nodes"].append(1)
    with pytest.warns(RepairWarning, match=said):
        lod = meshes.scene_lod(scene.write(tmp_path / "scene.glb"), [1.0, 0.75])
    (path, _) = lod.export(tmp_path / "levels")
    assert rest(Read(path).header) == rest(scene.header)


@pytest.mark.parametrize("one_file", [False, True])
def test_other_triangles_are_no_polygons_any_more(one_file: bool, tmp_path: Path) -> None:
    scene = Scene()
    scene.primitive["extensions"] = {"FB_ngon_encoding": {}, "KHR_materials_variants": {"mappings": []}}
    used = ["FB_ngon_encoding", "KHR_materials_variants"]
    scene.header |= {"extensionsUsed": used, "extensions": {"KHR_materials_variants": {"variants": [{"name": "a"}]}}}
    lod = meshes.scene_lod(scene.write(tmp_path / "scene.glb"), [1.0, 0.5] if one_file else [0.5])
    with pytest.warns(RepairWarning, match=r"meshes\[0\]: FB_ngon_encoding was dropped"):
        if one_file:
            lod.export_one(tmp_path / "levels.glb")
        else:
            lod.export(tmp_path, "levels")
    header = Read(tmp_path / ("levels.glb" if one_file else "levels0.glb")).header
    assert [mesh["primitives"][0]["extensions"] for mesh in header["meshes"]] == [
        {"KHR_materials_variants": {"mappings": []}}
    ] * (2 if one_file else 1)
    assert header["extensionsUsed"] == ["KHR_materials_variants", *["MSFT_lod"] * one_file]
    # What keeps its triangles keeps its polygons.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        meshes.scene_lod(tmp_path / "scene.glb", [1.0]).export(tmp_path, "whole")
    assert rest(Read(tmp_path / "whole0.glb").header) == rest(scene.header)


def test_a_scene_without_anything_to_simplify_is_refused(tmp_path: Path) -> None:
    scene = Scene()
    scene.primitive["mode"] = 0
    with pytest.raises(MeshError, match="no triangles that can be simplified"):
        meshes.scene_lod(scene.write(tmp_path / "scene.glb"), [0.5])


def test_required_extensions_of_geometry_are_refused_by_name(tmp_path: Path) -> None:
    for place in ("primitive", "accessor", "name"):
        scene = Scene()
        name = "X_mesh_things" if place == "name" else "X_things"
        entry = {"primitive": scene.primitive, "accessor": scene.header["accessors"][0]}.get(place, scene.header)
        entry["extensions"] = {name: {}}
        scene.header |= {"extensionsUsed": [name], "extensionsRequired": [name]}
        with pytest.raises(FileError, match=name):
            meshes.scene_lod(scene.write(tmp_path / "scene.glb"), [0.5])


def test_quantized_attributes_keep_their_types(tmp_path: Path) -> None:
    scene = Scene()
    grid = np.zeros((len(scene.positions), 4), np.uint16)
    grid[:, :3] = np.rint((scene.positions + 1) * 20000)
    view = scene.add_bytes(grid.tobytes())
    scene.header["bufferViews"][view]["byteStride"] = 8
    entry = {"bufferView": view, "componentType": 5123, "count": len(grid), "type": "VEC3"}
    entry |= {"min": grid[:, :3].min(axis=0).tolist(), "max": grid[:, :3].max(axis=0).tolist()}
    scene.header["accessors"].append(entry)
    colors = np.full((len(grid), 3), 200, np.uint8)
    scene.primitive["attributes"] |= {"POSITION": len(scene.header["accessors"]) - 1}
    padded = scene.add(np.column_stack([colors, colors[:, :1]]), normalized=True)
    scene.header["accessors"][padded]["type"] = "VEC3"
    scene.header["bufferViews"][scene.header["accessors"][padded]["bufferView"]]["byteStride"] = 4
    scene.primitive["attributes"]["COLOR_0"] = padded
    scene.header |= {name: ["KHR_mesh_quantization"] for name in ("extensionsUsed", "extensionsRequired")}
    scene.header["nodes"][0]["scale"] = [1 / 20000] * 3
    (file,) = levels(scene, tmp_path, (0.4,))
    own = file.header["meshes"][0]["primitives"][0]["attributes"]
    assert file.header["accessors"][own["POSITION"]]["componentType"] == 5123
    assert file.array(own["POSITION"]).dtype == np.uint16
    assert (file.array(own["COLOR_0"]) == 200).all() and file.header["accessors"][own["COLOR_0"]]["normalized"]
    assert file.header["extensionsRequired"] == ["KHR_mesh_quantization"]


def test_shared_vertices_are_still_shared(tmp_path: Path) -> None:
    """Two primitives over the same accessors have the same accessors afterwards."""
    scene = Scene()
    half = len(scene.triangles) // 2 * 3
    flat = scene.triangles.reshape(-1, 1).astype(np.uint16)
    second = copy.deepcopy(scene.primitive)
    scene.primitive["indices"], second["indices"] = scene.add(flat[:half]), scene.add(flat[half:])
    scene.header["meshes"][0]["primitives"].append(second)
    (file,) = levels(scene, tmp_path, (0.4,))
    one, two = file.header["meshes"][0]["primitives"]
    assert one["attributes"] == two["attributes"] and one["indices"] != two["indices"]


def test_the_largest_place_decides(tmp_path: Path) -> None:
    """Of two equal meshes the one that is shown ten times larger gets more triangles."""
    scene = Scene()
    scene.header["meshes"].append({"primitives": [copy.deepcopy(scene.primitive)]})
    scene.header["nodes"].append({"mesh": 1, "scale": [10, 10, 10], "translation": [5, 0, 0]})
    scene.header["scenes"][0]["nodes"].append(1)
    (file,) = levels(scene, tmp_path, (0.3,))
    small, large = (
        file.header["accessors"][mesh["primitives"][0]["indices"]]["count"] for mesh in file.header["meshes"]
    )
    assert large > 3 * small > 0


def test_every_primitive_keeps_a_triangle_and_numbers_hold(tmp_path: Path) -> None:
    scene = Scene(33)
    tiny = copy.deepcopy(scene.primitive)
    scene.header["meshes"].append({"primitives": [tiny]})
    for k in range(6):
        scene.header["nodes"].append({"mesh": 1, "scale": [1e-4] * 3, "translation": [k, 2, 0]})
        scene.header["scenes"][0]["nodes"].append(k + 1)
    lod = meshes.scene_lod(scene.write(tmp_path / "scene.glb"), [1000, 200])
    assert lod.triangles[0] <= 1000 and lod.triangles[1] <= 200
    for path, total in zip(lod.export(tmp_path / "levels"), lod.triangles, strict=True):
        file = Read(path)
        counts = [file.header["accessors"][m["primitives"][0]["indices"]]["count"] for m in file.header["meshes"]]
        assert min(counts) >= 3 and sum(counts) == 3 * total


def test_a_primitive_that_keeps_one_triangle_is_no_farther_away_than_it_is(tmp_path: Path) -> None:
    """A tiny sheet far from all else: the file shows its last triangle, and so does the mesh that is measured."""
    scene = Scene(33)
    scene.header["meshes"].append({"primitives": [copy.deepcopy(scene.primitive)]})
    scene.header["nodes"].append({"mesh": 1, "scale": [0.01] * 3, "translation": [50, 0, 0]})
    scene.header["scenes"][0]["nodes"].append(1)
    lod = meshes.scene_lod(scene.write(tmp_path / "scene.glb"), [40, 20])
    own = [len(level[1, 0]) for level in lod.levels]
    assert own == [1, 1] and lod.chain.errors[1] < 1
    assert tuple(len(level.triangles) for level in lod.chain.levels) == lod.triangles


def test_the_last_triangle_of_a_primitive_has_a_size(tmp_path: Path) -> None:
    scene = Scene(17)
    tiny = copy.deepcopy(scene.primitive)
    corners = np.concatenate([np.zeros((2, 3), np.int64), scene.triangles])
    tiny["indices"] = scene.add(corners.reshape(-1, 1).astype(np.uint16))
    scene.header["meshes"].append({"primitives": [tiny]})
    scene.header["nodes"].append({"mesh": 1, "scale": [1e-4] * 3})
    scene.header["scenes"][0]["nodes"].append(1)
    lod = meshes.scene_lod(scene.write(tmp_path / "scene.glb"), [100])
    assert len(lod.levels[0][1, 0]) == 1 and len(np.unique(lod.levels[0][1, 0])) == 3


def test_what_vanishes_in_a_coarse_level_costs_the_fine_one_nothing(tmp_path: Path) -> None:
    scene = Scene(33)
    for k in range(5):
        scene.header["meshes"].append({"primitives": [copy.deepcopy(scene.primitive)]})
        scene.header["nodes"].append({"mesh": k + 1, "scale": [1e-3] * 3, "translation": [k, 2, 0]})
        scene.header["scenes"][0]["nodes"].append(k + 1)
    lod = meshes.scene_lod(scene.write(tmp_path / "scene.glb"), [1.0, 150])
    assert lod.triangles[0] == 6 * len(scene.triangles) and not lod.levels[0] and lod.triangles[1] <= 150


def test_a_small_part_is_not_the_first_to_go(tmp_path: Path) -> None:
    """A ball over rough ground: all of it would be gone, while the ground is only smoothed."""
    scene, rng = Scene(33), np.random.default_rng(1)
    ground = scene.positions + np.array([0, 0.03, 0], np.float32) * rng.normal(size=(len(scene.positions), 1)).astype(
        np.float32
    )
    scene.primitive["attributes"]["POSITION"] = scene.add(ground, bounds=True)
    rows, columns = 10, 20
    row, column = np.meshgrid(np.arange(rows + 1) * np.pi / rows, np.arange(columns) * np.pi / 10, indexing="ij")
    places = [np.sin(row) * np.cos(column), np.cos(row), np.sin(row) * np.sin(column)]
    points = 0.06 * np.stack(places, axis=-1).reshape(-1, 3).astype(np.float32)
    number = np.arange((rows + 1) * columns).reshape(rows + 1, columns)
    number[0], number[-1] = 0, rows * columns
    a, b, c, d = number[:-1], np.roll(number[:-1], -1, 1), np.roll(number[1:], -1, 1), number[1:]
    faces = np.concatenate([np.stack([a, b, d], -1).reshape(-1, 3), np.stack([b, c, d], -1).reshape(-1, 3)])
    faces = faces[(faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])]
    ball: dict[str, Any] = {"attributes": {"POSITION": scene.add(points, bounds=True)}}
    ball["indices"] = scene.add(faces.reshape(-1, 1).astype(np.uint16))
    scene.header["meshes"].append({"primitives": [ball]})
    scene.header["nodes"].append({"mesh": 1, "translation": [0.5, 0.6, 0.5]})
    scene.header["scenes"][0]["nodes"].append(1)
    file = levels(scene, tmp_path, (0.1,))[0]
    primitive = file.header["meshes"][1]["primitives"][0]
    corners = file.array(primitive["attributes"]["POSITION"])[file.array(primitive["indices"]).reshape(-1, 3)]
    sides = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert np.linalg.norm(sides, axis=1).sum() / 2 > 0.8 * 4 * np.pi * 0.06**2


def in_palette(radius: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A ball whose patches of 2 x 2 squares lie each in another colour of a palette: positions, coordinates, faces."""
    points, coordinates, faces = [], [], []
    places = np.random.default_rng(0).integers(0, 8, (6, 12, 2))
    for row, column in np.ndindex(6, 12):
        down, across = np.meshgrid(np.arange(3), np.arange(3), indexing="ij")
        theta, phi = np.pi / 12 * (2 * row + down), np.pi / 12 * (2 * column + across)
        own = np.stack([np.sin(theta) * np.cos(phi), np.cos(theta), np.sin(theta) * np.sin(phi)], -1)
        first = np.array([[0], [1], [3], [4]]) + 9 * len(points)
        points.append(np.round(radius * own, 6).reshape(-1, 3))
        coordinates.append((places[row, column] + 0.5 + 0.1 * np.stack([across, down], -1).reshape(-1, 2)) / 8)
        faces += [first + np.array([0, 1, 4]), first + np.array([0, 4, 3])]
    return np.concatenate(points), np.concatenate(coordinates), np.concatenate(faces)


def test_small_parts_in_the_colours_of_a_palette_stay(tmp_path: Path) -> None:
    """Their seams let no edge collapse: they were kept with all their triangles or dropped as a whole."""
    scene = Scene(3)
    scene.header |= {"images": [{"bufferView": scene.add_bytes(PNG), "mimeType": "image/png"}]}
    scene.header |= {"textures": [{"source": 0}]}
    scene.header["materials"] = [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]
    for number in range(8):
        points, coordinates, faces = in_palette(1.0 if number < 4 else 0.3)
        attributes = {"POSITION": scene.add(points.astype(np.float32), bounds=True)}
        attributes["TEXCOORD_0"] = scene.add(coordinates.astype(np.float32))
        ball = {"attributes": attributes, "indices": scene.add(faces.reshape(-1, 1).astype(np.uint16)), "material": 0}
        scene.header["meshes"].append({"primitives": [ball]})
        scene.header["nodes"].append({"mesh": number + 1, "translation": [3 * number, 3, 0]})
        scene.header["scenes"][0]["nodes"].append(number + 1)
    lod = meshes.scene_lod(scene.write(tmp_path / "scene.glb"), [0.3, 0.2])
    assert all(len(level[number, 0]) >= 16 for level in lod.levels for number in range(1, 9))
    assert lod.chain.errors[0] < 0.11 and lod.chain.errors[1] < 0.15


@pytest.mark.parametrize("stated", [[0.0, 0.0, 1.0], [None, None, None]])
@pytest.mark.parametrize("compression", ["none", "rounded"])
def test_values_that_are_no_numbers_give_no_bounds(stated: list[Any], compression: Any, tmp_path: Path) -> None:
    scene = Scene(9)
    normals = np.tile(np.array([0, 0, 1], np.float32), (81, 1))
    normals[5] = np.nan
    number = scene.add(normals, min=stated, max=stated)
    scene.primitive["attributes"]["NORMAL"] = number
    scene.header["nodes"][0]["children"] = []
    with pytest.warns(RepairWarning, match="normals of 1 vertices are not finite"):
        lod = meshes.scene_lod(scene.write(tmp_path / "scene.glb"), [1.0, 0.5], compression=compression)
    for path in lod.export(tmp_path / "levels"):
        text = split_glb(path.read_bytes(), "")[0].decode()
        assert not re.search(r"NaN|null|\[\]", text), text


def test_mirrored_meshes_are_not_turned_inside_out(tmp_path: Path) -> None:
    scene = Scene()
    scene.header["nodes"][0]["scale"] = [-1, 1, 1]
    (file,) = levels(scene, tmp_path, (0.4,))
    primitive = file.header["meshes"][0]["primitives"][0]
    points = file.array(primitive["attributes"]["POSITION"])[file.array(primitive["indices"]).reshape(-1, 3)]
    normals = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    # A triangle on the border may stand upright.
    assert (normals[:, 1] >= 0).all() and (normals[:, 1] > 0).mean() > 0.98


@pytest.mark.parametrize("whole", [False, True])
def test_leaves_that_grow_are_written_where_they_belong(whole: bool, tmp_path: Path) -> None:
    """In floats and in whole numbers, below a node that mirrors and scales."""
    scene, rng = Scene(), np.random.default_rng(0)
    leaf, sides = np.array([[-1, 0, 0], [0, 0.5, 0], [0, -0.5, 0], [1, 0, 0]]), np.array([[0, 2, 1], [2, 3, 1]])
    turn, _ = np.linalg.qr(rng.normal(size=(500, 3, 3)))
    points = (rng.uniform(-1, 1, (500, 1, 3)) + 0.05 * np.einsum("nij,pj->npi", turn, leaf)).reshape(-1, 3)
    points = (30_000 * points / np.abs(points).max()).astype(np.int16 if whole else np.float32)
    triangles = (sides + 4 * np.arange(500)[:, None, None]).reshape(-1, 1)
    stored = np.pad(points, ((0, 0), (0, 1))) if whole else points
    number = scene.add(points, bounds=True)
    if whole:
        scene.header["accessors"][number]["bufferView"] = scene.add_bytes(stored.tobytes())
        scene.header["bufferViews"][-1] |= {"byteStride": 8, "target": 34962}
        scene.header["extensionsUsed"] = scene.header["extensionsRequired"] = ["KHR_mesh_quantization"]
    scene.primitive["attributes"] = {"POSITION": number}
    scene.primitive["indices"] = scene.add(triangles.astype(np.uint16))
    scene.header["nodes"][0] |= {"scale": [-2, 2, 2], "translation": [5, 0, 0]}

    def area(points: np.ndarray, indices: np.ndarray) -> float:
        corners = points.astype(np.float64)[indices.reshape(-1, 3).astype(int)]
        across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        return float(np.linalg.norm(across, axis=1).sum())

    for file, most in zip(levels(scene, tmp_path, (0.5, 0.1)), (500, 100), strict=True):
        primitive = file.header["meshes"][0]["primitives"][0]
        found, indices = file.array(primitive["attributes"]["POSITION"]), file.array(primitive["indices"])
        assert found.dtype == points.dtype and indices.size <= 3 * most
        assert area(found, indices) / area(points, triangles) == pytest.approx(1, abs=0.02)
        assert np.ptp(found.astype(float), axis=0) / np.ptp(points.astype(float), axis=0) == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("skinned", [False, True])
def test_all_levels_in_one_file_are_those_of_their_nodes(skinned: bool, tmp_path: Path) -> None:
    scene = rich()
    if not skinned:
        del scene.header["nodes"][0]["skin"]
    lod = meshes.scene_lod(scene.write(tmp_path / "scene.glb"), [1.0, 0.5, 0.2])
    lod.export_one(tmp_path / "all.glb")
    file = Read(tmp_path / "all.glb")
    nodes = file.header["nodes"]
    finest = nodes[0] if skinned else nodes[nodes[0]["children"][0]]
    chain = [finest, *(nodes[k] for k in finest["extensions"]["MSFT_lod"]["ids"])]
    assert nodes[0]["name"] == "sheet" and all(("skin" in one) == skinned for one in chain)
    assert ("mesh" in nodes[0]) == skinned and not any("children" in one for one in chain)
    counts = [
        file.header["accessors"][file.header["meshes"][one["mesh"]]["primitives"][0]["indices"]]["count"] // 3
        for one in chain
    ]
    assert tuple(counts) == lod.triangles and [one["extras"]["triangles"] for one in chain[1:]] == counts[1:]
    assert "MSFT_lod" in file.header["extensionsUsed"]
    assert len(file.header["images"]) == 1 and file.header["materials"] == scene.header["materials"]


def test_levels_in_the_place_of_a_node_have_all_that_it_has(tmp_path: Path) -> None:
    """A hidden mesh of a skin, with a camera: none of its levels is shown, either."""
    scene = rich()
    hidden = {"KHR_node_visibility": {"visible": False}}
    scene.header["nodes"][0] |= {"camera": 0, "extensions": hidden, "extras": {"a": 1}}
    scene.header["cameras"] = [{"type": "perspective", "perspective": {"yfov": 0.7, "znear": 0.1}}]
    scene.header["extensionsUsed"] = [*scene.header.get("extensionsUsed", []), "KHR_node_visibility"]
    meshes.scene_lod(scene.write(tmp_path / "scene.glb"), [1.0, 0.5]).export_one(tmp_path / "all.glb")
    nodes = Read(tmp_path / "all.glb").header["nodes"]
    assert nodes[0]["extras"] == {"a": 1}
    (coarse,) = (nodes[k] for k in nodes[0]["extensions"]["MSFT_lod"]["ids"])
    assert coarse["extensions"] == hidden and coarse["camera"] == 0 and "a" not in coarse["extras"]


def test_levels_are_not_shown_where_a_file_has_no_scenes(tmp_path: Path) -> None:
    scene = Scene()
    del scene.header["scenes"], scene.header["scene"]
    meshes.scene_lod(scene.write(tmp_path / "scene.glb"), [1.0, 0.5]).export_one(tmp_path / "all.glb")
    header = Read(tmp_path / "all.glb").header
    assert header["scenes"] == [{"nodes": [0]}] and header["scene"] == 0
    with pytest.warns(RepairWarning, match="loses MSFT_lod"):
        assert len(meshes.load(tmp_path / "all.glb").triangles) == len(scene.triangles)


def test_a_skin_of_a_node_that_no_scene_shows_may_have_fewer_joints(tmp_path: Path) -> None:
    scene = rich()
    node, nodes = scene.header["nodes"][0], scene.header["scenes"][0]["nodes"]
    alone = meshes.scene_lod(scene.write(tmp_path / "scene.glb"), [0.5])
    scene.header["skins"].append({"joints": scene.header["skins"][0]["joints"][:1]})
    scene.header["nodes"].append(dict(node))
    node["skin"], nodes[nodes.index(0)] = 1, len(scene.header["nodes"]) - 1
    assert meshes.scene_lod(scene.write(tmp_path / "scene.glb"), [0.5]).triangles == alone.triangles
    nodes.append(0)
    with pytest.raises(FileError, match="a vertex names joint 1, but the skin has 1"):
        meshes.scene_lod(scene.write(tmp_path / "scene.glb"), [0.5])


@pytest.mark.parametrize("skinned", [False, True])
def test_levels_of_a_node_that_the_source_has_stay(skinned: bool, tmp_path: Path) -> None:
    scene = rich()
    if not skinned:
        del scene.header["nodes"][0]["skin"]
    scene.header["extensionsUsed"] = [*scene.header.get("extensionsUsed", []), "MSFT_lod"]
    scene.header["nodes"].append({"name": "far"})
    own = {"ids": [len(scene.header["nodes"]) - 1]}
    scene.header["nodes"][0].setdefault("extensions", {})["MSFT_lod"] = own
    meshes.scene_lod(scene.write(tmp_path / "scene.glb"), [1.0, 0.5]).export_one(tmp_path / "all.glb")
    nodes = Read(tmp_path / "all.glb").header["nodes"]
    finest = nodes[nodes[0]["children"][0]]
    assert nodes[0]["extensions"]["MSFT_lod"] == own and finest["extensions"]["MSFT_lod"] != own
    assert ("skin" in finest) == skinned


@pytest.mark.parametrize("pointer", ["", "/nodes/0/weights", "/nodes/0/weights/1", "/meshes/0/weights"])
def test_animated_morph_weights_keep_the_finest_level_in_one_file(pointer: str, tmp_path: Path) -> None:
    """Also those that a pointer leads to (KHR_animation_pointer): below the node they would be another's."""
    scene = Scene()
    scene.morph()
    times = scene.add(np.array([[0], [1]], np.float32), bounds=True)
    sampler = {"input": times, "output": scene.add(np.array([[0], [0], [1], [1]], np.float32))}
    channel: dict[str, Any] = {"sampler": 0, "target": {"node": 0, "path": "weights"}}
    if pointer:
        content = {"KHR_animation_pointer": {"pointer": pointer}}
        channel["target"] = {"path": "pointer", "extensions": content}
        scene.header["extensionsUsed"] = ["KHR_animation_pointer"]
    scene.header["animations"] = [{"samplers": [sampler], "channels": [channel]}]
    lod = meshes.scene_lod(scene.write(tmp_path / "scene.glb"), [1.0, 0.5])
    with pytest.warns(RepairWarning, match="animated morph weights keep the finest level"):
        lod.export_one(tmp_path / "all.glb")
    assert Read(tmp_path / "all.glb").header["nodes"][0] == {"mesh": 0, "name": "sheet"}


def occurrence(scene: Scene, name: str, place: str) -> Any:
    """Put an extension where it stands in real files; what it says is not looked at."""
    content = {"factor": 0.125, "texture": {"index": 0, "texCoord": 0}, "list": [1, 2, 3]}
    if place == "materials":
        scene.header["images"] = [{"bufferView": scene.add_bytes(PNG), "mimeType": "image/png"}]
        scene.header["textures"] = [{"source": 0}]
        scene.primitive["material"] = 0
        scene.header["materials"] = [{"extensions": {name: content}}]
    elif place == "textures":
        scene.header["images"] = [{"bufferView": scene.add_bytes(PNG), "mimeType": "image/png"}]
        scene.header["textures"] = [{"source": 0, "extensions": {name: {"source": 0}}}]
    elif place == "textureInfo":
        scene.header["images"] = [{"bufferView": scene.add_bytes(PNG), "mimeType": "image/png"}]
        scene.header["textures"] = [{"source": 0}]
        info = {"index": 0, "extensions": {name: {"offset": [0.5, 0.25], "rotation": 0.5}}}
        scene.header["materials"] = [{"pbrMetallicRoughness": {"baseColorTexture": info}}]
        scene.primitive["material"] = 0
    elif place == "nodes":
        scene.header["nodes"][0]["extensions"] = {name: content}
    elif place == "animations":
        times = scene.add(np.array([[0], [1]], np.float32), bounds=True)
        sampler = {"input": times, "output": scene.add(np.array([[0], [1]], np.float32))}
        target = {"path": "pointer", "extensions": {name: {"pointer": "/materials/0/alphaCutoff"}}}
        scene.header["animations"] = [{"samplers": [sampler], "channels": [{"sampler": 0, "target": target}]}]
    elif place == "primitives":
        scene.primitive["extensions"] = {name: {"mappings": [{"material": 0, "variants": [0]}]}}
        scene.header["materials"] = [{}]
    else:
        scene.header["extensions"] = {name: content}
        if place == "scenes":
            scene.header["scenes"][0]["extensions"] = {name: content}
    scene.header["extensionsUsed"] = [name]


@pytest.mark.parametrize(("name", "place"), sorted(NAMES["passed"].items()))
@pytest.mark.parametrize("required", [False, True])
def test_every_extension_of_real_files_is_passed_on(name: str, place: str, required: bool, tmp_path: Path) -> None:
    scene = Scene()
    occurrence(scene, name, place)
    if required:
        scene.header["extensionsRequired"] = [name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (file,) = levels(scene, tmp_path, (0.5,))
    assert rest(file.header) == rest(scene.header)


@pytest.mark.parametrize(("name", "place"), sorted(NAMES["passed"].items()))
def test_what_one_mesh_loses_of_them_is_named(name: str, place: str, tmp_path: Path) -> None:
    scene = Scene()
    scene.header["nodes"][0].pop("name")
    scene.header["meshes"][0].pop("name")
    occurrence(scene, name, place)
    path = scene.write(tmp_path / "scene.glb")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        meshes.load(path)
    kept = name in NAMES["kept_by_one_mesh"] or place == "materials"
    assert any(name in str(one.message) for one in caught) == (not kept)


@pytest.mark.parametrize("name", [name for name, place in NAMES["passed"].items() if place == "materials"])
def test_one_mesh_keeps_extensions_of_materials(name: str, tmp_path: Path) -> None:
    """Through a built mesh, its levels and its tiles, with the images that the extension names."""
    scene = Scene()
    occurrence(scene, name, "materials")
    scene.header["materials"][0]["extras"] = {"price": 3}
    clusters = meshes.build(scene.write(tmp_path / "scene.glb"))
    clusters.save(tmp_path / "a.hra")
    meshes.lod_chain(meshes.open_asset(tmp_path / "a.hra"), [1.0, 0.5]).export_one(tmp_path / "all.glb")
    meshes.open_asset(tmp_path / "a.hra").read().mesh(np.arange(1)).export(tmp_path / "one.glb")
    (tmp_path / "packed.glb").write_bytes(meshes.compressed_glb(meshes.load(tmp_path / "scene.glb")))
    for file in (Read(tmp_path / stem) for stem in ("all.glb", "one.glb", "packed.glb")):
        (material,) = file.header["materials"]
        assert material["extensions"] == {name: {"factor": 0.125, "texture": {"index": 0}, "list": [1, 2, 3]}}
        assert material["extras"] == {"price": 3} and name in file.header["extensionsUsed"]
        image = file.header["images"][file.header["textures"][0]["source"]]
        assert file.view(image["bufferView"]) == PNG


def test_the_second_set_of_an_extensions_texture_is_kept(tmp_path: Path) -> None:
    """Its coordinates with their transform become the mesh's second set."""
    scene = Scene()
    scene.header["images"] = [{"bufferView": scene.add_bytes(PNG), "mimeType": "image/png"}]
    scene.header["textures"] = [{"source": 0}]
    moved = {"index": 0, "texCoord": 1, "extensions": {"KHR_texture_transform": {"offset": [0.5, 0]}}}
    base = {"baseColorTexture": {"index": 0}}
    coat = {"KHR_materials_clearcoat": {"clearcoatTexture": moved}}
    scene.header["materials"] = [{"pbrMetallicRoughness": base, "extensions": coat}]
    scene.header["extensionsUsed"] = ["KHR_materials_clearcoat", "KHR_texture_transform"]
    scene.primitive["material"] = 0
    scene.primitive["attributes"]["TEXCOORD_1"] = scene.add(scene.uv / 4)
    mesh = meshes.load(scene.write(tmp_path / "scene.glb"))
    assert mesh.attributes is not None and mesh.attributes.uv is not None and mesh.attributes.uv2 is not None
    assert np.allclose(mesh.attributes.uv2, mesh.attributes.uv / 4 + [0.5, 0])
    mesh.export(tmp_path / "one.glb")
    (material,) = Read(tmp_path / "one.glb").header["materials"]
    assert material["extensions"] == {"KHR_materials_clearcoat": {"clearcoatTexture": {"index": 0, "texCoord": 1}}}


def test_glossy_materials_keep_their_colour_as_one_mesh(tmp_path: Path) -> None:
    scene = Scene()
    glossy = {"diffuseFactor": [1, 0, 0, 1], "glossinessFactor": 0.25}
    scene.header["materials"] = [{"extensions": {"KHR_materials_pbrSpecularGlossiness": glossy}}]
    scene.header["extensionsUsed"] = ["KHR_materials_pbrSpecularGlossiness"]
    scene.primitive["material"] = 0
    mesh = meshes.load(scene.write(tmp_path / "scene.glb"))
    assert mesh.attributes is not None
    (material,) = mesh.attributes.materials
    assert (material.base_color, material.metallic, material.roughness) == ((1, 0, 0, 1), 0, 0.75)
    assert json.loads(material.other)["extensions"] == scene.header["materials"][0]["extensions"]


@pytest.mark.parametrize("name", NAMES["attributes"])
def test_every_attribute_of_real_files_is_kept_or_named(name: str, tmp_path: Path) -> None:
    scene = Scene()
    columns = {"POSITION": 3, "NORMAL": 3, "TEXCOORD": 2}.get(name.partition("_")[0], 4)
    columns = 1 if name.startswith("_") else columns
    used, count = scene.primitive["attributes"], len(scene.positions)
    stem, _, number = name.rpartition("_")
    values = np.zeros((count, columns), np.float32)
    values[:, -1] = 1
    for k in range(int(number) if number.isdigit() and not name.startswith("_") else 0):
        used.setdefault(f"{stem}_{k}", scene.add(values.astype(np.uint8) if stem == "JOINTS" else values))
    if stem in ("JOINTS", "WEIGHTS"):
        for k in range(int(number) + 1):
            used[f"JOINTS_{k}"] = scene.add(np.zeros((count, 4), np.uint8))
            used[f"WEIGHTS_{k}"] = scene.add(np.full((count, 4), 0.25 / (int(number) + 1), np.float32))
        scene.header["skins"] = [{"joints": [0]}]
        scene.header["nodes"] = [{"name": "bone"}, {"mesh": 0, "skin": 0}]
        scene.header["scenes"][0]["nodes"] = [0, 1]
    else:
        used[name] = used.get(name, None) if name in used else scene.add(values)
    if name == "TANGENT":
        used["NORMAL"] = scene.add(np.tile(np.array([0, 1, 0], np.float32), (count, 1)))
    path = scene.write(tmp_path / "scene.glb")
    (file,) = levels(scene, tmp_path, (0.5,))
    assert set(file.header["meshes"][0]["primitives"][0]["attributes"]) == set(used)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mesh = meshes.load(path)
    said = " ".join(str(one.message) for one in caught)
    if name in CARRIED:
        assert mesh.attributes is not None and CARRIED[name] in mesh.attributes.names
    elif stem in ("JOINTS", "WEIGHTS"):
        assert "skins (1)" in said
    else:
        assert name == "POSITION" or name in said


@pytest.mark.skipif(not gltf_validator.available(), reason="needs Node.js and gltf-validator")
def test_levels_are_valid_where_the_source_is(tmp_path: Path) -> None:
    scene = rich()
    assert gltf_validator.issues(scene.write(tmp_path / "scene.glb"))["numErrors"] == 0
    lod = meshes.scene_lod(tmp_path / "scene.glb", [1.0, 0.5, 0.2])
    lod.export_one(tmp_path / "all.glb")
    for path in [*lod.export(tmp_path / "levels"), tmp_path / "all.glb"]:
        found = gltf_validator.issues(path)
        assert (found["numErrors"], found["numWarnings"]) == (0, 0), found["messages"]


def test_the_command_keeps_the_scene(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene = rich()
    path = scene.write(tmp_path / "scene.glb")
    assert run_hra("mesh", "lods", path, "-o", tmp_path / "levels", "--ratios", "1,.5") == 0
    assert "bounds of how far the surface is" in capsys.readouterr().out
    assert rest(Read(tmp_path / "levels" / "lod1.glb").header) == rest(scene.header)
    assert run_hra("mesh", "lods", path, "-o", tmp_path / "all.glb", "--ratios", "1,.5") == 0
    assert len(Read(tmp_path / "all.glb").header["meshes"]) == 2


def test_an_avatar_keeps_what_makes_it_one(tmp_path: Path) -> None:
    """A VRM is a GLB whose extension names nodes, meshes and materials by their numbers."""
    scene = rich()
    scene.header["extensionsUsed"] = [*scene.header.get("extensionsUsed", []), "VRMC_vrm"]
    bones = {"humanoid": {"humanBones": {"hips": {"node": 1}}}}
    scene.header["extensions"] = scene.header.get("extensions", {}) | {"VRMC_vrm": bones}
    path = scene.write(tmp_path / "avatar.glb").rename(tmp_path / "avatar.VRM")
    assert run_hra("mesh", "lods", path, "-o", tmp_path / "levels", "--ratios", "1,.5") == 0
    assert rest(Read(tmp_path / "levels" / "lod1.glb").header) == rest(scene.header)
    with pytest.warns(RepairWarning, match="VRMC_vrm"):
        assert len(meshes.load(path).triangles) == len(scene.triangles)


def test_levels_are_checked(tmp_path: Path) -> None:
    path = Scene().write(tmp_path / "scene.glb")
    for wrong in ([], [0.5, 0.7], [-1.0], [0.0]):
        with pytest.raises(HraError):
            meshes.scene_lod(path, wrong)
    for sizes in ([], [0.5], ["a"], [math.nan], [math.inf], 5e5, [1e4, 2e4], np.array([1e4, 1e4])):
        with pytest.raises(HraError):
            meshes.scene_lod(path, sizes, unit="bytes")  # type: ignore[arg-type]
    assert meshes.scene_lod(path, np.array([2e4, 1e4]), unit="bytes").triangles[1] > 0  # type: ignore[arg-type]
    with pytest.raises(HraError, match="lens must be a Camera, got a int"):
        meshes.scene_lod(path, [2e4], unit="bytes", lens=3)  # type: ignore[arg-type]
    with pytest.raises(FileError, match="not written as"):
        meshes.scene_lod(path, [0.5]).export_one(tmp_path / "a.gltf")
    path.rename(tmp_path / "scene.ply")
    with pytest.raises(FileError, match=r"'\.ply' is no suffix of a glTF scene"):
        meshes.scene_lod(tmp_path / "scene.ply", [0.5])


def test_a_count_that_cannot_be_had_is_named_once(tmp_path: Path) -> None:
    scene = Scene(33)
    # As many parts as the coarsest clusters have triangles: some lose all of theirs, and keep one.
    parts = np.array_split(scene.triangles, 24)
    primitives = [scene.primitive | {"indices": scene.add(one.reshape(-1, 1).astype(np.uint16))} for one in parts]
    scene.header["meshes"][0]["primitives"] = primitives
    with pytest.warns(RepairWarning, match="2 triangles were asked for, and the coarsest level has") as caught:
        lod = meshes.scene_lod(scene.write(tmp_path / "scene.glb"), [1000, 2])
    assert 500 < lod.triangles[0] <= 1000 and 2 < lod.triangles[1] < 200
    named = [str(one.message) for one in caught if "asked for" in str(one.message)]
    assert len(named) == 1 and named[0].endswith(f"the coarsest level has {lod.triangles[1]}")
    with warnings.catch_warnings():
        warnings.simplefilter("error", RepairWarning)
        assert meshes.scene_lod(scene.write(tmp_path / "scene.glb"), [lod.triangles[1]]).triangles == lod.triangles[1:]


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "AVIF"])
def test_images_beside_the_file_are_put_into_it(kind: str, tmp_path: Path) -> None:
    scene = Scene()
    scene.header |= {"images": [{"uri": "dot.png"}], "textures": [{"source": 0}]}
    scene.header["materials"] = [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]
    scene.primitive["material"] = 0
    Image.new("RGB", (8, 8), (9, 90, 200)).save(tmp_path / "dot.png", kind)
    content = (tmp_path / "dot.png").read_bytes()
    (file,) = levels(scene, tmp_path, (0.5,))
    (image,) = file.header["images"]
    assert image["mimeType"] == f"image/{kind.lower()}" and file.view(image["bufferView"]) == content
    (tmp_path / "dot.png").unlink()
    with pytest.warns(RepairWarning, match=r"dot\.png' is missing"):
        (file,) = levels(scene, tmp_path, (0.5,))
    assert file.header["images"] == [{"uri": "dot.png"}]


def test_what_unknown_extensions_refer_to_keeps_its_number(tmp_path: Path) -> None:
    """A table's view stays where an extension says it is, though all other data moves."""
    scene = Scene()
    table = bytes(range(40))
    number = scene.add_bytes(table)
    scene.header["extensions"] = {"EXT_structural_metadata": {"propertyTables": [{"values": number}]}}
    scene.header["extensionsUsed"] = ["EXT_structural_metadata"]
    (file,) = levels(scene, tmp_path, (0.3,))
    assert file.view(number) == table and file.header["extensions"] == scene.header["extensions"]


def test_numbers_of_the_header_are_written_as_they_were(tmp_path: Path) -> None:
    scene = Scene()
    scene.header["nodes"][0] |= {"scale": [1, 1.5, 2], "extras": {"big": 12345678901234567890, "small": 1e-7}}
    path = scene.write(tmp_path / "scene.glb")
    text = json.dumps(GltfScene.open(path).header["nodes"])
    (file,) = levels(scene, tmp_path, (0.5,))
    assert json.dumps(file.header["nodes"]) == text == json.dumps(scene.header["nodes"])


def test_what_shines_brighter_than_the_format_allows_stays_as_it_is(tmp_path: Path) -> None:
    scene = Scene()
    scene.primitive["material"] = 0
    scene.header["materials"] = [{"name": "sun", "emissiveFactor": [2, 1.5, 0.25]}]
    with pytest.warns(RepairWarning, match=r"materials\[0\] 'sun' \[2.0, 1.5, 0.25\] is above 1.*is kept"):
        lod = meshes.scene_lod(scene.write(tmp_path / "scene.glb"), [0.5])
    scene.header["materials"][0]["emissiveFactor"] = [1, 0.75, 0.125]
    dim = meshes.scene_lod(scene.write(tmp_path / "scene.glb"), [0.5])
    assert lod.scene.header["materials"] == [{"name": "sun", "emissiveFactor": [2, 1.5, 0.25]}]
    (path,) = lod.export(tmp_path / "levels")
    assert Read(path).header["materials"] == lod.scene.header["materials"]
    assert lod.chain.errors.tolist() == dim.chain.errors.tolist()


def table() -> str:
    """What docs/readers.md says of the names, which the tests above try one by one."""
    rows = ["| where | names | levels of the scene | one mesh |", "| --- | --- | --- | --- |"]
    for place in dict.fromkeys(NAMES["passed"].values()):
        for kept in (True, False):
            names = [
                n
                for n, p in NAMES["passed"].items()
                if p == place and (n in NAMES["kept_by_one_mesh"] or p == "materials") == kept
            ]
            if names:
                shown = ", ".join(f"`{name}`" for name in names)
                rows.append(f"| {place} | {shown} | kept | {'kept' if kept else 'lost, and named'} |")
    attributes = {
        "kept": [n for n in NAMES["attributes"] if n in CARRIED or n == "POSITION"],
        "applied at rest": [n for n in NAMES["attributes"] if n.startswith(("JOINTS", "WEIGHTS"))],
    }
    attributes["lost, and named"] = [n for n in NAMES["attributes"] if not any(n in own for own in attributes.values())]
    for outcome, names in attributes.items():
        rows.append(f"| attributes | {', '.join(f'`{name}`' for name in names)} | kept | {outcome} |")
    return "\n".join(rows)


def test_the_page_says_what_the_tests_try() -> None:
    text = PAGE.read_text()
    begin, end = text.index("<!-- scenes -->\n"), text.index("\n<!-- end scenes -->")
    assert text[begin + len("<!-- scenes -->\n") : end] == table()


def test_hostile_files_are_refused_with_an_error_that_helps(tmp_path: Path) -> None:
    """Every way to break a file that readers are tested with: a triangle of each primitive, or one of hra's errors."""
    ends: Counter[str] = Counter()
    for case in (*gltf.cases(), *gltf_extensions.cases()):
        for name, content in case.beside.items():
            (tmp_path / name).write_bytes(content)
        path = tmp_path / ("a.glb" if case.content.startswith(b"glTF") else "a.gltf")
        path.write_bytes(case.content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                scene = GltfScene.open(path)
                places = [(mesh, k) for mesh, own in scene.drawn().items() for k in own]
                level = {place: scene.triangles(place)[:1] for place in places}
                (tmp_path / "one.glb").write_bytes(scene.glb([level]))
                assert meshes.load(tmp_path / "one.glb").triangles.size >= 3 or not places
                ends["written"] += 1
            except HraError as error:
                assert error.what and error.fix
                ends["refused"] += 1
    assert ends["written"] > 50 and ends["refused"] > 200
