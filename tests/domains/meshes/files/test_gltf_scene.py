"""Files hold what stays as it was, and nothing of what was replaced.

Short files draw and move as the source does: they lack keys that change nothing, and what is there twice.
"""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.meshes.files.gltf_keys import enough_keys, needed_keys
from hra.domains.meshes.files.gltf_scene import GltfScene, _different
from tests.helpers.scenes import Read, Scene


def at(times: np.ndarray, values: np.ndarray, moment: float, interpolation: str) -> np.ndarray:
    """An animation at a moment, as section 3.11 of the format says."""
    after = int(np.searchsorted(times, moment, side="right"))
    if after in (0, len(times)):
        return values[min(after, len(times) - 1)]
    before = after - 1
    if interpolation == "STEP":
        return values[before]
    share = (moment - times[before]) / (times[after] - times[before])
    return values[before] + share * (values[after] - values[before])


@given(
    st.lists(st.integers(0, 2), min_size=1, max_size=12),
    st.sampled_from(["LINEAR", "STEP", "CUBICSPLINE"]),
    st.lists(st.floats(-1, 13), min_size=1, max_size=20),
)
def test_an_animation_is_the_same_at_every_moment(track: list[int], interpolation: str, moments: list[float]) -> None:
    times, values = np.arange(len(track), dtype=float), np.array(track, np.float64)
    kept = needed_keys(values[:, None], len(track), interpolation)
    assert {0, len(track) - 1} <= set(kept.tolist()) and (np.diff(kept) > 0).all()
    for moment in moments:
        assert at(times, values, moment, interpolation) == at(times[kept], values[kept], moment, interpolation)
    if interpolation == "CUBICSPLINE":
        assert len(kept) == len(track)
    else:  # no key of those that are left could go
        for gone in kept[1:-1].tolist():
            rest = kept[kept != gone]
            tried = [*times.tolist(), *(times[:-1] + 0.5).tolist()]
            pairs = [
                (at(times, values, t, interpolation), at(times[rest], values[rest], t, interpolation)) for t in tried
            ]
            collinear = interpolation == "LINEAR" and 2 * values[gone] == values[gone - 1] + values[gone + 1]
            assert any(a != b for a, b in pairs) or collinear


@given(st.integers(1, 200), st.integers(0, 2**32), st.sampled_from([1e-4, 0.01, 0.3]), st.booleans())
def test_keys_left_out_are_nearly_what_is_between(count: int, seed: int, tolerance: float, turns: bool) -> None:
    rng = np.random.default_rng(seed)
    values = np.cumsum(rng.normal(0, 0.1, (count, 4 if turns else 3)), axis=0) + 1
    if turns:
        values /= np.linalg.norm(values, axis=1, keepdims=True)
    times = np.cumsum(rng.uniform(0.01, 1, count))
    kept = enough_keys(times, values, "rotation" if turns else "scale", tolerance)
    assert kept[0] == 0 and kept[-1] == count - 1 and (np.diff(kept) > 0).all()
    most = tolerance if turns else tolerance * (np.ptp(values, axis=0).max() + np.abs(values).max() / 64)
    for first, last in pairwise(kept.tolist()):
        share = ((times[first:last] - times[first]) / (times[last] - times[first]))[:, None]
        if turns:  # the chord's direction, at the angle that the share is of the whole
            angle = np.arccos(np.clip(values[first] @ values[last], -1, 1))
            side = values[last] - np.cos(angle) * values[first]
            side /= max(np.linalg.norm(side), 1e-12)
            found = np.cos(share * angle) * values[first] + np.sin(share * angle) * side
            assert angle < np.pi / 2
        else:
            found = values[first] + share * (values[last] - values[first])
        assert np.abs(found - values[first:last]).max() <= most + 1e-9


def test_a_long_even_movement_takes_few_keys() -> None:
    times = np.arange(1000.0)
    assert len(enough_keys(times, np.outer(times, [1, 2, 3]), "translation", 1e-6)) == 17
    assert enough_keys(times[:1], np.ones((1, 3)), "scale", 1e-6).tolist() == [0]


