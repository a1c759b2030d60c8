"""Coordinates come back from PLY and COPC, whatever the units of their axes and however far they are from 0."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hra.domains.points import PointCloud, load_points, save_points
from hra.domains.points.files.origins import axis_origin
from hra.files.ply import binary_table

# Degrees and heights, UTM, and metres from the centre of the earth; the extent of each axis as a power of ten.
CENTRES = st.one_of(
    st.tuples(st.floats(-180, 180), st.floats(-90, 90), st.floats(-400, 9000)),
    st.tuples(st.floats(1e5, 9e5), st.floats(0, 1e7), st.floats(-400, 9000)),
    st.tuples(*[st.floats(-6.4e6, 6.4e6)] * 3),
)
EXTENTS = st.tuples(*[st.floats(-6, 5)] * 3)


def loaded(path: Path) -> PointCloud:
    found = load_points(path)
    assert isinstance(found, PointCloud)
    return found


def absolute(cloud: PointCloud) -> np.ndarray:
    return cloud.positions.astype(np.float64) + cloud.origin


def write(path: Path, places: np.ndarray) -> None:
    path.write_bytes(
        binary_table({**dict(zip("xyz", places.T, strict=True)), "serial": np.arange(len(places), dtype=np.int32)})
    )


def slack(places: np.ndarray) -> np.ndarray:
    """What float32 may cost along each axis, and doubles of the place and of its sums."""
    return np.ptp(places, axis=0) * 2.0**-23 + np.abs(places).max(axis=0) * 2.0**-51


@settings(deadline=None, max_examples=60)
@given(CENTRES, EXTENTS, st.integers(0, 2**31))
def test_no_axis_loses_more_than_float32_of_its_own_extent(
    tmp_path_factory: pytest.TempPathFactory, centre: tuple[float, ...], powers: tuple[float, ...], seed: int
):
    folder = tmp_path_factory.mktemp("origins")
    places = np.random.default_rng(seed).uniform(-0.5, 0.5, (50, 3)) * 10.0 ** np.array(powers) + centre
    write(folder / "a.ply", places)
    cloud = loaded(folder / "a.ply")
    assert (np.abs(absolute(cloud) - places) <= slack(places)).all()
    save_points(folder / "b.ply", cloud)
    again = loaded(folder / "b.ply")
    assert np.array_equal(again.fields["serial"], cloud.fields["serial"])
    assert (np.abs(absolute(again) - absolute(cloud)) <= slack(places)).all()


@settings(deadline=None, max_examples=40)
@given(CENTRES, EXTENTS, st.integers(0, 2**31))
def test_no_axis_of_copc_loses_more_than_half_its_step(
    tmp_path_factory: pytest.TempPathFactory, centre: tuple[float, ...], powers: tuple[float, ...], seed: int
):
    laspy = pytest.importorskip("laspy")
    folder = tmp_path_factory.mktemp("origins")
    places = np.random.default_rng(seed).uniform(-0.5, 0.5, (50, 3)) * 10.0 ** np.array(powers) + centre
    write(folder / "a.ply", places)
    cloud = loaded(folder / "a.ply")
    save_points(folder / "a.copc.laz", cloud)
    found = laspy.read(str(folder / "a.copc.laz"))
    order = np.argsort(np.array(found.serial))
    step = found.header.scales
    assert (step <= np.ptp(cloud.positions.astype(float), axis=0) * 2.0**-24 * 1.001).all()
    apart = np.abs(np.array(found.xyz)[order] - absolute(cloud))
    assert (apart <= step / 2 + slack(places) / 8).all()
    again = loaded(folder / "a.copc.laz")
    back = absolute(again)[np.argsort(again.fields["serial"])]
    assert (np.abs(back - places) <= 2 * slack(places)).all()


def test_degrees_beside_heights_come_back_to_a_tenth_of_a_millimetre(tmp_path: Path):
    places = np.random.default_rng(3).random((500, 3)) * [0.002, 0.001, 40] + [13.3777, 52.5162, 34.5]
    write(tmp_path / "a.ply", places)
    cloud = loaded(tmp_path / "a.ply")
    for name in ("b.ply", "b.copc.laz"):
        save_points(tmp_path / name, cloud)
        found = loaded(tmp_path / name)
        apart = np.abs(absolute(found)[np.argsort(found.fields["serial"], kind="stable")] - places)
        assert (apart[:, :2] * 111_320).max() < 1e-4 and apart[:, 2].max() < 1e-4


def test_a_map_of_a_hundred_kilometres_comes_back_to_millimetres(tmp_path: Path):
    places = np.random.default_rng(3).random((500, 3)) * [1e5, 1e5, 300] + [381_797, 5_820_377, 31]
    write(tmp_path / "a.ply", places)
    assert np.abs(absolute(loaded(tmp_path / "a.ply")) - places).max() < 4e-3


def of(places: np.ndarray) -> tuple[float, float, float]:
    return axis_origin(places, np.array([places.min(axis=0), places.max(axis=0)]))[1]


def test_axes_that_float32_tells_apart_have_no_origin():
    rng = np.random.default_rng(0)
    near = rng.random((90, 3)) - 0.5
    whole = np.rint(rng.random((90, 3)) * 9 + 1000)
    assert of(near) == of(near + 1) == of(whole) == of((near + 5000).astype(np.float32)) == (0, 0, 0)
    assert axis_origin(near, np.array([near.min(axis=0), near.max(axis=0)]))[0] is near
    assert of(np.column_stack([near[:, 0], near[:, 1] + 5_820_377, whole[:, 2]])) == (0, 5_820_377, 0)
    assert of(np.column_stack([near[:, :2], np.full(90, 0.1)])) == (0, 0, 0.1)


def test_cells_hold_their_points_though_steps_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    laspy = pytest.importorskip("laspy")
    monkeypatch.setattr("hra.domains.points.files.copc_writing._WHOLE", 100)
    places = np.random.default_rng(3).random((20_000, 3)) * [300, 0.2, 9]
    save_points(tmp_path / "a.copc.laz", PointCloud(places))
    with laspy.CopcReader.open(str(tmp_path / "a.copc.laz")) as reader:
        assert len(set(reader.header.scales)) == 3
        nodes = laspy.copc.load_octree_for_query(reader.source, reader.copc_info, reader.root_page)
        name = "_fetch_and_decompress_points_of_nodes"  # misspelt in older versions
        fetch = getattr(reader, name, None) or getattr(reader, name.replace("decom", "decrom"))
        total = 0
        for node in nodes:
            own = np.column_stack([fetch([node])[axis] for axis in "xyz"])
            assert (own >= node.bounds.mins - 1e-9).all() and (own <= node.bounds.maxs + 1e-9).all()
            total += len(own)
    assert total == len(places) and len(nodes) > 50
