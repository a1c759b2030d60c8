"""Tilesets from disk: explicit, nested and implicit ones, and what is refused."""

import json
import struct

import numpy as np
import pytest

from hra.domains import tiles
from hra.domains.tiles.files.implicit import part_of
from hra.domains.tiles.files.volumes import volume_of
from hra.errors import FileError, HraError, LimitExceeded

BOX = [0, 0, 0, 8, 0, 0, 0, 8, 0, 0, 0, 8]


def write(folder, record, contents=(), name="tileset.json"):
    """A tileset and its contents, each as large as its number is."""
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(record))
    for file, size in dict(contents).items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(bytes(size))
    return folder / name


def tile(error, content=None, children=(), **more):
    entry = {"boundingVolume": {"box": BOX}, "geometricError": error, **more}
    entry |= {"content": {"uri": content}} if content else {}
    return entry | ({"children": list(children)} if children else {})


def tileset(root):
    return {"asset": {"version": "1.1"}, "geometricError": 100, "root": root}


def test_explicit_trees(tmp_path):
    root = tile(4, "a.glb", [tile(2, "b.glb", [tile(0, "c.glb")]), tile(1, "d.glb", refine="ADD")])
    path = write(tmp_path, tileset(root), {"a.glb": 10, "b.glb": 20, "c.glb": 30, "d.glb": 40})
    found = tiles.read_tileset(path)
    assert found.parent.tolist() == [-1, 0, 1, 0] and found.content_bytes.tolist() == [10, 20, 30, 40]
    assert found.error.tolist() == [4, 2, 0, 1] and found.additive.tolist() == [False, False, False, True]
    assert found.names == ("a.glb", "b.glb", "c.glb", "d.glb")


def test_transforms_move_volumes_and_scale_errors(tmp_path):
    matrix = np.diag([2.0, 2, 2, 1])
    matrix[:3, 3] = 100, 0, 0
    root = tile(4, children=[tile(2)], transform=matrix.T.reshape(-1).tolist())
    found = tiles.read_tileset(write(tmp_path, tileset(root)))
    assert found.error.tolist() == [8, 4] and found.bounds.tolist() == [[84, -16, -16], [116, 16, 16]]


def test_a_content_that_is_a_tileset_goes_on_below(tmp_path):
    write(tmp_path, tileset(tile(1, "in.glb")), {"sub/in.glb": 7}, "sub/tileset.json")
    path = write(tmp_path, tileset(tile(9, children=[tile(4, "sub/tileset.json", refine="ADD")])))
    found = tiles.read_tileset(path)
    assert found.parent.tolist() == [-1, 0, 1] and found.names == ("", "", "sub/in.glb")
    assert found.content_bytes.tolist() == [0, 0, 7] and found.additive.tolist() == [False, True, True]


def test_tilesets_within_themselves_end(tmp_path):
    with pytest.raises(LimitExceeded):
        tiles.read_tileset(write(tmp_path, tileset(tile(4, "tileset.json"))))


def subtree(bits, contents, children, binary):
    """A subtree of two levels of a quadtree."""
    streams = [np.packbits(np.array(row, bool), bitorder="little").tobytes() for row in (bits, contents)]
    padded = [row + bytes(-len(row) % 8) for row in streams]
    record = {
        "buffers": [{"byteLength": 16} | ({} if binary else {"uri": "bits.bin"})],
        "bufferViews": [{"buffer": 0, "byteOffset": 8 * k, "byteLength": len(streams[k])} for k in (0, 1)],
        "tileAvailability": {"bitstream": 0},
        "contentAvailability": [{"bitstream": 1}],
        "childSubtreeAvailability": {"constant": children},
    }
    text = json.dumps(record).encode()
    if not binary:
        return text, b"".join(padded)
    text += b" " * (-len(text) % 8)
    return struct.pack("<4sIQQ", b"subt", 1, len(text), 16) + text + b"".join(padded), None


