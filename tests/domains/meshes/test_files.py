"""Written files: whole or not there at all; cluster meshes come back equal or are refused."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hra.domains import meshes
from hra.errors import FileError


def test_a_failed_write_leaves_the_old_file(
    bumpy: meshes.TriangleMesh, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bumpy.export(tmp_path / "a.ply")
    before = (tmp_path / "a.ply").read_bytes()

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match="No space left"):
        bumpy.export(tmp_path / "a.ply")
    assert (tmp_path / "a.ply").read_bytes() == before
    assert os.listdir(tmp_path) == ["a.ply"]


def test_unwritable_targets_are_refused(bumpy: meshes.TriangleMesh, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be written"):
        bumpy.export(tmp_path / "none" / "a.glb")
    with pytest.raises(FileError, match="not written"):
        bumpy.export(tmp_path / "a.blend")


def test_cluster_meshes_round_trip(bumpy_clusters: meshes.ClusterMesh, tmp_path: Path) -> None:
    bumpy_clusters.save(tmp_path / "a.npz")
    again = meshes.load_clusters(tmp_path / "a.npz")
    for name in ("positions", "indices", "offsets"):
        assert np.array_equal(getattr(again, name), getattr(bumpy_clusters, name))
    for name in ("node_cost", "added_by", "removed_by", "cost", "edges"):
        assert np.array_equal(getattr(again.hierarchy, name), getattr(bumpy_clusters.hierarchy, name))
    for name, values in bumpy_clusters.hierarchy.node.items():
        assert np.array_equal(again.hierarchy.attribute(name), values)
        assert again.hierarchy.attribute(name).dtype == values.dtype
    again.save(tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


@pytest.fixture
def saved(bumpy_clusters: meshes.ClusterMesh, tmp_path: Path) -> Path:
    bumpy_clusters.save(tmp_path / "a.npz")
    return tmp_path / "a.npz"


def test_damage_is_found(saved: Path, rng: np.random.Generator) -> None:
    content = np.frombuffer(saved.read_bytes(), np.uint8)
    for end in (0, 10, len(content) // 2, len(content) - 1):
        saved.write_bytes(content[:end].tobytes())
        with pytest.raises(FileError):
            meshes.load_clusters(saved)
    # The middle of the largest arrays: their checksums must catch a single flipped bit.
    for place in rng.integers(len(content) // 4, len(content) // 2, 20):
        damaged = content.copy()
        damaged[place] ^= 1
        saved.write_bytes(damaged.tobytes())
        with pytest.raises(FileError):
            meshes.load_clusters(saved)


def changed(saved: Path, **arrays: object) -> Path:
    """The file with some arrays replaced, or left out where None."""
    with np.load(saved) as file:
        content = {name: file[name] for name in file.files} | arrays
    kept: dict[str, Any] = {name: np.asarray(values) for name, values in content.items() if values is not None}
    np.savez(saved, **kept)
    return saved


@pytest.mark.parametrize(
    "arrays",
    [
        {"version": 2},
        {"version": None},
        {"version": "1"},
        {"positions": None},
        {"positions": np.full((10, 3), np.nan, np.float32)},
        {"positions": np.zeros((10, 3), np.float32)},
        {"positions": np.zeros((10, 3))},
        {"indices": np.arange(9, dtype=np.uint32)},
        {"offsets": np.array([0, 3, 2], np.int64)},
        {"removed_by": np.zeros(3, np.int32)},
        {"error": np.array([np.inf], np.float32)},
        {"center": np.zeros(3, np.float32)},
    ],
    ids=lambda arrays: "-".join(f"{name}:{np.shape(values)}" for name, values in arrays.items()),
)
def test_inconsistent_files_are_refused(saved: Path, arrays: dict) -> None:
    with pytest.raises(FileError):
        meshes.load_clusters(changed(saved, **arrays))


def test_pickles_are_refused(saved: Path) -> None:
    with pytest.raises(FileError):
        meshes.load_clusters(changed(saved, positions=np.array([{"a": 1}], dtype=object)))


def test_archives_that_inflate_are_refused(saved: Path) -> None:
    with zipfile.ZipFile(saved, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("positions.npy", bytes(10**7))
    with pytest.raises(FileError, match="unpack"):
        meshes.load_clusters(saved)


def test_suffixes_are_checked(bumpy_clusters: meshes.ClusterMesh, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"\.npz"):
        bumpy_clusters.save(tmp_path / "a.glb")
    (tmp_path / "a.ply").write_bytes(b"ply")
    with pytest.raises(FileError):
        meshes.load_clusters(tmp_path / "a.ply")