def test_keys_left_out_leave_no_half_turn_whose_way_rounding_decides() -> None:
    angles = np.radians(np.arange(0, 721, 30) / 2)[:, None]
    axis = np.array([[1, 2, 3]]) / np.sqrt(14)
    values = np.concatenate([np.sin(angles) * axis, np.cos(angles)], axis=1).astype(np.float32)
    kept = enough_keys(np.arange(25.0), values, "rotation", 1e-4)
    assert 4 < len(kept) < 25
    assert np.abs((values[kept[:-1]] * values[kept[1:]]).sum(axis=1)).min() > 0.2


@pytest.mark.parametrize("path", ["rotation", "weights", "pointer"])
def test_only_what_is_known_to_move_without_jumps_loses_keys(path: str, tmp_path: Path) -> None:
    scene = Scene(9)
    scene.skin()
    times = scene.add(np.linspace(0, 1, 50, dtype=np.float32)[:, None], bounds=True)
    angle = np.linspace(0, 1, 50)[:, None]
    rows = np.concatenate([np.sin(angle), 0 * angle, 0 * angle, np.cos(angle)], axis=1).astype(np.float32)
    if path == "weights":  # of two targets
        rows = np.concatenate([angle, 2 - angle], axis=1).astype(np.float32).reshape(-1, 1)
    animation = scene.header["animations"][0]
    animation["samplers"] = [{"input": times, "output": scene.add(rows)}]
    animation["channels"][0]["target"]["path"] = path
    source = GltfScene.open(scene.write(tmp_path / "a.glb"))
    for tolerance in (0.0, 2.0**-14):
        target = tmp_path / "b.glb"
        target.write_bytes(source.glb([], short=True, tolerance=tolerance))
        after = GltfScene.open(target).accessors
        (sampler,) = after.header["animations"][0]["samplers"]
        count = 2 if tolerance > 0 and path != "pointer" else 50
        assert len(after.array(sampler["input"])) == count
        assert len(after.array(sampler["output"])) == count * len(rows) // 50


def moving(*, extension: bool = False) -> Scene:
    """A bent sheet, of which other tracks rest or move as another does."""
    scene = Scene(9)
    scene.skin()
    node = len(scene.header["nodes"])
    scene.header["nodes"].append({"name": "lamp"})
    scene.header["scenes"][0]["nodes"].append(node)
    animation = scene.header["animations"][0]
    tracks = {"translation": np.ones((20, 3)), "scale": np.full((20, 3), 2.0), "rotation": np.eye(4)[[3] * 19 + [0]]}
    for path, rows in tracks.items():
        for _ in range(2):
            times = scene.add(np.linspace(0, 3, 20, dtype=np.float32)[:, None], bounds=True)
            sampler = {"input": times, "output": scene.add(rows.astype(np.float32))}
            animation["channels"].append(
                {"sampler": len(animation["samplers"]), "target": {"node": node, "path": path}}
            )
            animation["samplers"].append(sampler)
            node = 0 if node else len(scene.header["nodes"]) - 1
    if extension:
        scene.header["extensions"] = {"X_other": {"accessor": 3}}
        scene.header["extensionsUsed"] = ["X_other"]
    return scene