@pytest.mark.parametrize("binary", [True, False])
def test_implicit_trees(tmp_path, binary):
    tiling = {"subdivisionScheme": "QUADTREE", "subtreeLevels": 2, "availableLevels": 2}
    root = tile(8, "c/{level}_{x}_{y}.glb", implicitTiling=tiling | {"subtrees": {"uri": "s{level}.{x}.{y}"}})
    data, external = subtree([1, 1, 0, 1, 1], [1, 1, 0, 0, 1], 0, binary)
    path = write(tmp_path, tileset(root), {"c/0_0_0.glb": 5, "c/1_0_0.glb": 6, "c/1_1_1.glb": 7})
    (tmp_path / "s0.0.0").write_bytes(data)
    if external:
        (tmp_path / "bits.bin").write_bytes(external)
    found = tiles.read_tileset(path)
    # Along the Morton curve: (0, 0), then (0, 1) and (1, 1).
    assert found.parent.tolist() == [-1, 0, 0, 0] and found.error.tolist() == [8, 4, 4, 4]
    assert found.names == ("c/0_0_0.glb", "c/1_0_0.glb", "", "c/1_1_1.glb")
    assert found.content_bytes.tolist() == [5, 6, 0, 7]
    assert found.volumes.center[:, :2].tolist() == [[0, 0], [-4, -4], [-4, 4], [4, 4]]


def test_child_subtrees_are_followed(tmp_path):
    tiling = {
        "subdivisionScheme": "OCTREE",
        "subtreeLevels": 1,
        "availableLevels": 2,
        "subtrees": {"uri": "{level}{x}{y}{z}.s"},
    }
    path = write(tmp_path, tileset(tile(8, implicitTiling=tiling)))
    below = [(f"1{place:03b}.s", 0) for place in range(8)]
    for name, children in (("0000.s", 1), *below):
        record = {"tileAvailability": {"constant": 1}, "childSubtreeAvailability": {"constant": children}}
        (tmp_path / name).write_text(json.dumps(record))
    found = tiles.read_tileset(path)
    assert found.parent.tolist() == [-1] + [0] * 8 and len({tuple(c) for c in found.volumes.center.tolist()}) == 9


def implicit(folder, subtrees, children, levels=1, most=2):
    tiling = {"subdivisionScheme": "QUADTREE", "subtreeLevels": levels, "availableLevels": most}
    path = write(folder, tileset(tile(8, implicitTiling=tiling | {"subtrees": {"uri": subtrees}})))
    record = {"tileAvailability": {"constant": 1}, "childSubtreeAvailability": {"constant": children}}
    (folder / "a.s").write_text(json.dumps(record))
    return path


def test_subtrees_below_the_last_level_are_not_looked_for(tmp_path):
    assert len(tiles.read_tileset(implicit(tmp_path, "a.s", 1, 2)).parent) == 5


def test_one_file_for_several_subtrees_is_refused(tmp_path):
    with pytest.raises(FileError, match="several subtrees"):
        tiles.read_tileset(implicit(tmp_path, "a.s", 1, most=21))


def test_a_short_file_cannot_claim_millions_of_tiles(tmp_path):
    with pytest.raises(LimitExceeded, match="5,592,405 tiles"):
        tiles.read_tileset(implicit(tmp_path, "a.s", 0, 12, 12))


def test_parts_of_regions_are_shares():
    part = part_of({"region": [0, 0, 1, 2, 0, 8]}, "OCTREE", 1, (1, 0, 1), "")
    assert part == {"region": [0.5, 0, 1.0, 1.0, 4.0, 8.0]}


def test_regions_are_on_the_earth():
    center, axes, radius = volume_of({"region": [0, 0, 0.001, 0.001, 0, 10]}, np.eye(4), "")
    assert abs(center[0] - 6378137) < 20 and abs(center[1] - 3189) < 2 and radius == 0
    assert np.linalg.norm(axes, axis=1) == pytest.approx([3189, 3168, 6], abs=1)


