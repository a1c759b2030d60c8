"""Tilesets within tilesets: how deep they may lie, and which numbers and contents their tiles get.

Extensions, embedded contents and what is refused by name.
"""

from __future__ import annotations

import base64
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hra
from hra.domains import tiles
from hra.domains.tiles.files import reading
from hra.errors import FileError, HraWarning, LimitExceeded

BOX = [0, 0, 0, 8, 0, 0, 0, 8, 0, 0, 0, 8]


def tile(**more: Any) -> dict[str, Any]:
    return {"boundingVolume": {"box": BOX}, "geometricError": 1, **more}


def write(path: Path, root: dict[str, Any], **more: Any) -> Path:
    path.write_text(json.dumps({"asset": {"version": "1.1"}, "geometricError": 9, "root": root, **more}))
    return path


@pytest.mark.parametrize("nested", [32, 33])
def test_thirty_two_tilesets_may_lie_within_one_another(nested: int, tmp_path: Path) -> None:
    for number in range(nested):
        write(tmp_path / f"{number}.json", tile(children=[tile(content={"uri": f"{number + 1}.json"})]))
    write(tmp_path / f"{nested}.json", tile())
    if nested == 32:
        assert tiles.read_tileset(tmp_path / "0.json").parent.tolist() == list(range(-1, 64))
    else:
        with pytest.raises(LimitExceeded, match="more than 32 tilesets"):
            tiles.read_tileset(tmp_path / "0.json")


def test_contents_beside_a_nested_tileset_are_counted(tmp_path: Path) -> None:
    (tmp_path / "a.glb").write_bytes(bytes(5))
    (tmp_path / "b.glb").write_bytes(bytes(7))
    write(tmp_path / "inner.json", tile(content={"uri": "b.glb"}))
    root = tile(contents=[{"uri": "inner.json"}, {"uri": "a.glb"}, {"uri": "b.glb"}])
    found = tiles.read_tileset(write(tmp_path / "tileset.json", root))
    assert found.content_bytes.tolist() == [12, 7] and found.names == ("a.glb", "b.glb")


def test_a_root_that_only_refers_to_a_tileset_gives_way_to_its_root(tmp_path: Path) -> None:
    """Viewers go on to that one whatever the error is: a plan held the empty root, and drew nothing."""
    (tmp_path / "a.glb").write_bytes(bytes(5))
    write(tmp_path / "inner.json", tile(content={"uri": "a.glb"}, transform=[*np.eye(4)[:3].ravel(), 1, 2, 3, 1]))
    refers = tile(content={"uri": "inner.json"}, refine="ADD", transform=np.diag([2, 2, 2, 1]).ravel().tolist())
    found = tiles.read_tileset(write(tmp_path / "tileset.json", refers))
    assert (found.parent.tolist(), found.names, found.content_bytes.tolist()) == ([-1], ("a.glb",), [5])
    assert found.additive.tolist() == [True] and found.error.tolist() == [2]
    assert found.volumes.center.tolist() == [[2, 4, 6]]


@pytest.mark.parametrize(("error", "counts"), [(0, 9), (4, 9), (20, 20)])
def test_tiles_that_refer_to_a_tileset_are_refined_with_their_parents(error: int, counts: int, tmp_path: Path) -> None:
    for name, size in (("root.glb", 3), ("a.glb", 50), ("b.glb", 700)):
        (tmp_path / name).write_bytes(bytes(size))
    fine = tile(content={"uri": "b.glb"}) | {"geometricError": 0}
    write(tmp_path / "inner.json", tile(content={"uri": "a.glb"}, children=[fine]) | {"geometricError": 4})
    refers = tile(content={"uri": "inner.json"}) | {"geometricError": error}
    root = tile(content={"uri": "root.glb"}, children=[refers], refine="REPLACE") | {"geometricError": 9}
    found = tiles.read_tileset(write(tmp_path / "tileset.json", root))
    assert found.error.tolist() == [9, counts, 4, 0]
    plan = tiles.plan(found, hra.Camera.perspective((0, 0, 60), (0, 0, 0), viewport=(640, 480)), 60)
    assert [found.names[i] for i in plan.held] == ["root.glb", "", "a.glb"]
    # The tileset's own root has its error, although a viewer is there already.
    assert plan.finer_bytes == 753 and 0 < plan.target < plan.setting


