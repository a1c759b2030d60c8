"""Meshes in other processes: arrays stay read-only, assets map their file again."""

from __future__ import annotations

import copy
import os
import pickle
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields, is_dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hra import Camera
from hra.domains import meshes
from hra.errors import FileError, MeshError
from tests.helpers.seamed_meshes import globe

CLONES = {"pickle": lambda value: pickle.loads(pickle.dumps(value)), "deepcopy": copy.deepcopy}


def arrays_of(value: Any) -> list[np.ndarray]:
    if isinstance(value, np.ndarray):
        return [value]
    if is_dataclass(value):
        return [array for field in fields(value) for array in arrays_of(getattr(value, field.name))]
    return []


@pytest.mark.parametrize("clone", CLONES.values(), ids=CLONES)
def test_loaded_and_built_meshes_stay_read_only(clone, tmp_path: Path) -> None:
    globe().export(tmp_path / "a.glb")
    loaded = meshes.load(tmp_path / "a.glb")
    for mesh in (loaded, meshes.build(loaded)):
        again = clone(mesh)
        found = arrays_of(again)
        assert len(found) >= 4 and not any(array.flags.writeable for array in found)
        for ours, theirs in zip(arrays_of(mesh), found, strict=True):
            assert np.array_equal(ours, theirs)
            with pytest.raises(ValueError, match="read-only"):
                theirs[:1] = 0
        assert again.attributes is not None and mesh.attributes is not None
        assert again.attributes.materials == mesh.attributes.materials


@pytest.fixture
def asset(tmp_path: Path, skull_clusters: meshes.ClusterMesh) -> meshes.MeshAsset:
    skull_clusters.save(tmp_path / "skull.hra")
    return meshes.open_asset(tmp_path / "skull.hra")


@pytest.mark.parametrize("clone", CLONES.values(), ids=CLONES)
@pytest.mark.parametrize("unit", ["triangles", "bytes"])
def test_an_asset_maps_its_file_again(clone, unit: Any, asset: meshes.MeshAsset) -> None:
    asset = asset.with_cost(unit)
    assert len(pickle.dumps(asset)) < 2000
    again = clone(asset)
    assert again.hierarchy.cost_unit == unit
    assert np.array_equal(again.hierarchy.cost, asset.hierarchy.cost)
    assert again.read_page(0).clusters.tolist() == asset.read_page(0).clusters.tolist()


def cut(asset: meshes.MeshAsset) -> int:
    camera = Camera.orbit(asset.bounds, up=(0, 0, 1))
    return len(meshes.MeshAllocator(asset).allocate(camera, 2000).cut)


def test_another_process_opens_it_from_another_folder(asset: meshes.MeshAsset, monkeypatch: pytest.MonkeyPatch) -> None:
    path = asset._file.path
    monkeypatch.chdir(path.parent)
    near = meshes.open_asset(path.name)
    monkeypatch.chdir("/")
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as processes:
        assert processes.submit(cut, near).result() == cut(asset)


def test_another_file_of_the_same_name_is_refused(asset: meshes.MeshAsset) -> None:
    pickled, path = pickle.dumps(asset), asset._file.path
    meshes.build(globe()).save(path)
    with pytest.raises(FileError, match="replaced by another"):
        pickle.loads(pickled)
    os.unlink(path)
    with pytest.raises(FileError, match="the file does not exist"):
        pickle.loads(pickled)


def test_masked_arrays_are_no_mesh() -> None:
    points, corners = np.ma.array(np.eye(3, dtype=np.float32)), np.array([[0, 1, 2]], np.uint32)
    with pytest.raises(MeshError, match="MaskedArray"):
        meshes.TriangleMesh(points, corners)
    assert len(meshes.from_arrays(points, corners).triangles) == 1
