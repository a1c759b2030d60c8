"""Fields come back from COPC with every value; where LAS has no place for it, under another name, with a warning."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hra.domains.points import PointCloud, load_points, save_points
from hra.domains.points.files.las_header import RESERVED, WEEK

laspy = pytest.importorskip("laspy")
NAMES = [
    *("intensity", "return_number", "number_of_returns", "synthetic", "scanner_channel", "classification", "user_data"),
    *("scan_angle", "point_source_id", "gps_time", WEEK, "nir", "temperature", "temperature_1", "intensity_1"),
    *("echo width", "a" * 33, "a" * 40, "é" * 20, *sorted(RESERVED)),
]
RETURNS = ("return_number", "number_of_returns")
KINDS = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "?"]


def saved(fields: dict[str, Any], folder: Path) -> tuple[dict[str, np.ndarray], list[str]]:
    """The fields that come back, but for the returns that every point of LAS has; and the warnings of writing them."""
    count = len(next(iter(fields.values())))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        save_points(folder / "a.copc.laz", PointCloud(np.arange(3.0 * count).reshape(-1, 3), fields=fields))
    found = load_points(folder / "a.copc.laz")
    assert isinstance(found, PointCloud) and np.array_equal(np.sort(found.positions[:, 0]), found.positions[:, 0])
    laspy.read(str(folder / "a.copc.laz"))
    usual = {name for name in RETURNS if not np.array_equal(found.fields.get(name, []), fields.get(name, []))}
    back = {name: rows for name, rows in found.fields.items() if name not in usual}
    return back, [str(one.message) for one in said]


@pytest.mark.parametrize(
    ("name", "rows", "reason"),
    [
        ("intensity", np.array([0, 0.25, 0.5], np.float32), "whole numbers from 0 to 65535"),
        ("intensity", np.array([0, 1, 70_000], np.int32), "whole numbers from 0 to 65535"),
        ("intensity", np.array([0, 1, -1], np.int16), "whole numbers from 0 to 65535"),
        ("intensity", np.array([0, 1, np.nan], np.float64), "whole numbers from 0 to 65535"),
        ("classification", np.array([0, 1, 300], np.uint16), "whole numbers from 0 to 255"),
        ("user_data", np.array([0, 1, 1000], np.uint16), "whole numbers from 0 to 255"),
        ("return_number", np.array([0, 1, 17], np.uint8), "whole numbers from 0 to 15"),
        ("withheld", np.array([0, 1, 2], np.uint8), "whole numbers from 0 to 1"),
        ("scan_angle", np.array([0, 1, -20.5], np.float32), "whole steps of .006 degrees"),
        ("scan_angle", np.array([0, 1, 40_000], np.int32), "whole numbers from -32768 to 32767"),
        ("nir", np.array([0, 1, 0.5], np.float32), "whole numbers from 0 to 65535"),
        ("classification", np.array([[0, 1], [2, 3], [4, 5]], np.uint8), "one number of a point"),
        ("gps_time", np.array([0, 1, 2**53 + 1], np.int64), "doubles round it"),
        *(
            (name, np.array([1, 2, 3.5], np.float32), "for something else")
            for name in ("X", "x", "red", "color", "place")
        ),
        *(
            (name, np.array([1, 2, 3], np.uint8), "for something else")
            for name in ("returns", "flags", "scan_angle_rank")
        ),
        ("", np.array([1, 2, 3], np.uint8), "cannot write the name"),
        ("wavepacket_index", np.array([1, 2, 3], np.uint8), "for something else"),
    ],
)
def test_what_las_does_not_hold_comes_back_under_another_name(name: str, rows: Any, reason: str, tmp_path: Path):
    found, said = saved({name: rows}, tmp_path)
    own = f"{name}_1" if name else "field"
    assert set(found) == {own} and found[own].dtype == rows.dtype
    assert np.array_equal(found[own], rows, equal_nan=rows.dtype.kind == "f")
    (one,) = said
    assert f"{name!r} became the extra dimension {own!r}" in one and reason in one


def test_whole_numbers_of_any_type_go_where_they_belong(tmp_path: Path):
    fields = {
        "intensity": np.array([0, 7, 65535], np.float64),
        "classification": np.array([0, 2, 255], np.int64),
        "nir": np.array([0, 1, 2], np.int32),
    }
    fields |= {"scan_angle": np.array([-32768, 0, 32767], np.int32), "withheld": np.array([True, False, True])}
    found, said = saved(fields, tmp_path)
    assert not said and set(found) == set(fields)
    assert all(np.array_equal(found[name], rows) for name, rows in fields.items())


def test_both_times_come_back(tmp_path: Path):
    fields = {"gps_time": np.array([1, 2, 3], np.float64), WEEK: np.array([4, 5, 6], np.float64)}
    for order in (fields, dict(reversed(fields.items()))):
        found, said = saved(order, tmp_path)
        assert found["gps_time"].tolist() == [1, 2, 3] and found[f"{WEEK}_1"].tolist() == [4, 5, 6]
        assert len(said) == 1 and "LAS has one time of a point" in said[0]
    found, said = saved({WEEK: fields[WEEK]}, tmp_path)
    assert not said and found[WEEK].tolist() == [4, 5, 6]


def test_long_names_are_cut_to_unique_ones(tmp_path: Path):
    fields = {
        "t" * 32: np.array([1, 2, 3], np.uint8),
        "t" * 33: np.array([4, 5, 6], np.uint8),
        "é" * 17: np.array([7, 8, 9], np.uint8),
    }
    found, said = saved(fields, tmp_path)
    assert {name: rows.tolist() for name, rows in found.items()} == {
        **{"t" * 32: [1, 2, 3], "t" * 30 + "_1": [4, 5, 6], "é" * 16: [7, 8, 9]}
    }
    assert len(said) == 2 and all("at most 32 bytes" in one for one in said)


@settings(deadline=None, max_examples=60)
@given(
    st.dictionaries(
        st.sampled_from(NAMES), st.tuples(st.sampled_from(KINDS), st.integers(0, 4)), min_size=1, max_size=6
    ),
    st.integers(0, 2**31),
)
def test_no_value_of_any_field_is_lost(
    tmp_path_factory: pytest.TempPathFactory, kinds: dict[str, tuple[str, int]], seed: int
):
    rng = np.random.default_rng(seed)
    fields = {}
    for name, (kind, wide) in kinds.items():
        values = rng.integers(0, 2 ** rng.integers(1, 16), (5, wide) if wide else 5) + 1 - rng.integers(0, 2)
        fields[name] = (values + 0.5 * (rng.random() < 0.3)).astype(kind)
    found, said = saved(fields, tmp_path_factory.mktemp("fields"))
    columns = sorted(column.tolist() for rows in fields.values() for column in _columns(rows) if np.any(column))
    back = sorted(column.tolist() for rows in found.values() for column in _columns(rows) if np.any(column))
    assert back == columns
    assert all(len(name.encode()) <= 32 for name in found)
    # What has its own name has its own values.
    assert all(
        np.array_equal(found[name], rows) or any(repr(name) in one for one in said)
        for name, rows in fields.items()
        if name in found
    )


def _columns(rows: np.ndarray) -> list[np.ndarray]:
    return [rows.astype(np.float64)] if rows.ndim == 1 else list(rows.T.astype(np.float64))
