from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hra.domains.points import PointCloud, load_points
from hra.domains.points.building.out_of_core import las_facts
from hra.errors import FileError, RepairWarning
from tests.helpers.copc import Key, copc_bytes

laspy = pytest.importorskip("laspy")


ROOT, CHILD = (0, 0, 0, 0), (1, 0, 0, 0)


PLACES = np.random.default_rng(1).integers(0, 800, (50, 3))


@pytest.mark.parametrize(
    ("field", "value", "what"),
    [
        ("level", -1, "does not belong to an octree"),
        ("x", 2, "does not belong to an octree"),
        ("place", 2**63, "outside of the file"),
        ("place", 3, "outside of the file"),
        ("bytes", 2**30, "outside of the file"),
        ("bytes", -5, "outside of the file"),
        ("points", -2, "does not belong to an octree"),
        ("points", 2**30, "hold"),
        ("points", 7, "hold"),
    ],
)
def test_nodes_that_lie_are_refused(field: str, value: int, what: str, tmp_path: Path):
    damaged(tmp_path, lambda row: row.__setitem__(field, value))
    with pytest.raises(FileError, match=what):
        load_points(tmp_path / "a.copc.laz")


@pytest.mark.parametrize("count", [2, 9, 10])
def test_few_points_of_a_map_beside_a_stray_are_read_with_a_warning(count: int, tmp_path: Path):
    las = laspy.create(point_format=3, file_version="1.2")
    las.header.scales, places = np.full(3, 0.01), np.array([635619.85, 5848899.7, 406.59]) + np.arange(count)[:, None]
    places[0] = 0
    las.x, las.y, las.z = places.T
    las.write(str(tmp_path / "a.las"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cloud = load_points(tmp_path / "a.las")
    off = np.abs(np.asarray(cloud.positions, np.float64) + cloud.origin - places).max(axis=1)
    assert ["y by up to 0.2" in str(one.message) for one in caught] == ([True] if count < 10 else [])
    assert (off[1:].max() > 0.01) == (count < 10)


@pytest.mark.filterwarnings("error")
def test_times_that_are_signalling_nan_are_read_as_they_are(tmp_path: Path):
    las = laspy.create(point_format=6, file_version="1.4")
    las.header.scales, las.header.global_encoding.gps_time_type = np.full(3, 0.01), 1
    las.x, las.y, las.z = np.arange(60.0).reshape(3, 20)
    times = np.full(20, 0x7FF0000000000001, np.uint64)
    las.gps_time = times.view(np.float64)
    las.write(str(tmp_path / "a.las"))
    cloud = load_points(tmp_path / "a.las")
    assert isinstance(cloud, PointCloud)
    np.testing.assert_array_equal(cloud.fields["gps_time"].view(np.uint64), times)


def damaged(folder: Path, change: Callable[[np.ndarray], None]) -> None:
    """Write a file whose second node was changed."""
    from hra.domains.points.files.las import ENTRY

    nodes: dict[Key, np.ndarray] = {ROOT: PLACES, CHILD: PLACES}
    content = bytearray(copc_bytes(nodes, [[ROOT, CHILD]]))
    change(np.frombuffer(content, ENTRY, 2, len(content) - 64)[1])
    (folder / "a.copc.laz").write_bytes(content)


@pytest.mark.parametrize("read", [load_points, las_facts])
@pytest.mark.parametrize(("extent", "lost"), [(30e3, ""), (1e6, "x by up to 0.031 where the file's steps are 0.001")])
def test_a_cloud_too_wide_for_its_steps_is_read_with_a_warning(read, extent: float, lost: str, tmp_path: Path):
    las, rng = laspy.create(point_format=3, file_version="1.2"), np.random.default_rng(3)
    las.header.scales = np.full(3, 0.001)
    las.x, las.y, las.z = (rng.uniform(0, 1, (2000, 3)) * [extent, 100, 100]).T
    las.write(str(tmp_path / "a.las"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read(tmp_path / "a.las")
    assert [str(one.message).count(lost) for one in caught] == ([1] if lost else [])


@pytest.mark.parametrize("stated", [0, 1])
def test_points_that_old_laszip_packed_in_one_piece_are_read(stated: int, tmp_path: Path):
    laspy = pytest.importorskip("laspy")
    cloud = laspy.LasData(laspy.LasHeader(version="1.2", point_format=1))
    cloud.x, cloud.y, cloud.z = np.random.default_rng(0).uniform(0, 100, (3, 40))
    cloud.intensity = np.arange(40)
    cloud.write(str(tmp_path / "chunked.laz"))
    data = bytearray((tmp_path / "chunked.laz").read_bytes())
    # One chunk, without the table and its place, is one piece.
    begin = int.from_bytes(data[96:100], "little")
    table = int.from_bytes(data[begin : begin + 8], "little")
    settings = data.index(b"laszip encoded") + 52
    data[settings : settings + 2], data[settings + 12 : settings + 16] = b"\1\0", stated.to_bytes(4, "little")
    (tmp_path / "piece.laz").write_bytes(data[:begin] + data[begin + 8 : table])
    found, expected = load_points(tmp_path / "piece.laz"), load_points(tmp_path / "chunked.laz")
    assert isinstance(found, PointCloud) and isinstance(expected, PointCloud)
    np.testing.assert_array_equal(found.positions, expected.positions)
    np.testing.assert_array_equal(found.fields["intensity"], expected.fields["intensity"])


@pytest.mark.parametrize("read", [load_points, las_facts])
def test_records_that_a_cloud_has_no_place_for_are_named(read: Callable[[Path], object], tmp_path: Path):
    laspy = pytest.importorskip("laspy")
    las = laspy.create(point_format=6, file_version="1.4")
    las.x = las.y = las.z = np.arange(5.0)
    las.vlrs.append(laspy.vlrs.known.WktCoordinateSystemVlr("WKT"))
    las.vlrs.append(laspy.VLR("liblas", 2112, "", b"WKT"))
    las.add_extra_dim(laspy.ExtraBytesParams("height", "f4"))
    las.evlrs = laspy.vlrs.vlrlist.VLRList()
    las.write(str(tmp_path / "plain.las"))
    las.vlrs.append(laspy.VLR("LASF_Spec", 3, "", b"a town"))
    las.evlrs.extend(laspy.VLR("Maker", number, "", b"lens") for number in [7, 7, *range(10, 18)])
    las.write(str(tmp_path / "more.las"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(tmp_path / "plain.las")
    with pytest.warns(RepairWarning, match="records 'LASF_Spec' 3, 'Maker' 7, .* 'Maker' 15 and 2 more were left out"):
        read(tmp_path / "more.las")
