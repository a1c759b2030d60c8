"""What points of LAS carry comes through a tree to COPC: coordinates where they were, every dimension, the system."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from hra.domains.points import PointCloud, build, load_points, load_tree, save_points, save_tree
from hra.domains.points.commands import app
from hra.errors import RepairWarning
from hra.files.images import load_image
from hra.files.ply import binary_table

laspy = pytest.importorskip("laspy")
UTM = np.array([381_797.0, 5_820_377.0, 31.0])
WKT = 'PROJCS["ETRS89 / UTM zone 33N",GEOGCS["ETRS89",DATUM["European_Terrestrial_Reference_System_1989"]]]'
PLAIN = (
    *("intensity", "return_number", "number_of_returns", "synthetic", "key_point", "withheld", "overlap"),
    *("scanner_channel", "scan_direction_flag", "edge_of_flight_line", "classification", "user_data", "scan_angle"),
    *("point_source_id", "gps_time", "nir"),
)
EXTRA = {"height": "f4", "echo width": "u2", "deviation": "i1", "when": "f8", "normal": "3f4", "serial": "u4"}


def las(path: Path, kind: int = 8, count: int = 700) -> Any:
    """A file with every dimension of its format, extra ones and a coordinate system; its points are all different."""
    rng = np.random.default_rng(kind)
    header = laspy.LasHeader(point_format=kind, version="1.4")
    header.scales, header.offsets = np.full(3, 0.001), np.floor(UTM)
    header.add_extra_dims([laspy.ExtraBytesParams(name, type_) for name, type_ in EXTRA.items()])
    header.vlrs.append(laspy.vlrs.known.WktCoordinateSystemVlr(WKT))
    header.global_encoding.wkt = True
    header.global_encoding.gps_time_type = laspy.header.GpsTimeType.STANDARD
    found = laspy.LasData(header)
    places = rng.random((count, 3)) * [60, 40, 9] + UTM
    found.x, found.y, found.z = places.T
    for name in found.point_format.dimension_names:
        if name in (*PLAIN, "red", "green", "blue"):
            own = found.point_format.dimension_by_name(name)
            if own.kind.name == "FloatingPoint":
                found[name] = rng.random(count) * 1e6
            else:
                found[name] = rng.integers(0, own.max, count, endpoint=True)
    found.return_number, found.number_of_returns = rng.integers(1, 5, count), rng.integers(5, 9, count)
    for name in EXTRA:
        shape = found[name].shape
        found[name] = rng.random(shape) * 100
    found.write(str(path))
    return found


def in_order(places: np.ndarray) -> np.ndarray:
    return np.lexsort(np.round(np.asarray(places), 3).T)


def absolute(cloud: Any) -> np.ndarray:
    return cloud.positions.astype(np.float64) + cloud.origin


def exported(source: Path, folder: Path) -> Path:
    tree, out = folder / "tree.hpt", folder / "out.copc.laz"
    for words in (["build", source, "-o", tree], ["export", tree, "-o", out]):
        result = CliRunner().invoke(app, [*map(str, words)])
        assert result.exit_code == 0, result.output
    return out


@pytest.mark.parametrize(("kind", "suffix"), [(6, ".las"), (7, ".laz"), (8, ".laz")])
def test_every_dimension_comes_through_a_tree_to_copc(kind: int, suffix: str, tmp_path: Path):
    before = las(tmp_path / f"a{suffix}", kind)
    after = laspy.read(str(exported(tmp_path / f"a{suffix}", tmp_path)))
    first, second = in_order(before.xyz), in_order(after.xyz)
    assert np.abs(before.xyz[first] - after.xyz[second]).max() < 1e-4
    names = [*(name for name in PLAIN if name in before.point_format.dimension_names), *EXTRA]
    for name in names:
        assert np.array_equal(np.array(before[name])[first], np.array(after[name])[second]), name
    (record,) = (vlr for vlr in after.header.vlrs if vlr.record_id == 2112)
    assert bytes(record.record_data_bytes()).rstrip(b"\0") == WKT.encode()
    assert after.header.global_encoding.wkt and int(after.header.global_encoding.gps_time_type) == 1
    counts = np.bincount(before.return_number, minlength=16)[1:]
    assert np.array_equal(np.array(after.header.number_of_points_by_return)[:15], counts[:15])


def test_older_formats_become_newer_ones(tmp_path: Path):
    header = laspy.LasHeader(point_format=1, version="1.2")
    header.scales, header.offsets = np.full(3, 0.01), np.floor(UTM)
    keys = laspy.vlrs.vlr.VLR("LASF_Projection", 34735, "", np.array([1, 1, 0, 1, 3072, 0, 1, 25833], "<u2").tobytes())
    header.vlrs.append(keys)
    found = laspy.LasData(header)
    found.x, found.y, found.z = (np.random.default_rng(0).random((50, 3)) * 9 + UTM).T
    found.scan_angle_rank, found.classification = np.arange(50) - 25, np.arange(50) % 7
    found.gps_time = np.linspace(1, 9, 50)
    found.write(str(tmp_path / "a.las"))
    out = exported(tmp_path / "a.las", tmp_path)
    after = laspy.read(str(out))
    order = in_order(after.xyz), in_order(found.xyz)
    angles = np.array(after.scan_angle)[order[0]] * 0.006
    assert np.abs(angles - (np.arange(50) - 25)[order[1]]).max() < 0.004
    assert np.array_equal(np.array(after.gps_time)[order[0]], np.array(found.gps_time)[order[1]])
    # Times of a week stay those of a week, and keys of GeoTIFF are not said to be WKT.
    assert int(after.header.global_encoding.gps_time_type) == 0 and not after.header.global_encoding.wkt
    assert load_tree(tmp_path / "tree.hpt").crs == {34735: keys.record_data}
    found = load_points(out)
    assert isinstance(found, PointCloud) and found.crs == {34735: keys.record_data}


def test_waveforms_are_named(tmp_path: Path):
    header = laspy.LasHeader(point_format=4, version="1.3")
    found = laspy.LasData(header)
    found.x = found.y = found.z = np.arange(5.0)
    found.wavepacket_index = np.ones(5, np.uint8)
    found.write(str(tmp_path / "a.las"))
    with pytest.warns(RepairWarning, match="packets of waveforms were left out"):
        load_points(tmp_path / "a.las")


def below(tree: Any) -> list[np.ndarray]:
    """The leaves below each node."""
    found = [[v] if v in set(tree.leaves.tolist()) else [] for v in range(len(tree.parent))]
    for v in range(len(tree.parent) - 1, 0, -1):
        found[tree.parent[v]] += found[v]
    return [np.array(sorted(leaves)) for leaves in found]


def test_inner_nodes_have_the_class_of_most_and_the_rest_of_one(tmp_path: Path):
    rng = np.random.default_rng(1)
    fields = {"classification": rng.integers(2, 6, 300).astype(np.uint8), "gps_time": rng.random(300)}
    fields |= {"return_number": rng.integers(1, 4, 300).astype(np.uint8), "normal": rng.random((300, 3))}
    tree = build(PointCloud(rng.random((300, 3)), fields=fields))
    kept = tree.fields
    assert {name: rows.dtype for name, rows in kept.items()} == {name: rows.dtype for name, rows in fields.items()}
    for node, leaves in enumerate(below(tree)):
        values, counts = np.unique(kept["classification"][leaves], return_counts=True)
        assert kept["classification"][node] == values[counts.argmax()]
        same = np.flatnonzero(kept["gps_time"][leaves] == kept["gps_time"][node])
        assert len(same) == 1  # all else is that of one point
        one = leaves[same[0]]
        assert kept["return_number"][node] == kept["return_number"][one]
        assert np.array_equal(kept["normal"][node], kept["normal"][one])
    save_tree(tmp_path / "a.hpt", tree)
    again = load_tree(tmp_path / "a.hpt")
    assert all(np.array_equal(again.fields[name], rows) for name, rows in kept.items())


def test_a_cut_in_ply_keeps_fields_and_stays_within_its_bytes(tmp_path: Path):
    las(tmp_path / "a.las")
    tree, cut = tmp_path / "a.hpt", tmp_path / "cut.ply"
    save_tree(tree, build(load_points(tmp_path / "a.las")))
    with pytest.warns(RepairWarning, match="no place for the coordinate system"):
        result = CliRunner().invoke(app, ["cut", str(tree), "--bytes", "30kB", "-o", str(cut)])
    assert result.exit_code == 0, result.output
    assert 20_000 < cut.stat().st_size <= 30_000
    found = load_points(cut)
    assert isinstance(found, PointCloud)
    assert {"classification", "gps_time", "echo_width", "normal_2"} <= set(found.fields)
    places = load_tree(tree)
    low, high = places.bounds + np.array(places.origin)
    assert (absolute(found) >= low - 1e-3).all() and (absolute(found) <= high + 1e-3).all()


def test_doubles_of_ply_keep_a_tenth_of_a_millimetre(tmp_path: Path):
    # Whole millimetres, so that rounding gives both clouds one order.
    places = np.rint(np.random.default_rng(2).random((400, 3)) * [900_000, 700_000, 60_000]) / 1000 + UTM
    (tmp_path / "a.ply").write_bytes(binary_table(dict(zip("xyz", places.T, strict=True))))
    cloud = load_points(tmp_path / "a.ply")
    assert np.abs(absolute(cloud) - places).max() < 1e-4
    tree = build(cloud)
    save_tree(tmp_path / "a.hpt", tree)
    tree = load_tree(tmp_path / "a.hpt")
    for name in ("b.ply", "b.copc.laz"):
        save_points(tmp_path / name, tree.take(tree.leaves))
        found = absolute(load_points(tmp_path / name))
        assert np.abs(found[in_order(found)] - places[in_order(places)]).max() < 1e-4


def test_the_camera_of_a_command_stands_where_the_source_does(tmp_path: Path):
    places = np.random.default_rng(2).random((4000, 3)) * 10 + UTM
    (tmp_path / "a.ply").write_bytes(binary_table(dict(zip("xyz", places.T, strict=True))))
    x, y, z = (UTM + 5).tolist()
    words = ["build", tmp_path / "a.ply", "-o", tmp_path / "a.hpt"]
    assert CliRunner().invoke(app, [*map(str, words)]).exit_code == 0
    words = ["render", tmp_path / "a.hpt", "-o", tmp_path / "a.png", "--viewport", "64x64"]
    words += ["--eye", f"{x},{y},{z + 40}", "--up", "0,1,0"]
    result = CliRunner().invoke(app, [*map(str, words)])
    assert result.exit_code == 0, result.output
    drawn = load_image(tmp_path / "a.png")[..., 0] < 0.9
    assert drawn[28:36, 28:36].any() and drawn.mean() > 0.01 and not drawn[:4].any()
