"""What is left of a pipeline that was killed: whole files count, files that were cut off do not."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("ray.data")

from hra.errors import FileError
from hra.integrations.ray import remaining

NAMES = [f"{number}.png" for number in range(6)]


def _write(path: Path, names: list[str]) -> bytes:
    pq.write_table(pa.table({"id": names, "gain": [0.5] * len(names)}), path)
    return path.read_bytes()


def test_rows_of_whole_files_are_done(tmp_path: Path):
    _write(tmp_path / "a.parquet", NAMES[1:3])
    _write(tmp_path / "b.parquet", NAMES[4:5])
    assert remaining(iter(NAMES), tmp_path) == ["0.png", "3.png", "5.png"]
    assert remaining([], tmp_path) == []
    assert remaining(NAMES, tmp_path / "none") == NAMES


def test_files_that_were_cut_off_anywhere_are_taken_away(tmp_path: Path):
    file = tmp_path / "a.parquet"
    whole = _write(file, NAMES[:3])
    for length in (0, 1, 4, len(whole) // 2, len(whole) - 9, len(whole) - 1):
        file.write_bytes(whole[:length])
        assert remaining(NAMES, tmp_path) == NAMES
        assert not file.exists()
    file.write_bytes(whole)
    assert remaining(NAMES, tmp_path) == NAMES[3:] and file.exists()


def test_other_files_are_refused_and_stay(tmp_path: Path):
    pq.write_table(pa.table({"name": NAMES}), tmp_path / "other.parquet")
    with pytest.raises(FileError, match="no column id"):
        remaining(NAMES, tmp_path)
    assert (tmp_path / "other.parquet").exists()
