"""What is wrong with a file of points is said with its name: no points, numbers that are not finite, other formats."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from hra.domains.points import PointCloud, SplatCloud, load_points, save_points
from hra.domains.points.building.out_of_core import build_out_of_core
from hra.errors import ArrayError, FileError
from hra.files.ply import binary_table
from tests.helpers.splat_files import splat_rows

laspy = pytest.importorskip("laspy")
LEGACY, COUNT = 107, 247


def las(path: Path, count: int, version: str = "1.4") -> bytearray:
    header = laspy.LasHeader(point_format=1, version=version)
    header.scales = np.full(3, 0.01)
    found = laspy.LasData(header)
    found.x = found.y = found.z = np.arange(float(count))
    found.write(str(path))
    return bytearray(path.read_bytes())


@pytest.mark.parametrize(("suffix", "version"), [(".las", "1.2"), (".las", "1.4"), (".laz", "1.2"), (".laz", "1.4")])
def test_las_without_points_says_so(suffix: str, version: str, tmp_path: Path):
    path = tmp_path / f"none{suffix}"
    las(path, 0, version)
    for read in (load_points, lambda path: build_out_of_core(path, tmp_path / "a.hpt", memory=2**30)):
        with pytest.raises(FileError, match="the LAS file holds no points") as caught:
            read(path)
        assert caught.value.where == str(path) and caught.value.fix


@pytest.mark.parametrize("suffix", [".las", ".laz"])
def test_the_older_count_is_read_where_the_newer_one_is_empty(suffix: str, tmp_path: Path):
    path = tmp_path / f"a{suffix}"
    content = las(path, 40)
    content[COUNT : COUNT + 8] = bytes(8)
    content[LEGACY : LEGACY + 4] = struct.pack("<L", 40)
    path.write_bytes(content)
    assert len(load_points(path)) == 40


def test_an_older_count_of_more_points_than_there_are_is_refused(tmp_path: Path):
    content = las(tmp_path / "a.las", 40)
    content[COUNT : COUNT + 8] = bytes(8)
    content[LEGACY : LEGACY + 4] = struct.pack("<L", 41)
    (tmp_path / "a.las").write_bytes(content)
    with pytest.raises(FileError, match="41 points do not fit into its bytes"):
        load_points(tmp_path / "a.las")


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300])
@pytest.mark.parametrize(("column", "name"), [("y", "coordinates"), ("red", "colours"), ("radius", "radii")])
def test_points_that_are_not_finite_are_counted(column: str, name: str, value: float, tmp_path: Path):
    columns = {one: np.arange(9.0) for one in "xyz"} | {one: np.linspace(0, 1, 9) for one in ("red", "green", "blue")}
    columns["radius"] = np.ones(9)
    columns[column][[3, 5]] = value
    (tmp_path / "a.ply").write_bytes(binary_table(columns))
    with pytest.raises(
        ArrayError, match=f"2 of 9 points have {name} that are not finite.*: row 3 is the first"
    ) as caught:
        load_points(tmp_path / "a.ply")
    assert caught.value.where == str(tmp_path / "a.ply")


@pytest.mark.parametrize(("column", "name"), [("x", "positions"), ("rot_1", "rotations"), ("f_dc_0", "colors")])
def test_splats_that_are_not_finite_are_counted(column: str, name: str, tmp_path: Path):
    ones = np.ones((4, 3))
    cloud = SplatCloud.of(np.arange(12.0).reshape(4, 3), ones, np.ones((4, 4)), ones / 2, np.full(4, 0.5))
    save_points(tmp_path / "a.ply", cloud)
    head, _, rows = (tmp_path / "a.ply").read_bytes().partition(b"end_header\n")
    names = [line.split()[-1].decode() for line in head.splitlines() if line.startswith(b"property")]
    table = np.frombuffer(rows, "<f4").reshape(4, -1).copy()
    table[2, names.index(column)] = np.nan
    (tmp_path / "a.ply").write_bytes(head + b"end_header\n" + table.tobytes())
    with pytest.raises(
        ArrayError, match=f"1 of 4 splats have {name} that are not finite.*: row 2 is the first"
    ) as caught:
        load_points(tmp_path / "a.ply")
    assert caught.value.where == str(tmp_path / "a.ply")


def test_compact_splats_that_are_not_finite_are_counted(tmp_path: Path):
    rows = bytearray(splat_rows())
    struct.pack_into("<f", rows, 32, float("nan"))
    (tmp_path / "a.splat").write_bytes(rows)
    with pytest.raises(ArrayError, match="1 of 2 splats have positions that are not finite") as caught:
        load_points(tmp_path / "a.splat")
    assert caught.value.where == str(tmp_path / "a.splat")


def test_every_error_of_an_array_names_the_file(tmp_path: Path):
    columns = {one: np.arange(3.0) for one in "xyz"} | {"radius": np.array([1.0, -1, 1])}
    (tmp_path / "a.ply").write_bytes(binary_table(columns))
    with pytest.raises(ArrayError) as caught:
        load_points(tmp_path / "a.ply")
    assert caught.value.where == f"{tmp_path / 'a.ply'}: radii"


@pytest.mark.parametrize("suffix", [".pcd", ".e57", ".xyz", ".PTS", ".ptx"])
def test_other_formats_are_refused_by_their_names(suffix: str, tmp_path: Path):
    (tmp_path / f"a{suffix}").write_text("1 2 3\n")
    with pytest.raises(FileError, match=f"{suffix[1:].upper()} files are not read") as caught:
        load_points(tmp_path / f"a{suffix}")
    assert "PLY" in caught.value.fix and "LAS" in caught.value.fix


@pytest.mark.parametrize("name", ["a.glb", "a.hpt", "a.txt", "a"])
def test_what_is_no_ply_file_and_has_another_name_is_refused_by_it(name: str, tmp_path: Path):
    (tmp_path / name).write_bytes(b"glTF 2")
    with pytest.raises(FileError, match="is not read here") as caught:
        load_points(tmp_path / name)
    assert ".ply" in caught.value.fix and ".spz" in caught.value.fix


@pytest.mark.parametrize("name", ["a.las", "a.splat", "a.spz", "a.sog", "a.hpt", "a"])
def test_clouds_are_not_written_by_the_name_of_another_format(name: str, tmp_path: Path):
    with pytest.raises(FileError, match="is not written here") as caught:
        save_points(tmp_path / name, PointCloud(np.eye(3)))
    assert caught.value.fix == "use .ply, .laz" and not (tmp_path / name).exists()


def test_a_level_of_copc_without_points_says_so(tmp_path: Path):
    from hra.domains.points.files.las import ENTRY

    save_points(tmp_path / "a.copc.laz", PointCloud(np.arange(30.0).reshape(-1, 3)))
    content = bytearray((tmp_path / "a.copc.laz").read_bytes())
    (node,) = np.frombuffer(content, ENTRY, 1, len(content) - ENTRY.itemsize)[:1]
    assert node["points"] == 10
    np.frombuffer(content, ENTRY, 1, len(content) - ENTRY.itemsize)["level"][0] = 1
    (tmp_path / "a.copc.laz").write_bytes(content)
    assert len(load_points(tmp_path / "a.copc.laz")) == 10
    with pytest.raises(FileError, match="no node down to level 0 of the COPC file holds points"):
        load_points(tmp_path / "a.copc.laz", level=0)
