"""The discrete chain: sizes, monotone errors, and which level is drawn."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import hra
from hra.domains import meshes
from hra.domains.meshes.files.gltf_files import split_glb
from hra.errors import BudgetTooSmall, HraError, InvalidBudget


@pytest.fixture(scope="module")
def chain(bumpy: meshes.TriangleMesh) -> meshes.DiscreteLOD:
    return meshes.build_discrete(bumpy)


def test_levels_halve_and_stay_closed(chain: meshes.DiscreteLOD) -> None:
    assert [len(mesh.triangles) for mesh in chain.levels] == [5120, 2560, 1280, 640, 320, 160, 80, 40]
    assert all(meshes.is_closed(mesh) for mesh in chain.levels)
    assert chain.errors[0] == 0
    assert (np.diff(chain.errors) > 0).all()


@pytest.mark.parametrize(("budget", "level"), [(1e9, 0), (5120, 0), (5119, 1), (40, 7)])
def test_a_budget_takes_the_finest_level_that_fits(chain: meshes.DiscreteLOD, budget: float, level: int) -> None:
    assert chain.by_budget(budget) == level


def test_rounded_files_say_their_origin_exactly(chain: meshes.DiscreteLOD, tmp_path: Path) -> None:
    origin = (-2694045.0, 123456792.0, 3857878.25)
    levels = tuple(replace(mesh, origin=origin) for mesh in chain.levels[-2:])
    far = replace(chain, levels=levels, errors=chain.errors[-2:], compression="rounded")
    far.export(tmp_path)
    far.export_one(tmp_path / "all.glb")
    for path in tmp_path.iterdir():
        header = json.loads(split_glb(path.read_bytes(), "")[0])
        assert {tuple(node["translation"]) for node in header["nodes"] if "mesh" in node} == {origin}


def test_a_budget_below_the_coarsest_level_is_refused(chain: meshes.DiscreteLOD) -> None:
    with pytest.raises(BudgetTooSmall, match="40 triangles"):
        chain.by_budget(39)
    for wrong in (float("nan"), "a", None):
        with pytest.raises(InvalidBudget):
            chain.by_budget(wrong)  # type: ignore[arg-type]
    with pytest.raises(HraError, match="camera must be a Camera"):
        chain.by_pixels(3, 1.0)  # type: ignore[arg-type]


def test_pixels_take_the_coarsest_level_that_is_good_enough(
    chain: meshes.DiscreteLOD, bumpy: meshes.TriangleMesh
) -> None:
    for distance in (2, 10, 100, 1e4):
        camera = hra.Camera.orbit(bumpy.bounds, distance=distance)
        level = chain.by_pixels(camera, 1.0)
        scale = camera.pixels_per_unit(chain.center[None], np.array([chain.radius]))[0]
        assert chain.errors[level] * scale <= 1
        assert level == 7 or chain.errors[level + 1] * scale > 1


def test_the_sphere_holds_the_source(chain: meshes.DiscreteLOD, bumpy: meshes.TriangleMesh) -> None:
    points = bumpy.positions.astype(np.float64)
    assert np.linalg.norm(points - chain.center, axis=1).max() <= chain.radius


@pytest.mark.parametrize("shares", [(), (0.5,), (1, 1), (1, 0.2, 0.5), (1, 0)])
def test_shares_must_fall_from_one(bumpy: meshes.TriangleMesh, shares: tuple) -> None:
    with pytest.raises(HraError, match="fall from 1"):
        meshes.build_discrete(bumpy, shares)


def test_a_mesh_that_cannot_shrink_has_one_level() -> None:
    one = meshes.build_discrete(meshes.from_arrays(np.eye(3), [[0, 1, 2]]))
    assert len(one.levels) == 1
