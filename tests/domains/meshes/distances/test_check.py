"""The check finds nothing on what was built, and something on each kind of damage."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
from typer.testing import CliRunner

from hra.cli import app
from hra.domains import meshes


def with_attribute(clusters: meshes.ClusterMesh, name: str, values: np.ndarray) -> meshes.ClusterMesh:
    node = MappingProxyType({**clusters.hierarchy.node, name: values})
    return replace(clusters, hierarchy=replace(clusters.hierarchy, node=node))


def test_a_built_mesh_is_sound(bumpy_clusters: meshes.ClusterMesh) -> None:
    report = meshes.check(bumpy_clusters, samples=200)
    assert report.sound
    assert report.closed
    assert report.cuts == 200
    assert report.measured_cuts == 20
    assert 0.1 < report.largest_share <= 1


@pytest.mark.case(12)
def test_an_open_mesh_without_bounds_is_sound(make_grid: Callable) -> None:
    built = meshes.build(make_grid(24, height=0.1), cluster_size=32, certified=False)
    report = meshes.check(built, samples=100)
    assert report.sound
    assert not report.closed
    assert report.measured_cuts == 0


@pytest.mark.parametrize(
    ("name", "found"), [("error", "falling_errors"), ("hausdorff", "falling_bounds"), ("radius", "loose_spheres")]
)
def test_values_that_fall_towards_the_root_are_found(bumpy_clusters: meshes.ClusterMesh, name: str, found: str) -> None:
    values = bumpy_clusters.hierarchy.attribute(name).copy()
    values[bumpy_clusters.hierarchy.added_by < 0] *= 0.1
    report = meshes.check(with_attribute(bumpy_clusters, name, values), cuts=1, samples=10)
    assert getattr(report, found) > 0
    assert not report.sound


def test_boxes_that_do_not_nest_are_found(bumpy_clusters: meshes.ClusterMesh) -> None:
    box = bumpy_clusters.hierarchy.attribute("box").copy()
    roots, sources = bumpy_clusters.hierarchy.added_by < 0, bumpy_clusters.hierarchy.removed_by < 0
    for changed in (roots, sources):
        damaged = box.copy()
        damaged[changed, 1, 2] -= np.float32(1e-3)
        report = meshes.check(with_attribute(bumpy_clusters, "box", damaged), cuts=1, samples=10)
        assert report.loose_boxes > 0
        assert not report.sound


def test_bounds_that_do_not_hold_are_found(bumpy_clusters: meshes.ClusterMesh) -> None:
    values = bumpy_clusters.hierarchy.attribute("hausdorff") / 20
    report = meshes.check(with_attribute(bumpy_clusters, "hausdorff", values), cuts=20, samples=1000)
    assert report.exceeded_bounds > 0
    assert report.largest_share > 1
    assert not report.sound


def test_a_cluster_with_a_triangle_too_few_cracks(bumpy_clusters: meshes.ClusterMesh) -> None:
    cluster = np.flatnonzero(bumpy_clusters.hierarchy.attribute("level") == 2)[0]
    indices, place = bumpy_clusters.indices.copy(), bumpy_clusters.offsets[cluster]
    indices[place : place + 3] = indices[place + 3 : place + 6]
    report = meshes.check(replace(bumpy_clusters, indices=indices), samples=10)
    assert 0 < report.cracked_cuts < report.cuts


def test_the_command_reports_and_fails(bumpy_clusters: meshes.ClusterMesh, tmp_path: Path) -> None:
    bumpy_clusters.save(tmp_path / "good.hra")
    values = bumpy_clusters.hierarchy.attribute("hausdorff") / 20
    with_attribute(bumpy_clusters, "hausdorff", values).save(tmp_path / "bad.hra")
    for name, code in (("good", 0), ("bad", 1)):
        arguments = ["mesh", "check", f"{tmp_path / name}.hra", "--cuts", "20", "--json", f"{tmp_path / name}.json"]
        assert CliRunner().invoke(app, arguments).exit_code == code
        assert json.loads((tmp_path / f"{name}.json").read_text())["sound"] is (code == 0)
