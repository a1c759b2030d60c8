"""The binding: each function does what its contract says, and bad arrays never reach the C code."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from pathlib import Path

import numpy as np
import pytest

from hra.domains import meshes
from hra.domains.meshes.mesh import meshopt
from hra.errors import ArrayError, BackendUnavailable, MissingExtra


@pytest.fixture
def fresh_library():
    meshopt.library.cache_clear()
    yield
    meshopt.library.cache_clear()


def test_simplify_keeps_locked_vertices_and_reports_object_units(bumpy: meshes.TriangleMesh) -> None:
    locked = np.zeros(len(bumpy.positions), np.uint8)
    locked[::7] = 1
    indices = bumpy.triangles.reshape(-1)
    coarse, error = meshopt.simplify(indices, bumpy.positions, locked, indices.size // 2)
    assert coarse.size <= 0.6 * indices.size
    assert np.isin(np.flatnonzero(locked), coarse).all()
    scaled, scaled_error = meshopt.simplify(indices, bumpy.positions * 1024, locked, indices.size // 2)
    assert np.array_equal(scaled, coarse)
    assert scaled_error == pytest.approx(1024 * error)
    assert 0 < error < 0.1


def test_partition_groups_every_cluster(bumpy: meshes.TriangleMesh) -> None:
    sizes = np.full(len(bumpy.triangles) // 32, 96, np.uint32)
    group = meshopt.partition_clusters(bumpy.triangles.reshape(-1), sizes, len(bumpy.positions), 4)
    assert np.array_equal(np.unique(group), np.arange(group.max() + 1))
    assert np.bincount(group).max() <= 5


def test_unique_rows_agrees_with_numpy(rng: np.random.Generator) -> None:
    rows = rng.integers(0, 4, (500, 3)).astype(np.float32)
    number, count = meshopt.unique_rows(rows)
    expected, inverse = np.unique(rows, axis=0, return_inverse=True)
    assert count == len(expected)
    assert len(np.unique(np.stack([number, inverse.reshape(-1)], 1), axis=0)) == count


@pytest.mark.parametrize(
    "indices",
    [
        np.array([0, 1, 3], np.uint32),
        np.array([0, 1], np.uint32),
        np.array([0, 1, 2], np.int32),
        np.array([[0, 1, 2]], np.uint32),
        np.array([0, 9, 1, 9, 2, 9], np.uint32)[::2],
    ],
    ids=["out of range", "no triple", "signed", "two dimensions", "strided"],
)
def test_bad_indices_are_refused(indices: np.ndarray) -> None:
    positions, locked = np.eye(3, dtype=np.float32), np.zeros(3, np.uint8)
    for call in (
        lambda: meshopt.simplify(indices, positions, locked, 0),
        lambda: meshopt.partition_clusters(indices, np.array([3], np.uint32), 3, 4),
    ):
        with pytest.raises(ArrayError):
            call()


def test_bad_vertex_arrays_are_refused() -> None:
    indices, positions = np.arange(3, dtype=np.uint32), np.eye(3, dtype=np.float32)
    locked = np.zeros(3, np.uint8)
    for bad in (positions.astype(np.float64), np.ones((3, 2), np.float32), np.asfortranarray(positions + 1)):
        with pytest.raises(ArrayError):
            meshopt.simplify(indices, bad, locked, 0)
    with pytest.raises(ArrayError):
        meshopt.simplify(indices, positions, locked[:2], 0)
    with pytest.raises(ArrayError):
        meshopt.simplify(indices, positions, locked, 6)
    with pytest.raises(ArrayError):
        meshopt.partition_clusters(indices, np.array([2], np.uint32), 3, 4)
    with pytest.raises(ArrayError):
        meshopt.unique_rows(np.zeros((2, 65), np.float32))


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch, fresh_library: None) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"hra\[meshes\]"):
        meshopt.library()


def test_another_version_is_refused(monkeypatch: pytest.MonkeyPatch, fresh_library: None) -> None:
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "9.9")
    with pytest.raises(BackendUnavailable, match=r"9\.9"):
        meshopt.library()


def test_a_missing_or_foreign_library_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fresh_library: None
) -> None:
    monkeypatch.setattr(meshopt, "_package_folder", lambda: tmp_path)
    with pytest.raises(BackendUnavailable, match="no shared library"):
        meshopt.library()
    (tmp_path / "_meshoptimizer.so").write_bytes(b"not a library")
    with pytest.raises(BackendUnavailable):
        meshopt.library()