def test_spheres():
    center, axes, radius = volume_of({"sphere": [1, 2, 3, 4]}, np.diag([3.0, 3, 3, 1]), "")
    assert center.tolist() == [3, 6, 9] and radius == 12 and not axes.any()


@pytest.mark.parametrize(
    ("root", "what"),
    [
        ({"geometricError": 1}, "there is no"),
        (tile(1) | {"boundingVolume": {"box": [1, 2]}}, "no bounding volume"),
        (tile(-1), "geometric error"),
        (tile(1, refine="MERGE"), "refines by"),
        (tile(1, "missing.glb"), "missing"),
        (tile(1, "../out.glb"), "outside"),
        (tile(1, "http://localhost/a.glb"), "not on this disk"),
        (tile(1, transform=[1, 2]), "transform"),
        (tile(1, implicitTiling={"subdivisionScheme": "KD"}), "KD"),
        (None, "no root"),
    ],
)
def test_what_is_no_tileset_says_why(tmp_path, root, what):
    with pytest.raises(FileError, match=what):
        tiles.read_tileset(write(tmp_path, tileset(root)))


def test_damaged_subtrees(tmp_path):
    tiling = {"subdivisionScheme": "QUADTREE", "subtreeLevels": 2, "availableLevels": 2, "subtrees": {"uri": "s"}}
    path = write(tmp_path, tileset(tile(8, implicitTiling=tiling)))
    good = subtree([1, 1, 0, 1, 1], [1, 1, 0, 0, 1], 0, True)[0]
    for bad in (good[:20], good[:60], b"subt" + bytes(20), b"{}", good.replace(b'"bitstream": 0', b'"bitstream": 9')):
        (tmp_path / "s").write_bytes(bad)
        with pytest.raises(FileError):
            tiles.read_tileset(path)


JUNK = [None, 5, -1, "x", "", [], {}, [1, 2], {"a": 1}, True, 10**400, "../../x", "a\0b", [[]], [None] * 12, 2**63, 0.5]


def places(value, path=()):
    """Where the values of nested lists and dictionaries stand."""
    if path:
        yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inside:
        yield from places(one, (*path, key))


def test_anything_may_stand_anywhere(tmp_path):
    tiling = {"subdivisionScheme": "QUADTREE", "subtreeLevels": 2, "availableLevels": 2, "subtrees": {"uri": "s"}}
    shapes = [{"sphere": [0, 0, 1, 1]}, {"region": [0, 0, 1, 1, 0, 1]}]
    children = [
        tile(2, "b.glb", transform=np.eye(4).reshape(-1).tolist()),
        tile(8, "c{level}{x}{y}", implicitTiling=tiling),
    ]
    children += [{"boundingVolume": shape, "geometricError": 1, "contents": [{"url": "b.glb"}]} for shape in shapes]
    whole = tileset(tile(4, "a.glb", children))
    text, bits = subtree([1, 1, 0, 1, 1], [1, 1, 0, 0, 1], 0, binary=False)
    path = write(tmp_path, whole, {"a.glb": 1, "b.glb": 2, "c000": 5, "c100": 6, "c111": 7})
    (tmp_path / "bits.bin").write_bytes(bits)
    for name, good in (("tileset.json", whole), ("s", json.loads(text))):
        (tmp_path / "s").write_bytes(text)
        for number, place in enumerate(places(good)):
            bad = json.loads(json.dumps(good))
            holder = bad
            for key in place[:-1]:
                holder = holder[key]
            # Other values for neighbours: all of them for all would take minutes.
            holder[place[-1]] = JUNK[number % len(JUNK)]
            (tmp_path / name).write_text(json.dumps(bad))
            try:
                assert len(tiles.read_tileset(path)) > 0
            except HraError:
                continue
        (tmp_path / name).write_text(json.dumps(good))
