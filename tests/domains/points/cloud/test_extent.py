"""Strays decide neither what coordinates count from nor how finely a cloud is divided."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import KDTree
from typer.testing import CliRunner

import hra.testing
from hra.domains import points
from hra.domains.points.building import out_of_core
from hra.domains.points.cloud.cloud_tree import CloudTree
from hra.domains.points.cloud.extent import Extent, GrowingExtent
from hra.domains.points.commands import app

UTM = np.array([381_797.0, 5_820_377.0, 50.0])


def block(count: int = 4000) -> np.ndarray:
    """Points of a field of 100 x 100 x 10 m on a map."""
    return (np.random.default_rng(5).random((count, 3)) * [100, 100, 10] + UTM).round(2)


def strayed() -> np.ndarray:
    """The same with three returns of nothing, as scanners write them."""
    places = block()
    places[[17, 900, 3001]] = 0
    return places


@given(st.integers(0, 2**16), st.integers(1, 3000), st.floats(-3, 6))
def test_only_far_points_are_left_out_and_few(seed: int, count: int, far: float) -> None:
    rng = np.random.default_rng(seed)
    places = rng.normal(size=(count, 3)) * [1, 5, 0.1]
    places[rng.integers(0, count, rng.integers(0, 1 + count // 50))] += 10.0**far
    extent = Extent.of(places)
    (low, high, near), box = extent, extent.without_strays()
    assert np.array_equal([low, high], [places.min(axis=0), places.max(axis=0)])
    assert (near[0] <= near[1]).all() and (low <= near[0]).all() and (near[1] <= high).all()
    outside = (places < box[0]) | (places > box[1])
    assert outside.sum(axis=0).max() <= 0.01 * 2 * count
    if outside.any():
        gap = np.maximum(near[0] - places, places - near[1]).max(axis=1)
        assert gap[outside.any(axis=1)].min() > 32 * (near[1] - near[0]).max() * (1 - 1e-12)
        assert np.array_equal(extent.map_corners(), near)
    else:
        assert np.array_equal(box, [low, high]) and np.array_equal(extent.map_corners(), box)


@settings(max_examples=8)
@given(st.integers(0, 2**16), st.lists(st.integers(0, 300_000), max_size=4))
def test_the_extent_is_the_same_whatever_the_blocks(seed: int, ends: list[int]) -> None:
    places = np.random.default_rng(seed).normal(size=(300_000, 3)).astype(np.float32)
    growing = GrowingExtent(len(places))
    for block in np.split(places, sorted(ends)):
        if len(block):
            growing.add(block)
    assert all(np.array_equal(one, two) for one, two in zip(growing.extent(), Extent.of(places), strict=True))


@pytest.mark.parametrize("count", [10, 11, 50, 99, 100])
def test_a_stray_among_few_points_costs_them_nothing(count: int) -> None:
    places = block(count)
    places[0] = 0
    origin = Extent.of(places).map_corners()[0]
    assert np.abs((places - origin).astype(np.float32) + origin - places)[1:].max() < 1e-5
    # A wide cloud of few points has none.
    rows = np.random.default_rng(count).normal(size=(count, 3)) * 10
    assert np.array_equal(Extent.of(rows).without_strays(), [rows.min(axis=0), rows.max(axis=0)])


@pytest.mark.parametrize("share", [0.02, 0.05, 0.3, 0.45])
@pytest.mark.parametrize("side", [10.0, 100.0, 20_000.0])
def test_many_strays_leave_most_points_their_places(share: float, side: float) -> None:
    rng = np.random.default_rng(9)
    places = rng.random((1000, 3)) * [side, side, side / 10] + [500_000, 5_800_000, 50]
    strays = np.arange(1000) < share * 1000
    places[strays] = 0
    extent = Extent.of(places)
    low = extent.map_corners()[0]
    rounded = (places - low).astype(np.float32).astype(np.float64) + low
    # As near as float32 is to coordinates of the side.
    assert np.abs(rounded - places)[~strays].max() <= max(1e-4, side * 2.0**-24)
    alone = Extent.of(places[~strays])
    assert np.abs(low - alone.low).max() < 0.05 * side
    box = extent.without_strays()
    assert (((places < box[0]) | (places > box[1])).any(axis=1) == strays).all()


@given(st.integers(0, 2**16), st.integers(100, 3000), st.floats(0.02, 0.45), st.floats(-1, 6))
def test_the_half_that_lies_closest_together_is_never_left_out(seed: int, count: int, share: float, far: float) -> None:
    rng = np.random.default_rng(seed)
    places = rng.normal(size=(count, 3))
    places[: int(share * count)] += rng.choice([-1, 1], 3) * 10.0**far
    near = Extent.of(places).near
    inside = ((places >= near[0]) & (places <= near[1])).all(axis=1)
    assert inside.mean() > 0.5
    if 10.0**far < 64:  # no gap is so wide
        ordered, few = np.sort(places, axis=0), int(count * 0.01)
        assert np.array_equal(near, ordered[[few, -1 - few]])


def test_blocks_are_not_kept() -> None:
    growing, count = GrowingExtent(200 * 2**14), 0
    tracemalloc.start()
    for _ in range(200):
        growing.add(np.ones((2**14, 3)))
        count = max(count, tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert count < 8 * 2**20  # all blocks are 79 million bytes


def test_one_place_and_few_points_are_all_of_the_cloud() -> None:
    for places in (np.ones((500, 3)), np.array([[0.0, 0, 0], [1, 1, 1], [1e9, 0, 0]])):
        assert np.array_equal(Extent.of(places).octree_box(), [places.min(axis=0), places.max(axis=0)])


def test_far_hills_are_divided_and_only_what_is_farther_is_not() -> None:
    rng = np.random.default_rng(8)
    tree, hills = rng.random((20_000, 3)) * 10, rng.random((150, 3)) * 10 + [1_500, 0, 0]
    places = np.concatenate([tree, hills, [[1e6, 0, 0]]])
    assert np.array_equal(Extent.of(places[:-1]).octree_box(), [places[:-1].min(axis=0), places[:-1].max(axis=0)])
    assert 1_510 < Extent.of(places).octree_box()[1, 0] < 3_000
    built = points.build(points.PointCloud(places))
    assert undivided(built) == 0 and len(built.leaves) - len(built.near_leaves) == 151


@pytest.mark.parametrize("form", ["las", "laz", "ply", "copc.laz"])
def test_strays_of_files_leave_the_others_their_places_and_their_levels(form: str, tmp_path: Path) -> None:
    laspy = pytest.importorskip("laspy")
    places, file = strayed(), tmp_path / f"a.{form}"
    if form == "ply":
        heads = "".join(f"property double {axis}\n" for axis in "xyz")
        head = f"ply\nformat binary_little_endian 1.0\nelement vertex {len(places)}\n{heads}end_header\n"
        file.write_bytes(head.encode() + places.astype("<f8").tobytes())
    else:
        header = laspy.LasHeader(point_format=6, version="1.4")
        header.scales, header.offsets = np.full(3, 0.01), np.zeros(3)
        cloud = laspy.LasData(header)
        cloud.x, cloud.y, cloud.z = places.T
        cloud.write(str(tmp_path / "a.las"))
        if form == "laz":
            cloud.write(str(file))
        elif form == "copc.laz":
            points.save_points(file, points.load_points(tmp_path / "a.las"))
    read = points.load_points(file)
    found = read.positions.astype(np.float64) + read.origin
    true = (places != 0).any(axis=1)
    moved = KDTree(found).query(places)[0]
    # COPC has whole numbers of 32 bits for the whole extent, and a stray is rounded by what it is far.
    assert moved[true].max() < (0.011 if form == "copc.laz" else 1e-4) and moved.max() < 0.3
    assert undivided(points.build(read)) <= undivided(points.build(points.PointCloud(places[true] - UTM))) + 1


def undivided(tree: CloudTree) -> int:
    """Cells of the finest grid with more points than a cell has octants."""
    return int(np.count_nonzero(np.bincount(np.asarray(tree.hierarchy.parent) + 1)[1:] > 8))


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("most", [8, 300, 5000])
def test_a_file_with_strays_is_built_in_parts_as_in_one(
    most: int, many: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    laspy = pytest.importorskip("laspy")
    monkeypatch.setattr(out_of_core, "points_of_part", lambda memory, fields: memory)
    places = np.unique(block(900), axis=0)
    places[[5, 80]] = [[0, 0, 0], [0, 5_000_000, 0]]
    if many:
        places[::20] = np.random.default_rng(1).random((len(places[::20]), 3))  # at one place, parts have no end
    header = laspy.LasHeader(point_format=2)
    header.scales, header.offsets = np.full(3, 0.01), np.zeros(3)
    cloud = laspy.LasData(header)
    cloud.x, cloud.y, cloud.z = places.T
    cloud.write(str(tmp_path / "a.las"))
    whole = points.build(points.load_points(tmp_path / "a.las"))
    points.save_tree(tmp_path / "whole.hpt", whole)
    report = points.build_out_of_core(tmp_path / "a.las", tmp_path / "parts.hpt", memory=most)
    assert (tmp_path / "parts.hpt").read_bytes() == (tmp_path / "whole.hpt").read_bytes()
    assert np.ptp([report.low, report.high], axis=0).max() > 5_000_000
    hra.testing.check_hierarchy(whole.hierarchy)


def test_cameras_see_a_cloud_without_its_strays_and_commands_count_them(tmp_path: Path) -> None:
    places = strayed()
    tree = points.build(points.PointCloud(places - UTM))
    true = places[(places != 0).any(axis=1)] - UTM
    assert len(tree.leaves) - len(tree.near_leaves) == 3
    assert np.allclose(tree.bounds, [true.min(axis=0), true.max(axis=0)], atol=0.01)
    assert np.abs(tree.outline).max() < 200
    points.save_tree(tmp_path / "a.hpt", tree)
    shown = CliRunner().invoke(app, ["info", str(tmp_path / "a.hpt"), "--json", str(tmp_path / "a.json")])
    assert shown.exit_code == 0, shown.output
    assert json.loads((tmp_path / "a.json").read_text())["leaves far from all others"] == 3
    plain = points.build(points.PointCloud(true))
    assert np.array_equal(plain.near_leaves, plain.leaves)
