"""COPC in: whole or down to a level, as laspy reads it, and refused where nodes or pages lie."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from hra.domains.points import load_points
from hra.errors import FileError, HraError, LimitExceeded
from hra.files.limits import Limits
from tests.helpers.copc import copc_bytes, two_levels

laspy = pytest.importorskip("laspy")
ROOT, CHILD = (0, 0, 0, 0), (1, 0, 0, 0)
PLACES = np.random.default_rng(1).integers(0, 800, (50, 3))


def sorted_rows(rows: np.ndarray) -> np.ndarray:
    return rows[np.lexsort(rows.T)]


@pytest.mark.parametrize(("level", "count"), [(None, 100), (0, 40), (1, 100), (9, 100)])
def test_nodes_down_to_a_level_are_read_as_laspy_reads_them(level: int | None, count: int, tmp_path: Path):
    content = two_levels()
    (tmp_path / "a.copc.laz").write_bytes(content)
    found = load_points(tmp_path / "a.copc.laz", level=level)
    with laspy.CopcReader(io.BytesIO(content)) as reader:
        expected = reader.query(level=None if level is None else range(level + 1))
        corner = reader.header.mins
    assert len(found) == len(expected) == count
    rows = np.column_stack([expected.x, expected.y, expected.z]) - corner
    np.testing.assert_allclose(sorted_rows(found.positions), sorted_rows(rows.astype(np.float32)), atol=1e-6)
    grey = np.asarray(expected.red) / 65535
    np.testing.assert_allclose(np.sort(found.colors[:, 0]), np.sort(grey), atol=1e-6)


def test_a_coarse_read_takes_only_its_nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "a.copc.laz").write_bytes(two_levels())
    small = Limits(file_bytes=600)
    monkeypatch.setattr("hra.domains.points.files.las.DEFAULT", small)
    assert len(load_points(tmp_path / "a.copc.laz", level=0)) == 40
    with pytest.raises(LimitExceeded, match="file bytes"):
        load_points(tmp_path / "a.copc.laz")


@pytest.mark.parametrize(
    ("pages", "head", "what"),
    [
        ([[ROOT, (CHILD, 0)]], {}, "lead back"),
        ([[ROOT, (CHILD, 1)], [CHILD, (CHILD, 1)]], {}, "lead back"),
        ([[ROOT, CHILD, CHILD]], {}, "appears twice"),
        ([[ROOT]], {}, "hold 50 points, its header says 100"),
        ([[ROOT, CHILD]], {"page": 10**9}, "lies outside"),
        ([[ROOT, CHILD]], {"size": 33}, "lies outside"),
        ([[ROOT, CHILD]], {"size": 0}, "lies outside"),
    ],
)
def test_hierarchies_that_lie_are_refused(pages: list, head: dict, what: str, tmp_path: Path):
    (tmp_path / "a.copc.laz").write_bytes(copc_bytes({ROOT: PLACES, CHILD: PLACES}, pages, head))
    with pytest.raises(FileError, match=what):
        load_points(tmp_path / "a.copc.laz")


def test_two_nodes_are_not_the_same_points(tmp_path: Path):
    content = bytearray(copc_bytes({ROOT: PLACES, CHILD: PLACES}, [[ROOT, CHILD]]))
    content[-16:] = content[-48:-32]
    (tmp_path / "a.copc.laz").write_bytes(content)
    with pytest.raises(FileError, match="in another node"):
        load_points(tmp_path / "a.copc.laz")


@pytest.mark.parametrize("user", [b"copc", b"none"])
def test_layers_longer_than_their_chunk_are_refused_before_they_take_memory(user: bytes, tmp_path: Path):
    content = bytearray(two_levels())
    content[377:381] = user  # of another user the record is none, and the file one of LAZ
    (tmp_path / "a.laz").write_bytes(content)
    assert len(load_points(tmp_path / "a.laz")) == 100
    begin = int.from_bytes(content[96:100], "little") + 8
    content[begin + 40 : begin + 80] = b"\xff" * 40
    (tmp_path / "a.laz").write_bytes(content)
    with pytest.raises(FileError, match="layers of a chunk are longer"):
        load_points(tmp_path / "a.laz")


def test_other_files_have_no_levels(tmp_path: Path):
    cloud = laspy.create(point_format=2)
    cloud.x = cloud.y = cloud.z = np.array([0.0, 1.0])
    cloud.write(str(tmp_path / "a.las"))
    (tmp_path / "a.ply").write_bytes(b"ply\n")
    for name in ("a.las", "a.ply"):
        with pytest.raises(HraError, match="only COPC files have levels"):
            load_points(tmp_path / name, level=1)


def test_levels_count_from_the_root(tmp_path: Path):
    (tmp_path / "a.copc.laz").write_bytes(two_levels())
    with pytest.raises(HraError, match="level -1 is invalid"):
        load_points(tmp_path / "a.copc.laz", level=-1)
