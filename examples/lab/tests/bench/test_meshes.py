"""The meshes suite at tiny sizes: rows are well formed, and wrong answers end the run. Nothing depends on time."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from hra.domains import meshes
from hra.errors import HraError
from hra.traversals.threshold import Threshold
from hra_lab.bench.meshes import build_row, cut_rows
from hra_lab.bench.meshes.build_row import chain_peers
from hra_lab.bench.meshes.cut_rows import NaiveThreshold, camera_at
from hra_lab.bench.meshes.fresh import fresh_build_bytes
from hra_lab.bench.meshes.inputs import Input, clusters
from hra_lab.bench.meshes.mesh_suite import mesh_suite
from hra_lab.bench.suite import run
from hra_lab.commands.bench import bench
from hra_lab.inputs.mesh_sources import bumpy, with_normals

_NAMES = {
    "build_bumpy_1310k", "build_bumpy_1310k_normals", "build_bumpy_1310k_certified", "build_dragon_871k", "cut_budget",
    "cut_pixels", "cut_pixels_bumpy_1310k", "instances_10000_tenth", "instances_10000_small", "instances_10000_all",
    "load_asset", "growth",
}  # fmt: skip


@pytest.fixture(scope="module")
def rows() -> dict[str, dict]:
    record = run(mesh_suite(), repeat=1, scale="small")
    assert record["skipped"] == []
    return {row["name"]: row for row in record["rows"]}


def test_every_row_is_there_with_the_documented_fields(rows: dict):
    assert rows.keys() == _NAMES
    for row in rows.values():
        assert row["n"] > 0 and row["ours_s"] == row["wall_s"] > 0 and row["cpu_s"] > 0
        quoted = [row[name] is None for name in ("peer", "peer_s", "peer_cpu_s", "ratio", "cpu_ratio")]
        assert all(quoted) or not any(quoted)
    for name in ("build_bumpy_1310k", "build_dragon_871k"):
        row = rows[name]
        assert row["levels"] > 3 and row["clusters"] > row["groups"] > 0 and 0 < row["root_triangles"] <= 128
        assert row["peers"]["meshoptimizer"]["levels"] > 3
        assert len(row["peers"]) + len(row["absent"]) == 4
    assert rows["cut_budget"]["gap"] <= rows["cut_budget"]["peer_residual_gap"] + 1
    assert 0 < rows["cut_budget"]["spent"] <= 1
    for name, least in (("instances_10000_tenth", 35), ("instances_10000_small", 35), ("instances_10000_all", 990)):
        row = rows[name]
        assert least <= row["in_view"] <= row["n"] and row["warm_s"] > 0
        assert 0.99 < row["spent"] <= 1 and 0 <= row["residual_gap"] < 0.02
        assert row["residual_of_union"] > 0.95 and row["residual_of_tolerance"] > 1
    assert rows["growth"]["growth"] > 0 and len(rows["growth"]["by_triangles"]) == 2


def test_the_sphere_is_the_same_every_time_and_closed():
    first, second = bumpy(3), bumpy(3)
    assert len(first.triangles) == 20 * 4**3
    assert np.array_equal(first.positions, second.positions)
    assert meshes.is_closed(first)
    radius = np.linalg.norm(first.positions, axis=1)
    assert radius.max() / radius.min() > 1.3


def test_normals_point_outwards_on_a_sphere():
    sphere = bumpy(4)
    given = with_normals(sphere)
    assert given.attributes is not None and given.attributes.normals is not None
    np.testing.assert_allclose(np.linalg.norm(given.attributes.normals, axis=1), 1, atol=1e-6)
    assert (np.einsum("vi,vi->v", given.attributes.normals, sphere.positions) > 0).mean() > 0.99


def test_a_dragon_that_was_not_fetched_is_skipped_with_the_reason(tmp_path: Path):
    suite = mesh_suite(tmp_path)
    row = next(row for row in suite if row.name == "build_dragon_871k")
    record = run([row], repeat=1)
    assert record["rows"] == []
    assert "dragon.ply" in record["skipped"][0]["reason"]


def test_an_unsound_build_ends_the_run():
    built = meshes.build(bumpy(3))
    build_row._check({"hra": built, "chain": [1280, 640, 320]}, 1280)
    with pytest.raises(ValueError, match="not sound"):
        build_row._check({"hra": built}, 1281)
    with pytest.raises(ValueError, match="did not halve"):
        build_row._check({"hra": built, "chain": [1280, 1280]}, 1280)


def test_chains_halve_to_the_root():
    contenders, absent = chain_peers()
    names = {contender.name for contender in contenders}
    assert "meshoptimizer" in names and names.isdisjoint(absent)
    for contender in contenders:
        counts = contender.run(contender.prepare(bumpy(4)))
        assert counts[0] == 5120 and all(late < early for early, late in pairwise(counts))


def test_a_cut_that_leaves_something_that_fits_ends_the_run():
    mesh = clusters(Input(4))
    allocator = meshes.MeshAllocator(mesh)
    camera = camera_at(mesh.bounds, 0)
    whole = allocator.allocate(camera, 1000)
    cut_rows._check_spent(whole)
    smaller = allocator.allocate(camera, mesh.root_triangle_count)
    object.__setattr__(smaller.problem, "budget", 1e9)
    with pytest.raises(ValueError, match="fits"):
        cut_rows._check_spent(smaller)


@pytest.mark.parametrize("pixels", [0.5, 2.0, 8.0])
def test_the_naive_traversal_draws_what_the_rule_says(pixels: float):
    mesh = clusters(Input(4))
    hierarchy, camera = mesh.hierarchy, camera_at(mesh.bounds, 40)
    metric = meshes.ScreenError("quadric")
    error = metric.peak(hierarchy, camera)
    drawn = NaiveThreshold.over(mesh, pixels)(camera)
    made_by, member_of = hierarchy.removed_by, hierarchy.added_by
    of_group = np.array([error[made_by == group].max() for group in range(len(hierarchy))])
    fine_enough = np.array([group < 0 or of_group[group] <= pixels for group in made_by])
    coarser_is_not = np.array([group < 0 or of_group[group] > pixels for group in member_of])
    assert np.array_equal(drawn, np.flatnonzero(fine_enough & coarser_is_not))
    own = meshes.MeshAllocator(mesh, metric, Threshold(pixels)).allocate(camera, math.inf)
    assert np.array_equal(drawn, own.cut)


def test_memory_of_a_fresh_build_counts_what_the_hierarchy_takes():
    assert (fresh_build_bytes(with_normals(bumpy(6)), certified=False) or 2**40) > 82_000 * 12


def test_the_command_writes_json_and_refuses_other_devices(tmp_path: Path):
    app = typer.Typer()
    app.command()(bench)
    file = tmp_path / "meshes.json"
    arguments = ["meshes", "--names", "cut_*", "--scale", "small", "--repeat", "1", "--json", str(file)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert "naive Python" in done.output
    names = [row["name"] for row in json.loads(file.read_text())["rows"]]
    assert names == ["cut_budget", "cut_pixels", "cut_pixels_bumpy_1310k"]
    failed = CliRunner().invoke(app, ["meshes", "--device", "cuda:0"])
    assert isinstance(failed.exception, HraError)