def tracks(read: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    samplers = read.header["animations"][0]["samplers"]
    return [(read.array(one["input"])[:, 0], read.array(one["output"])) for one in samplers]


@pytest.mark.parametrize("extension", [False, True])
def test_a_short_file_moves_as_the_source_does(extension: bool, tmp_path: Path) -> None:
    source = moving(extension=extension).write(tmp_path / "a.glb")
    scene = GltfScene.open(source)
    short = tmp_path / "short.glb"
    short.write_bytes(scene.glb([], short=True))
    assert short.stat().st_size < 0.7 * len(scene.glb([]))
    before, after = Read(source), GltfScene.open(short)
    header = after.accessors.header
    for (old_times, old), one in zip(tracks(before), header["animations"][0]["samplers"], strict=True):
        times, rows = (after.accessors.array(one[end]) for end in ("input", "output"))
        assert times[-1, 0] == old_times[-1]
        for moment in np.linspace(-0.5, 3.5, 81):
            assert (at(old_times, old, moment, "LINEAR") == at(times[:, 0], rows, moment, "LINEAR")).all()
    assert [len(after.accessors.array(one["input"])) for one in header["animations"][0]["samplers"]] == [
        2,
        *[2] * 4,
        3,
        3,
    ]
    inputs = {one["input"] for one in header["animations"][0]["samplers"]}
    assert len(inputs) == 3
    for name in ("nodes", "scenes"):
        assert header[name] == before.header[name]
    primitive, old = header["meshes"][0]["primitives"][0], before.header["meshes"][0]["primitives"][0]
    for name, number in old["attributes"].items():
        assert (after.accessors.array(primitive["attributes"][name]) == before.array(number)).all()
    assert (after.accessors.array(primitive["indices"]) == before.array(old["indices"])).all()
    inverse = header["skins"][0]["inverseBindMatrices"]
    assert (after.accessors.array(inverse) == before.array(before.header["skins"][0]["inverseBindMatrices"])).all()
    if extension:  # which may refer to an accessor by its number
        assert (after.accessors.array(3) == before.array(3)).all()
        assert primitive["attributes"] == old["attributes"]
    else:
        referred = {*primitive["attributes"].values(), primitive["indices"], inverse}
        referred |= {one[end] for one in header["animations"][0]["samplers"] for end in ("input", "output")}
        assert referred == set(range(len(header["accessors"])))


def resting(
    tmp_path: Path,
    rows: dict[str, list[list[float]]],
    more: list[Any] | None = None,
    words: dict[str, Any] | None = None,
    **header: Any,
) -> dict[str, Any]:
    """The animations of a short file of a node with a place of its own, one second each, with these tracks by path.

    Channels have these words, too.
    """
    words = words or {}
    scene = Scene(3)
    scene.header["nodes"][0] |= {"translation": [1.0, 2.0, 3.0], "rotation": [0.0, 0.6, 0.0, 0.8]}
    scene.header |= {"animations": [], **header}
    for one in [rows, *(more or [])]:
        samplers, channels = [], []
        for path, values in one.items():
            times = np.linspace(0, 1, len(values), dtype=np.float32)[:, None]
            samplers.append({"input": scene.add(times, bounds=True), "output": scene.add(np.array(values, "f4"))})
            channels.append({"sampler": len(channels), "target": {"node": 0, "path": path}} | words)
        scene.header["animations"].append({"samplers": samplers, "channels": channels})
    source = GltfScene.open(scene.write(tmp_path / "scene.glb"))
    (tmp_path / "short.glb").write_bytes(source.glb([], short=True, tolerance=2.0**-14))
    found = GltfScene.open(tmp_path / "short.glb").accessors
    return {
        "tracks": [
            {c["target"]["path"]: found.array(a["samplers"][c["sampler"]]["output"]).tolist() for c in a["channels"]}
            for a in found.header["animations"]
        ],
        "ends": [max(float(found.array(s["input"]).max()) for s in a["samplers"]) for a in found.header["animations"]],
    }


REST, TURN = [[1.0, 2.0, 3.0]] * 2, [[0.0, 0.6, 0.0, 0.8], [0.0, -0.6, 0.0, -0.8]]
GROWN = [[1.0, 1.0, 1.0], [1.0, 2.0, 1.0]]


def test_short_files_leave_out_what_no_animation_moves(tmp_path: Path) -> None:
    found = resting(tmp_path, {"translation": REST, "rotation": TURN[:1] * 2, "scale": GROWN})
    assert found == {"tracks": [{"scale": GROWN}], "ends": [1.0]}
    # A part that another animation moves is led back by this one, and one that ends last says when.
    moved = [[1.0, 2.0, 3.0], [1.0, 2.0, 4.0]]
    found = resting(tmp_path, {"translation": REST, "scale": GROWN}, [{"translation": moved}])
    tracks = [{"translation": REST, "scale": GROWN}, {"translation": moved}]
    assert found == {"tracks": tracks, "ends": [1.0, 1.0]}
    # The other sign is the same turn.
    for turn in TURN:
        found = resting(tmp_path, {"translation": REST, "rotation": [turn] * 2})
        assert found == {"tracks": [{"translation": REST}], "ends": [1.0]}
    # What others say of a channel may need it.
    found = resting(tmp_path, {"translation": REST, "scale": GROWN}, words={"extras": {"part": "hull"}})
    assert found["tracks"] == [{"translation": REST, "scale": GROWN}]


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("translation", [[1.0, 2.0, 3.0], [1.0, 2.0, 3.01], [1.0, 2.0, 3.0]]),
        ("translation", [[1.001, 2.0, 3.0]] * 2),
        ("rotation", [[0.0, 0.6, 0.0, 0.8], [0.001, 0.6, 0.0, 0.8]]),
        ("scale", [[1.0, 1.0, 1.001]] * 2),
    ],
)
def test_what_moves_or_stands_elsewhere_keeps_its_channels(
    path: str, values: list[list[float]], tmp_path: Path
) -> None:
    found = resting(
        tmp_path, {path: values, "scale" if path != "scale" else "rotation": (GROWN if path != "scale" else TURN)}
    )
    assert path in found["tracks"][0]


