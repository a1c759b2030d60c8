"""COPC out, as laspy reads it: every point once, in its cell, and finer from level to level."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hra.domains.points import PointCloud, SplatCloud, load_points, save_points
from hra.domains.points.files import copc_writing
from hra.domains.points.files.copc_writing import additive_levels
from hra.errors import HraError

laspy = pytest.importorskip("laspy")
# What rounding to the file's steps and to float32 may come to.
STEP = 2e-5


@pytest.fixture
def small_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copc_writing, "_WHOLE", 100)


@pytest.fixture
def sphere() -> PointCloud:
    rng = np.random.default_rng(5)
    places = rng.normal(size=(60_000, 3))
    places *= np.array([50, 30, 10]) / np.linalg.norm(places, axis=1, keepdims=True)
    return PointCloud(places + 1000, rng.random((60_000, 3)))


def places(found: Any) -> np.ndarray:
    return np.column_stack([found.x, found.y, found.z])


def rows(points: np.ndarray) -> np.ndarray:
    return points[np.lexsort(points.T)]


def read(path: Path) -> Any:
    return laspy.CopcReader.open(str(path))


def test_another_reader_finds_every_point_and_its_color(sphere: PointCloud, tmp_path: Path):
    save_points(tmp_path / "a.copc.laz", sphere)
    with read(tmp_path / "a.copc.laz") as reader:
        found = reader.query()
        assert reader.header.point_count == len(found) == len(sphere)
        colors = np.column_stack([found.red, found.green, found.blue])
        np.testing.assert_allclose(reader.header.mins, places(found).min(axis=0), atol=1e-9)
        np.testing.assert_allclose(reader.header.maxs, places(found).max(axis=0), atol=1e-9)
    # Colours are all different: they tell which point is which.
    mine, theirs = (np.lexsort(c.T) for c in (np.rint(sphere.colors * 65535), colors))
    np.testing.assert_array_equal(colors[theirs], np.rint(sphere.colors * 65535)[mine])
    np.testing.assert_allclose(places(found)[theirs], sphere.positions[mine], atol=STEP)


@pytest.mark.usefixtures("small_nodes")
def test_every_level_is_finer_and_every_point_in_its_cell(sphere: PointCloud, tmp_path: Path):
    save_points(tmp_path / "a.copc.laz", sphere)
    with read(tmp_path / "a.copc.laz") as reader:
        info, total = reader.copc_info, 0
        nodes = {node.key: node for node in laspy.copc.load_octree_for_query(reader.source, info, reader.root_page)}
        name = "_fetch_and_decompress_points_of_nodes"  # misspelt in older versions
        fetch = getattr(reader, name, None) or getattr(reader, name.replace("decom", "decrom"))
        for key, entry in reader.root_page.entries.items():
            assert entry.point_count > 0 and (key.level == 0 or _parent(key) in reader.root_page.entries)
            node = nodes[key]
            own = places(fetch([node]))
            assert (own >= node.bounds.mins - 1e-9).all() and (own <= node.bounds.maxs + 1e-9).all()
            total += len(own)
        assert total == len(sphere)
        gaps = []
        for level in range(3):
            coarse = places(reader.query(level=range(level + 1)))
            distances = [np.linalg.norm(coarse - place, axis=1).min() for place in sphere.positions[::500]]
            gaps.append(max(distances))
            # Each cell of the level has one of its points at least, two cells' diagonals away at most.
            assert gaps[-1] <= info.spacing / 2**level * np.sqrt(3) + STEP
        assert len(gaps) == 3 and gaps[2] < gaps[0] / 2


def _parent(key: Any) -> Any:
    found = laspy.copc.VoxelKey()
    found.level, found.x, found.y, found.z = key.level - 1, key.x // 2, key.y // 2, key.z // 2
    return found


@given(st.integers(1, 300), st.integers(0, 99), st.sampled_from([2, 50, 10**6]))
@settings(max_examples=30, deadline=None)
def test_every_point_is_in_one_level(count: int, seed: int, cells: int):
    places = np.random.default_rng(seed).integers(0, cells, (count, 3)).astype(float)
    levels = additive_levels(places, np.zeros(3), float(cells))
    assert sorted(np.concatenate([level.rows for level in levels]).tolist()) == list(range(count))
    for number, level in enumerate(levels):
        assert (level.counts > 0).all() and level.counts.sum() == len(level.rows)
        cell = np.floor(places[level.rows] / cells * 2**number)
        np.testing.assert_array_equal(cell, np.repeat(level.keys, level.counts, axis=0))


@pytest.mark.usefixtures("small_nodes")
def test_a_node_takes_the_point_next_to_the_mean_of_each_cell():
    rng = np.random.default_rng(0)
    places = rng.random((5000, 3)) * [64, 64, 1]
    (first, *_) = additive_levels(places, np.zeros(3), 64.0)
    cells = np.floor(places) @ [1, 64, 64 * 64]
    for cell in np.unique(cells)[::50]:
        own = np.flatnonzero(cells == cell)
        if len(own) == 2:  # as far from their mean
            continue
        apart = np.linalg.norm(places[own] - places[own].mean(axis=0), axis=1)
        assert own[apart.argmin()] in first.rows
    assert len(first.rows) == len(np.unique(cells))


def test_it_is_read_back_level_by_level(sphere: PointCloud, tmp_path: Path):
    save_points(tmp_path / "a.copc.laz", sphere)
    found = load_points(tmp_path / "a.copc.laz")
    corner = sphere.positions.astype(float).min(axis=0)
    np.testing.assert_allclose(rows(found.positions + corner)[:, 2], rows(sphere.positions)[:, 2], atol=STEP)
    assert len(load_points(tmp_path / "a.copc.laz", level=0)) < len(sphere) / 5


def test_points_at_one_place_and_equal_bytes(tmp_path: Path):
    for name in ("a.copc.laz", "b.copc.laz"):
        save_points(tmp_path / name, PointCloud(np.full((30, 3), 7.0)))
    assert (tmp_path / "a.copc.laz").read_bytes() == (tmp_path / "b.copc.laz").read_bytes()
    with read(tmp_path / "a.copc.laz") as reader:
        np.testing.assert_array_equal(places(reader.query()), np.full((30, 3), 7.0))


def test_splats_are_not_written_as_points(splats: SplatCloud, tmp_path: Path):
    with pytest.raises(HraError, match="points, not splats"):
        save_points(tmp_path / "a.copc.laz", splats)
    assert not (tmp_path / "a.copc.laz").exists()
