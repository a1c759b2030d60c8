"""Colours of PLY in the types that writers give them; fields come back from PLY whatever their names are."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hra.domains.points import PointCloud, load_points, save_points
from hra.domains.points.files.ply_columns import SPLAT
from hra.domains.points.files.splat_formats import PACKED
from hra.errors import ArrayError, RepairWarning
from hra.files.ply import binary_table

NAMES = ["x", "y", "red", "radius", "x_1", "a b", "a_b", "a_b_1", "a\tb", "normal", "normal_0", "", "field", "nx"]


def loaded(path: Path) -> tuple[PointCloud, list[str]]:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = load_points(path)
    assert isinstance(found, PointCloud)
    return found, [str(one.message) for one in said]


def saved(cloud: PointCloud, path: Path) -> list[str]:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        save_points(path, cloud)
    return [str(one.message) for one in said]


def colored(values: Any, path: Path, names: tuple[str, ...] = ("red", "green", "blue")) -> tuple[PointCloud, list[str]]:
    """Three points whose three colours have these values each."""
    columns = {name: np.array([0, 1, 2], np.float32) for name in "xyz"} | {name: np.asarray(values) for name in names}
    path.write_bytes(binary_table(columns))
    return loaded(path)


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        *((np.array([0, 128, 255], kind), [0, 128 / 255, 1]) for kind in ("u1", "i2", "u2", "i4", "u4")),
        *((np.array([0, 256, 65535], kind), [0, 256 / 65535, 1]) for kind in ("u2", "i4", "u4")),
        (np.array([0, 100, 127], "i1"), [0, 100 / 255, 127 / 255]),
        (np.array([0, 300, 32767], "i2"), [0, 300 / 32767, 1]),
        (np.array([0, 2**30, 2**31 - 1], "i4"), [0, 0.5, 1]),
        (np.array([0, 0.25, 1], "f4"), [0, 0.25, 1]),
        (np.array([-1e-7, 0.25, 1.0000001], "f8"), [0, 0.25, 1]),
        (np.array([0, 0.25, 1.001], "f8"), [0, 0.25, 1]),
    ],
)
def test_colors_are_of_8_or_16_bits_or_fractions(values: Any, shown: list[float], tmp_path: Path):
    found, said = colored(values, tmp_path / "a.ply")
    assert np.allclose(found.colors, np.repeat(shown, 3).reshape(3, 3), atol=1e-6) and not said and not found.fields


@pytest.mark.parametrize("most", [1.5, 200, 255])
def test_fractions_above_1_are_read_as_of_8_bits_and_named(most: float, tmp_path: Path):
    found, said = colored(np.array([0, 1, most], np.float32), tmp_path / "a.ply")
    assert np.allclose(found.colors[:, 0], np.array([0, 1, most]) / 255)
    assert len(said) == 1 and f"a.ply: colours go up to {most:g}, and were read as numbers from 0 to 255" in said[0]


@pytest.mark.parametrize(
    "values", [np.array([0, 1, 256], np.float32), np.array([-0.1, 0, 1], np.float32), np.array([-1, 0, 1], np.int8)]
)
def test_numbers_that_are_no_colors_are_refused_with_the_file(values: Any, tmp_path: Path):
    with pytest.raises(ArrayError) as caught:
        colored(values, tmp_path / "a.ply")
    assert str(tmp_path / "a.ply") in caught.value.where


@pytest.mark.parametrize("names", [("r", "g", "b"), ("diffuse_red", "diffuse_green", "diffuse_blue")])
def test_colors_have_other_names(names: tuple[str, ...], tmp_path: Path):
    found, said = colored(np.array([0, 51, 255], np.uint8), tmp_path / "a.ply", names)
    assert np.allclose(found.colors[:, 1], [0, 0.2, 1]) and not found.fields and not said
    found, _ = colored(np.array([0, 51, 255], np.uint8), tmp_path / "a.ply", (*names, "red", "green", "blue"))
    assert set(found.fields) == set(names)
    # No colours: they are passed on as what they are.
    found, _ = colored(np.array([0, -7, 300], np.float32), tmp_path / "a.ply", names)
    assert set(found.fields) == set(names) and (found.colors == 0.5).all()


@pytest.mark.parametrize("name", ["x", "y", "z", "red", "green", "blue", "radius"])
def test_a_field_does_not_become_a_coordinate_a_color_or_a_radius(name: str, tmp_path: Path):
    cloud = PointCloud(np.eye(3) * 5, np.full((3, 3), 0.2), fields={name: np.array([7, 8, 9], np.float32)})
    said = saved(cloud, tmp_path / "a.ply")
    found, _ = loaded(tmp_path / "a.ply")
    assert np.array_equal(found.positions, cloud.positions) and np.allclose(found.colors, 0.2) and found.radii is None
    assert {one: rows.tolist() for one, rows in found.fields.items()} == {f"{name}_1": [7, 8, 9]}
    assert said == [f"the field {name!r} became the property '{name}_1': PLY uses the name for something else"]


@pytest.mark.parametrize("names", [SPLAT, [name for name in SPLAT if name != "scale_2"], PACKED])
def test_fields_of_points_do_not_make_them_splats(names: list[str], tmp_path: Path):
    cloud = PointCloud(np.eye(3), fields={name: np.array([k, 1, 2], np.float32) for k, name in enumerate(names)})
    assert len(saved(cloud, tmp_path / "a.ply")) == 1
    found, _ = loaded(tmp_path / "a.ply")
    assert [rows.tolist() for rows in found.fields.values()] == [rows.tolist() for rows in cloud.fields.values()]


def test_whole_numbers_that_doubles_round_are_named(tmp_path: Path):
    said = saved(PointCloud(np.eye(3), fields={"serial": np.array([0, 1, 2**53 + 1], np.int64)}), tmp_path / "a.ply")
    assert said == ["the field 'serial' was rounded to doubles"]


@pytest.mark.parametrize("name", ["", " "])
def test_a_field_without_a_name_gets_one(name: str, tmp_path: Path):
    said = saved(PointCloud(np.eye(3), fields={name: np.arange(3.0)}), tmp_path / "a.ply")
    assert said == [f"the field {name!r} became the property 'field': properties of PLY have names"]


@settings(deadline=None, max_examples=60)
@given(st.dictionaries(st.sampled_from(NAMES), st.integers(0, 3), min_size=1, max_size=8))
def test_fields_of_any_names_come_back(tmp_path_factory: pytest.TempPathFactory, wide: dict[str, int]):
    path, number, fields = tmp_path_factory.mktemp("fields") / "a.ply", 0, {}
    for name, columns in wide.items():
        shape = (2, columns) if columns else (2,)
        fields[name] = np.arange(number, number + 2 * max(columns, 1), dtype=np.float32).reshape(shape)
        number += fields[name].size
    cloud = PointCloud(np.eye(3)[:2], fields=fields)
    said = saved(cloud, path)
    found, _ = loaded(path)
    assert np.array_equal(found.positions, cloud.positions) and found.radii is None
    columns = [column.tolist() for rows in fields.values() for column in (rows.T if rows.ndim == 2 else [rows])]
    assert [rows.tolist() for rows in found.fields.values()] == columns
    shorts = {"_".join(name.split()) or "field" for name in fields}
    own = {name for short in shorts for name in (short, *(f"{short}_{k}" for k in range(3)))}
    assert all(name in own or any(f"the property {name!r}" in one for one in said) for name in found.fields)


@pytest.mark.parametrize(
    ("more", "row", "lost"),
    [
        ("element camera 1\nproperty float view_px\n", "4\n", ["the elements camera were left out"]),
        ("element range_grid 1\nproperty list uchar int indices\n", "1 0\n", ["the elements range_grid were left out"]),
        ("element camera 0\nproperty float view_px\n", "", []),
        ("element face 1\nproperty list uchar int vertex_indices\n", "3 0 0 0\n", []),
    ],
)
def test_elements_that_no_cloud_has_are_named(more: str, row: str, lost: list[str], tmp_path: Path):
    head = "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\n"
    (tmp_path / "a.ply").write_text(f"{head}{more}end_header\n1 2 3\n{row}")
    found, said = loaded(tmp_path / "a.ply")
    assert found.positions.tolist() == [[1, 2, 3]]
    assert [message.split(": ", 1)[1] for message in said] == lost


@pytest.mark.parametrize("names", [(), SPLAT])
def test_lists_of_points_and_splats_are_named(names: tuple[str, ...], tmp_path: Path):
    head = "".join(f"property float {name}\n" for name in (*"xyz", *names)) + "property list uchar int seen_by\n"
    row = " ".join(["1"] * (3 + len(names))) + " 2 7 8\n"
    (tmp_path / "a.ply").write_text(f"ply\nformat ascii 1.0\nelement vertex 1\n{head}end_header\n{row}")
    with pytest.warns(RepairWarning, match="the lists of vertices seen_by were left out"):
        load_points(tmp_path / "a.ply")