@pytest.mark.parametrize(
    "header",
    [
        {"extensionsUsed": ["KHR_animation_pointer"]},
        {"extensionsUsed": ["KHR_interactivity"]},
        {"nodes": [{"mesh": 0, "matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 5, 0, 0, 1]}]},
    ],
)
def test_tracks_stay_where_nodes_may_be_elsewhere(header: dict[str, Any], tmp_path: Path) -> None:
    still = REST if "nodes" not in header else [[0.0, 0.0, 0.0]] * 2
    found = resting(tmp_path, {"translation": still, "scale": GROWN}, **header)
    assert found["tracks"] == [{"translation": still, "scale": GROWN}]


def test_splines_whose_tangents_lead_away_keep_their_channels(tmp_path: Path) -> None:
    scene = Scene(3)
    times = scene.add(np.array([[0], [1]], np.float32), bounds=True)
    outputs = np.ones((6, 3), np.float32), np.array([[1, 1, 1], [1, 2, 1]], np.float32)
    samplers: list[dict[str, Any]] = [{"input": times, "output": scene.add(one)} for one in outputs]
    samplers[0]["interpolation"] = "CUBICSPLINE"
    scene.header["nodes"].append({})
    channels = [{"sampler": k, "target": {"node": k, "path": "scale"}} for k in range(2)]
    scene.header["animations"] = [{"samplers": samplers, "channels": channels}]
    source = GltfScene.open(scene.write(tmp_path / "scene.glb"))
    (tmp_path / "short.glb").write_bytes(source.glb([], short=True, tolerance=2.0**-14))
    assert GltfScene.open(tmp_path / "short.glb").header["animations"][0]["channels"] == channels


@pytest.mark.parametrize(
    ("path", "shape"), [("rotation", (5, 3)), ("translation", (7, 3)), ("translation", (3, 3)), ("weights", (7, 1))]
)
def test_tracks_of_other_counts_than_keys_are_passed_on(path: str, shape: tuple[int, int], tmp_path: Path) -> None:
    scene, values = Scene(3), np.random.default_rng(0).random(shape).astype(np.float32)
    sampler = {"input": scene.add(np.arange(5, dtype="f4")[:, None], bounds=True), "output": scene.add(values)}
    channel = {"sampler": 0, "target": {"node": 0, "path": path}}
    scene.header["animations"] = [{"samplers": [sampler], "channels": [channel]}]
    source = GltfScene.open(scene.write(tmp_path / "scene.glb"))
    (tmp_path / "short.glb").write_bytes(source.glb([], short=True, tolerance=2.0**-14))
    found = GltfScene.open(tmp_path / "short.glb").accessors
    assert (found.array(found.header["animations"][0]["samplers"][0]["output"]) == values).all()


def test_short_files_are_the_same_each_time(tmp_path: Path) -> None:
    scene = moving()
    source = GltfScene.open(scene.write(tmp_path / "scene.glb"))
    tolerances = (2.0**-14, 0.0, 0.25) * 2
    found = [source.glb([], short=True, tolerance=tolerance) for tolerance in tolerances]
    alone = [GltfScene.open(tmp_path / "scene.glb").glb([], short=True, tolerance=one) for one in tolerances]
    assert found == alone


@pytest.mark.parametrize("most", [255, 256])
def test_a_short_file_draws_the_same_corners(most: int, tmp_path: Path) -> None:
    """Each vertex and array is written once, in one view for all arrays of a kind; joints are bytes if they fit."""
    scene = Scene(9)
    scene.skin()
    scene.morph()
    attributes, target = scene.primitive["attributes"], scene.primitive["targets"][0]
    joints = Read(scene.write(tmp_path / "a.glb")).array(attributes["JOINTS_0"]).astype(np.uint16)
    joints[0, 2] = most
    corners = scene.triangles.reshape(-1)  # each triangle has vertices of its own
    read = Read(tmp_path / "a.glb")
    for one in (attributes, *scene.primitive["targets"]):
        for name, number in one.items():
            rows = joints if name == "JOINTS_0" else read.array(number)
            one[name] = scene.add(rows[corners], bounds=True)
    attributes["TEXCOORD_1"] = scene.add(scene.uv[corners])
    target["NORMAL"] = scene.add(np.zeros((len(corners), 3), np.float32))
    scene.primitive["indices"] = scene.add(np.arange(len(corners), dtype=np.uint16)[:, None])
    scene.header["nodes"][0] |= {"translation": [1.0, -0.0, 0.25], "extras": {"kept": 1.0}}
    source = scene.write(tmp_path / "a.glb")
    opened = GltfScene.open(source)
    (tmp_path / "short.glb").write_bytes(opened.glb([{(0, 0): opened.triangles((0, 0))}], short=True))
    before, after = Read(source), Read(tmp_path / "short.glb")
    files = before, GltfScene.open(tmp_path / "short.glb").accessors
    own = [file.header["meshes"][0]["primitives"][0] for file in files]
    indices = [file.array(one["indices"])[:, 0] for file, one in zip(files, own, strict=True)]
    for old, new in zip(*([one["attributes"], *one["targets"]] for one in own), strict=True):
        assert old.keys() == new.keys()
        for name in old:
            drawn = [file.array(one[name])[index] for file, one, index in zip(files, (old, new), indices, strict=True)]
            assert (drawn[0] == drawn[1]).all()
            entry = files[1].header["accessors"][new[name]]
            assert entry["count"] == len(scene.positions)
            assert ("min" in entry) == (name == "POSITION")
            if "min" in entry:
                assert np.float32(entry["min"]).tolist() == drawn[0].min(axis=0).tolist()
                assert np.float32(entry["max"]).tolist() == drawn[0].max(axis=0).tolist()
    found = own[1]["attributes"]
    assert files[1].header["accessors"][found["JOINTS_0"]]["componentType"] == (5121 if most == 255 else 5123)
    assert found["TEXCOORD_1"] == found["TEXCOORD_0"]
    kinds = [(view["target"], view.get("byteStride")) for view in after.header["bufferViews"] if "target" in view]
    assert len(kinds) == len(set(kinds)) == (5 if most == 255 else 4)
    assert b'"translation":[1,-0.0,0.25],"extras":{"kept":1.0}' in (tmp_path / "short.glb").read_bytes()


def test_rows_that_differ_in_one_bit_are_told_apart() -> None:
    rng = np.random.default_rng(0)
    first = rng.integers(0, 2, (400, 3)).astype(np.float32)
    second = rng.integers(0, 256, (400, 1)).astype(np.uint8) & 1
    second[7] |= 128
    ones, kind = _different([first, second])
    both = np.column_stack([first, second])
    assert (both[ones][kind] == both).all()
    assert len(ones) == len(np.unique(both, axis=0)) == kind.max() + 1
    assert (np.diff(ones) > 0).all() and 7 in ones


def test_equal_sums_of_different_rows_are_told_apart() -> None:
    rows = np.array([[1, 2], [2, 1], [1, 2]], np.uint64)
    ones, kind = _different([rows])
    assert ones.tolist() == [0, 1] and kind.tolist() == [0, 1, 0]


def _sharing(layouts: list[str], rng: np.random.Generator) -> tuple[Scene, list[dict[str, int]]]:
    """A scene of a sheet for each layout, whose arrays lie in two views for all: one with a stride, one without."""
    scene = Scene(5)
    count, scene.chunk = len(scene.positions), b""
    scene.header |= {"accessors": [], "bufferViews": [], "meshes": [], "nodes": []}
    scene.header["scenes"][0]["nodes"] = list(range(len(layouts)))
    chunks, sheets = [b"", b""], []

    def entry(view: int, begin: int, rows: np.ndarray, kind: str) -> int:
        component = {"f4": 5126, "u2": 5123, "u1": 5121}[rows.dtype.str[1:]]
        bounds = {"min": rows.min(axis=0).tolist(), "max": rows.max(axis=0).tolist()}
        part = {"bufferView": view, "byteOffset": begin, "componentType": component, "count": len(rows), "type": kind}
        scene.header["accessors"].append(part | (bounds if rows.dtype.kind == "f" else {}))
        return len(scene.header["accessors"]) - 1

    for k, layout in enumerate(layouts):
        normals = rng.uniform(-1, 1, (count, 3)).astype(np.float32)
        # A line apart, since repairs would weld sheets that meet.
        places = scene.positions + np.array([0, 3 * k, 0], np.float32)
        one: dict[str, int] = {}
        if layout == "interleaved":
            begin = len(chunks[0])
            chunks[0] += np.concatenate([places, normals], axis=1).tobytes()
            one |= {"POSITION": entry(0, begin, places, "VEC3"), "NORMAL": entry(0, begin + 12, normals, "VEC3")}
        else:
            begin = len(chunks[0])
            chunks[0] += np.concatenate([places, np.zeros_like(places)], axis=1).tobytes()
            one |= {"POSITION": entry(0, begin, places, "VEC3")}
        bytes_only = rng.integers(0, 256, (count, 4)).astype(np.uint8)
        chunks[1] += bytes(rng.integers(0, 3)) if layout == "shifted" else b""
        one |= {"_MARK": entry(1, len(chunks[1]) + -len(chunks[1]) % 4, bytes_only, "VEC4")}
        chunks[1] += bytes(-len(chunks[1]) % 4) + bytes_only.tobytes()
        corners = scene.triangles.reshape(-1, 1).astype(np.uint16)
        one |= {"indices": entry(1, len(chunks[1]), corners, "SCALAR")}
        chunks[1] += corners.tobytes()
        sheets.append(one)
        primitive = {"attributes": {name: n for name, n in one.items() if name != "indices"}, "indices": one["indices"]}
        scene.header["meshes"].append({"primitives": [primitive]})
        scene.header["nodes"].append({"mesh": k})
    for view, chunk in enumerate(chunks):
        scene.add_bytes(chunk)
        scene.header["bufferViews"][view] |= {"byteStride": 24} if view == 0 else {}
    return scene, sheets


@given(
    st.lists(st.sampled_from(["interleaved", "plain", "shifted"]), min_size=1, max_size=4),
    st.lists(st.integers(0, 3), max_size=3, unique=True),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_views_that_others_share_lose_what_was_replaced(
    layouts: list[str], changed: list[int], short: bool, seed: int
) -> None:
    scene, sheets = _sharing(layouts, np.random.default_rng(seed))
    changed = [k for k in changed if k < len(layouts)]
    with tempfile.TemporaryDirectory() as folder:
        source, target = scene.write(Path(folder) / "a.glb"), Path(folder) / "b.glb"
        opened = GltfScene.open(source)
        target.write_bytes(opened.glb([{(k, 0): opened.triangles((k, 0))[:8] for k in changed}], short=short))
        before, after = Read(source), GltfScene.open(target)
    for k, sheet in enumerate(sheets):
        primitive = after.primitive((k, 0))
        found = {name: after.accessors.array(n) for name, n in primitive["attributes"].items()}
        corners = after.accessors.array(primitive["indices"])[:, 0]
        old = before.array(sheet["indices"])[:, 0][: 24 if k in changed else None]
        for name, rows in found.items():
            assert (rows[corners] == before.array(sheet[name])[old]).all()
        if k not in changed and not short:
            assert {*primitive["attributes"].items(), ("indices", primitive["indices"])} == set(sheet.items())
    if changed and not short:
        # A sheet: 25 vertices of 24 + 4 bytes and 32 triangles of 6; of eight triangles, 15 vertices at most.
        whole, few = 25 * 28 + 32 * 6, 15 * 28 + 8 * 6 + 16
        size = sum(view["byteLength"] for view in after.accessors.header["bufferViews"])
        assert size <= (len(layouts) - len(changed)) * (whole + 8) + len(changed) * few


def test_a_view_of_one_vertex_is_as_long_as_its_stride(tmp_path: Path) -> None:
    scene = Scene(5)
    count = len(scene.positions)
    rows = np.arange(6 * count + 6, dtype=np.float32)
    view = scene.add_bytes(rows.tobytes())
    scene.header["bufferViews"][view]["byteStride"] = 24
    like = {"bufferView": view, "componentType": 5126, "type": "VEC3"}
    low, high = rows[-3:-2].tolist() * 3, rows[-1:].tolist() * 3
    point = {"byteOffset": 24 * count + 12, "count": 1, "min": low, "max": high}
    scene.header["accessors"] += [like | {"count": count}, like | point]
    points = len(scene.header["accessors"]) - 1
    scene.primitive["attributes"]["_OTHER"] = points - 1
    scene.header["meshes"].append({"primitives": [{"attributes": {"POSITION": points}, "mode": 0}]})
    scene.header["nodes"].append({"mesh": 1})
    scene.header["scenes"][0]["nodes"].append(1)
    opened = GltfScene.open(scene.write(tmp_path / "a.glb"))
    (tmp_path / "b.glb").write_bytes(opened.glb([{(0, 0): opened.triangles((0, 0))[:1]}]))
    after = GltfScene.open(tmp_path / "b.glb").accessors
    assert after.array(points).tolist() == [rows[-3:].tolist()]
    assert after.header["bufferViews"][view]["byteLength"] == 24


def test_numbers_of_a_behaviour_graph_hold_no_arrays(tmp_path: Path) -> None:
    """KHR_interactivity speaks of nodes and materials by pointers, never of accessors."""
    scene = Scene(9)
    scene.header["extensions"] = {"KHR_interactivity": {"graphs": [{"nodes": [{"declaration": k} for k in range(9)]}]}}
    scene.header["extensionsUsed"] = ["KHR_interactivity"]
    opened = GltfScene.open(scene.write(tmp_path / "a.glb"))
    one = opened.triangles((0, 0))[:1]
    assert len(opened.glb([{(0, 0): one}])) < len(opened.glb([])) - 9 * 9 * 20