def test_implicit_tiles_below_others_are_numbered_after_them(tmp_path: Path) -> None:
    tiling = {"subdivisionScheme": "QUADTREE", "subtreeLevels": 3, "availableLevels": 3, "subtrees": {"uri": "s"}}
    record = {"tileAvailability": {"constant": 1}, "childSubtreeAvailability": {"constant": 0}}
    (tmp_path / "s").write_text(json.dumps(record))
    root = tile(children=[tile(), tile(implicitTiling=tiling), tile()])
    found = tiles.read_tileset(write(tmp_path / "tileset.json", root))
    assert found.parent.tolist() == [-1, 0, 0, 2, 2, 2, 2, *np.repeat([3, 4, 5, 6], 4).tolist(), 0]


def test_what_is_malformed_names_its_tile(tmp_path: Path) -> None:
    root = tile(children=[tile(), {"boundingVolume": {"box": BOX}}])
    with pytest.raises(FileError, match="there is no 'geometricError'") as caught:
        tiles.read_tileset(write(tmp_path / "tileset.json", root))
    assert caught.value.where == f"{tmp_path / 'tileset.json'}, tile 2"


def test_of_a_long_reason_two_hundred_letters_are_shown(tmp_path: Path) -> None:
    root = tile() | {"geometricError": "x" * 300}
    with pytest.raises(FileError) as caught:
        tiles.read_tileset(write(tmp_path / "tileset.json", root))
    reason = "could not convert string to float: '" + "x" * 300
    assert caught.value.what == f"the tileset is malformed: {reason[:200]}"


def test_as_many_tiles_as_the_limit_says_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "tileset.json", tile(children=[tile(), tile()]))
    monkeypatch.setattr(reading, "_MOST_TILES", 3)
    assert len(tiles.read_tileset(path).parent) == 3
    monkeypatch.setattr(reading, "_MOST_TILES", 2)
    with pytest.raises(LimitExceeded, match="more than 2 tiles") as caught:
        tiles.read_tileset(path)
    assert caught.value.where == f"{path}, tile 2"


SUBTREE = {"tileAvailability": {"constant": 1}, "childSubtreeAvailability": {"constant": 0}}
TILING = {"subdivisionScheme": "QUADTREE", "subtreeLevels": 2, "subtrees": {"uri": "s/{level}/{x}/{y}.subtree"}}


def contents(folder: Path, *names: str) -> None:
    """Files of 1,000 bytes."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(bytes(1000))


@pytest.mark.parametrize("name", ["content", "contents"])
def test_several_contents_of_the_extension_are_counted(name: str, tmp_path: Path) -> None:
    contents(tmp_path, "a.b3dm", "b.pnts")
    several = {"3DTILES_multiple_contents": {name: [{"uri": "a.b3dm"}, {"url": "b.pnts"}]}}
    found = tiles.read_tileset(write(tmp_path / "tileset.json", tile(extensions=several)))
    assert found.content_bytes.tolist() == [2000] and found.names == ("a.b3dm",)


def test_one_content_beside_several_is_refused(tmp_path: Path) -> None:
    root = tile(content={"uri": "a.glb"}, contents=[{"uri": "b.glb"}])
    with pytest.raises(FileError, match="both `content` and a list of contents") as caught:
        tiles.read_tileset(write(tmp_path / "tileset.json", root))
    assert caught.value.where == f"{tmp_path / 'tileset.json'}, tile 0" and caught.value.fix == "keep one of the two"


@pytest.mark.parametrize(
    "levels", [{"maximumLevel": 1}, {"availableLevels": 2}, {"availableLevels": 2, "maximumLevel": 0}]
)
def test_implicit_trees_of_the_extension_are_those_of_1_1(levels: dict[str, int], tmp_path: Path) -> None:
    names = ["0/0/0", "1/0/0", "1/1/0", "1/0/1", "1/1/1"]
    contents(tmp_path, *(f"c/{name}.b3dm" for name in names))
    (tmp_path / "s/0/0").mkdir(parents=True)
    (tmp_path / "s/0/0/0.subtree").write_text(json.dumps(SUBTREE | {"contentAvailability": {"constant": 1}}))
    content = {"uri": "c/{level}/{x}/{y}.b3dm"}
    draft = tile(content=content, extensions={"3DTILES_implicit_tiling": TILING | levels})
    path = write(tmp_path / "tileset.json", draft, extensionsRequired=["3DTILES_implicit_tiling"])
    final = tile(content=content, implicitTiling=TILING | {"availableLevels": 2})
    found, same = tiles.read_tileset(path), tiles.read_tileset(write(tmp_path / "other.json", final))
    assert found.names == tuple(f"c/{name}.b3dm" for name in names) and found.content_bytes.sum() == 5000
    assert found.names == same.names and np.array_equal(found.volumes.center, same.volumes.center)


def test_both_extensions_go_together(tmp_path: Path) -> None:
    contents(tmp_path, "a0.b3dm", "b0.pnts", "b1.pnts")
    availability = [{"bufferView": 0}, {"constant": 1}]
    bits = "data:application/octet-stream;base64," + base64.b64encode(bytes([0b1])).decode()
    record = SUBTREE | {"buffers": [{"uri": bits}], "bufferViews": [{"buffer": 0, "byteLength": 1}]}
    record |= {"extensions": {"3DTILES_multiple_contents": {"contentAvailability": availability}}}
    (tmp_path / "s/0/0").mkdir(parents=True)
    (tmp_path / "s/0/0/0.subtree").write_text(json.dumps(record))
    several = {"content": [{"uri": "a{level}.b3dm"}, {"uri": "b{level}.pnts"}]}
    both = {"3DTILES_implicit_tiling": TILING | {"maximumLevel": 1}, "3DTILES_multiple_contents": several}
    found = tiles.read_tileset(write(tmp_path / "tileset.json", tile(extensions=both)))
    assert found.content_bytes.tolist() == [2000, 1000, 1000, 1000, 1000]


@pytest.mark.parametrize("place", ["schema", "schemaUri", "extensions"])
@pytest.mark.parametrize("semantic", ["TILE_GEOMETRIC_ERROR", "TILE_BOUNDING_BOX", "NAME"])
def test_metadata_that_override_volumes_and_errors_are_named(place: str, semantic: str, tmp_path: Path) -> None:
    schema = {"id": "s", "classes": {"tile": {"properties": {"one": {"semantic": semantic}}}}}
    (tmp_path / "schema.json").write_text(json.dumps(schema))
    (tmp_path / "s/0/0").mkdir(parents=True)
    (tmp_path / "s/0/0/0.subtree").write_text(json.dumps(SUBTREE))
    values = {"schema": schema, "schemaUri": "schema.json", "extensions": {"3DTILES_metadata": {"schema": schema}}}
    implicit, entry = tile(implicitTiling=TILING | {"availableLevels": 2}), {place: values[place]}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert len(tiles.read_tileset(write(tmp_path / "tileset.json", implicit, **entry))) == 5
        tiles.read_tileset(write(tmp_path / "tileset.json", tile(metadata={"class": "tile"}), **entry))
        tiles.read_tileset(write(tmp_path / "tileset.json", tile(), **entry))
    assert [semantic in str(one.message) for one in caught] == [True, True] * (semantic != "NAME")


@pytest.mark.parametrize("uri", ["no.json", "http://example.com/schema.json", "data:;base64,?", 7])
def test_a_schema_that_cannot_be_read_is_no_part_of_the_tree(uri: object, tmp_path: Path) -> None:
    (tmp_path / "s/0/0").mkdir(parents=True)
    (tmp_path / "s/0/0/0.subtree").write_text(json.dumps(SUBTREE))
    implicit = tile(implicitTiling=TILING | {"availableLevels": 2})
    assert len(tiles.read_tileset(write(tmp_path / "tileset.json", implicit, schemaUri=uri))) == 5


@pytest.mark.parametrize("name", ["3DTILES_bounding_volume_S2", "MAXAR_content_3tz", "3DTILES_ellipsoid"])
def test_required_extensions_that_are_not_known_are_refused_by_name(name: str, tmp_path: Path) -> None:
    path = write(tmp_path / "tileset.json", tile(), extensionsRequired=["3DTILES_content_gltf", name])
    with pytest.raises(FileError, match=f"the extension '{name}' is required, and hra does not know it") as caught:
        tiles.read_tileset(path)
    assert caught.value.where == str(path) and "without this extension" in caught.value.fix
    assert len(tiles.read_tileset(write(path, tile(), extensionsUsed=[name]))) == 1


@pytest.mark.parametrize("version", ["2.0", "1", 2, None, ["1.1"]])
def test_other_versions_are_refused(version: object, tmp_path: Path) -> None:
    path = tmp_path / "tileset.json"
    with pytest.raises(FileError, match="of the tileset is not read") as caught:
        tiles.read_tileset(write(path, tile(), asset={"version": version}))
    assert caught.value.where == str(path) and "3D Tiles 1.1" in caught.value.fix
    for known in ({"version": "0.0"}, {"version": 1.0}, {}):
        assert len(tiles.read_tileset(write(path, tile(), asset=known))) == 1
    with pytest.raises(FileError, match="malformed"):
        tiles.read_tileset(write(path, tile(), asset=None))


@pytest.mark.parametrize("required", ["3DTILES_content_gltf", None, [7], {}])
def test_required_extensions_are_a_list_of_names(required: object, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="malformed"):
        tiles.read_tileset(write(tmp_path / "tileset.json", tile(), extensionsRequired=required))


def test_a_subtree_may_not_require_what_is_not_known(tmp_path: Path) -> None:
    (tmp_path / "s/0/0").mkdir(parents=True)
    (tmp_path / "s/0/0/0.subtree").write_text(json.dumps(SUBTREE | {"extensionsRequired": ["X_bits"]}))
    with pytest.raises(FileError, match="the extension 'X_bits' is required"):
        path = write(tmp_path / "tileset.json", tile(implicitTiling=TILING | {"availableLevels": 2}))
        tiles.read_tileset(path)


@pytest.mark.parametrize(
    "name",
    [
        "3DTILES_batch_table_hierarchy",
        "3DTILES_content_gltf",
        "3DTILES_draco_point_compression",
        "3DTILES_metadata",
        "MAXAR_content_geojson",
        "KHR_draco_mesh_compression",
        "EXT_mesh_features",
    ],
)
def test_extensions_of_contents_pass(name: str, tmp_path: Path) -> None:
    assert len(tiles.read_tileset(write(tmp_path / "tileset.json", tile(), extensionsRequired=[name]))) == 1


@pytest.mark.parametrize(
    ("uri", "size"),
    [
        ("data:application/octet-stream;base64," + base64.b64encode(bytes(1000)).decode(), 1000),
        ("DATA:;BASE64,%2B%2B%2B%2B", 3),
        ("data:,a%20b", 3),
        ('data:model/gltf+json,{"asset": {}}', 13),
    ],
)
def test_embedded_contents_count_as_what_they_unpack_to(uri: str, size: int, tmp_path: Path) -> None:
    contents(tmp_path, "a.glb")
    root = tile(contents=[{"uri": uri}, {"uri": "a.glb"}])
    found = tiles.read_tileset(write(tmp_path / "tileset.json", root))
    assert found.content_bytes.tolist() == [size + 1000] and found.names == (uri.partition(",")[0],)


def test_embedded_tilesets_and_damaged_uris_are_refused(tmp_path: Path) -> None:
    inner = json.dumps({"asset": {"version": "1.0"}, "root": tile()})
    for uri, what in (
        ("data:application/json," + inner, "a content is a tileset in a data: uri"),
        ("data:application/json;base64," + base64.b64encode(inner.encode()).decode(), "a content is a tileset"),
        ("data:;base64,?", "malformed"),
        ("data:text", "a data: uri without a comma"),
    ):
        with pytest.raises(FileError, match=what):
            tiles.read_tileset(write(tmp_path / "tileset.json", tile(content={"uri": uri})))


def test_contents_in_other_folders_are_refused_and_read_from_above(tmp_path: Path) -> None:
    contents(tmp_path, "out.glb")
    (tmp_path / "in").mkdir()
    inner = write(tmp_path / "in/tileset.json", tile(content={"uri": "../out.glb"}))
    with pytest.raises(FileError, match=r"'\.\./out\.glb' is not below") as caught:
        tiles.read_tileset(inner)
    assert "a tileset in a folder above both that has this one as its content" in caught.value.fix
    above = write(tmp_path / "tileset.json", tile(content={"uri": "in/tileset.json"}))
    assert tiles.read_tileset(above).names == ("out.glb",)


def test_request_volumes_are_ignored_with_one_warning(tmp_path: Path) -> None:
    limited = tile(viewerRequestVolume={"sphere": [0, 0, 0, 15]})
    path = write(tmp_path / "tileset.json", tile(children=[limited, limited]))
    with pytest.warns(HraWarning, match="the viewerRequestVolume of 2 of 3 tiles is ignored") as caught:
        assert len(tiles.read_tileset(path)) == 3
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tiles.read_tileset(write(path, tile()))


@pytest.mark.parametrize("uri", ["", ".", "folder", "folder/"])
def test_a_folder_is_no_content(uri: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(FileError, match="a content is no file"):
        tiles.read_tileset(write(tmp_path / "tileset.json", tile(content={"uri": uri})))


def test_a_matrix_written_row_by_row_is_refused(tmp_path: Path) -> None:
    moved = np.eye(4)
    moved[:3, 3] = 4e6, 1e6, 2.0
    with pytest.raises(FileError, match="not affine") as caught:
        tiles.read_tileset(write(tmp_path / "tileset.json", tile(transform=moved.ravel().tolist())))
    assert "column by column" in caught.value.fix
    moved[3] += 1e-9  # rounding
    tileset = tiles.read_tileset(write(tmp_path / "tileset.json", tile(transform=moved.T.ravel().tolist())))
    assert tileset.volumes.center[0] == pytest.approx(moved[:3, 3], abs=2)


def test_a_sphere_has_no_negative_radius(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="negative radius"):
        tiles.read_tileset(write(tmp_path / "tileset.json", tile(boundingVolume={"sphere": [0, 0, 0, -1]})))
