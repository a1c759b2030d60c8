"""The evaluation of cuts by images: views against exact geometry, errors against known answers, the page's claims."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import hra
from hra.domains import meshes
from hra.errors import FileError
from hra.kernels import raster
from hra_lab.commands.evaluate import evaluate
from hra_lab.evaluation.meshes.image_error import image_error
from hra_lab.evaluation.meshes.mesh_quality import findings, render
from hra_lab.evaluation.meshes.methods import EQUAL, OURS, PEERS, VISIBLE, Subject, in_halves, surfaces
from hra_lab.evaluation.meshes.run import SMALL, MeshSizes, run
from hra_lab.evaluation.meshes.views import Rendering, draw
from hra_lab.inputs.mesh_sources import bumpy, fetch


def view_of(depth: list[list[float]], normal=(0.0, 0.0, 1.0)) -> Rendering:
    values = np.array(depth, np.float64)
    covered = values > 0
    normals = np.where(covered[..., None], np.array(normal, np.float32), np.float32(0))
    return Rendering(covered, values, normals, values.astype(np.float32))


def test_equal_views_have_no_error():
    view = view_of([[1, 2], [0, 3]])
    assert image_error(view, view, 10.0) == image_error(view_of([[0.0]]), view_of([[0.0]]), 1.0)


def test_errors_are_means_over_what_either_view_covers():
    source, other = view_of([[1.0, 1.0], [0.0, 1.0]]), view_of([[1.1, 0.0], [0.0, 9.0]], normal=(0, 1, 0))
    error = image_error(other, source, 10.0)
    # Differences of 1 % and (cut off) 5 % of the diagonal; the pixel that only the source covers counts 5 %.
    assert error.depth == pytest.approx((0.01 + 0.05 + 0.05) / 3)
    assert error.normal == pytest.approx(90)
    assert error.outline == pytest.approx(1 / 3)
    assert image_error(source, other, 10.0) == error


@pytest.mark.gl
def test_a_view_of_a_plane_has_its_depth_and_normal():
    square = meshes.from_arrays([[-9, -9, 0], [9, -9, 0], [9, 9, 0], [-9, 9, 0]], [[0, 1, 2], [0, 2, 3]])
    camera = hra.Camera.perspective((1, 2, 4), (1, 2, 0), viewport=(40, 30), near=0.5, reversed_depth=True)
    with raster.Context() as context:
        view = draw(context, square, camera)
    assert view.covered.all()
    np.testing.assert_allclose(view.depth, 4, rtol=1e-6)
    np.testing.assert_allclose(view.normal, np.broadcast_to([0, 0, 1], view.normal.shape), atol=1e-7)


@pytest.mark.gl
@pytest.mark.parametrize("triangles", [300, 900, 2_500])
def test_no_method_draws_more_than_the_budget(triangles: int):
    subject = Subject.of("sphere", bumpy(4))
    camera = hra.Camera.orbit(subject.source.bounds, viewport=(64, 48), reversed_depth=True)
    with raster.Context() as context:
        methods = surfaces(subject, triangles, context, [camera])
        drawn = {name: len(surface(camera).triangles) for name, surface in methods.items()}
    assert len(drawn) == 8 and all(0 < count <= triangles for count in drawn.values()), drawn
    assert all(count <= drawn[OURS] for name, count in drawn.items() if name.endswith(EQUAL))


def test_halving_ends_where_nothing_can_be_simplified():
    cube = meshes.from_arrays(
        [[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)],
        [[0, 1, 3], [0, 3, 2], [4, 7, 5], [4, 6, 7], [0, 5, 1], [0, 4, 5], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4],
         [1, 5, 7], [1, 7, 3]],
    )  # fmt: skip
    assert 0 < len(in_halves(cube, 1).triangles) <= 12


def test_missing_files_name_the_command(tmp_path: Path):
    with pytest.raises(FileError, match="was not fetched"):
        fetch("dragon.ply", tmp_path)


@pytest.fixture(scope="module")
def record() -> dict:
    return run(SMALL, progress=lambda name: None)


@pytest.mark.gl
def test_every_case_has_a_row_of_every_method(record: dict):
    rows = record["rows"]
    assert len(rows) == 2 * 8 * len(SMALL.shares) * len(SMALL.bumpy)
    for row in rows:
        assert 0 < row["triangles"] <= row["budget"]
        assert 0 < row["depth"] < 0.05 and 0 < row["normal"] < 90 and 0 <= row["outline"] < 0.2


@pytest.mark.gl
def test_the_page_quotes_the_numbers_of_the_run(record: dict):
    text = render(record)["mesh-quality.md"].decode()
    for row in record["rows"]:
        assert (
            f"| {row['method']} | {row['triangles']:,.0f} | {1000 * row['depth']:.3g} | {row['normal']:.3g} |" in text
        )
    assert all(line in text for line in findings(record["rows"]))


def test_the_page_counts_losses_as_losses():
    rows = [
        {"mesh": "m", "view": view, "share": 0.1, "budget": 10, "method": method, "depth": error, "normal": error}
        for view, ours in (("near", 2.0), ("far", 0.5))
        for method, error in ((OURS, ours), (VISIBLE, 0.1), *((peer, 1.0) for peer in PEERS))
    ]
    lines = list(findings(rows))
    assert all("1 better, 0 equal, 1 worse, at worst 2.00 times (m, near, 10 triangles)" in line for line in lines[:10])
    assert all("0.10 times" in line and "2 better, 0 equal, 0 worse." in line for line in lines[10:20])
    assert "10% near 2.00, 10% far 0.50" in lines[20]


@pytest.mark.gl
def test_each_group_size_has_a_row(record: dict):
    small, large = record["groups"]
    assert (small["group_size"], large["group_size"]) == (4, 12)
    # So small a mesh has no groups.
    assert small["step"] == large["step"] and small["groups"] == large["groups"]
    for row in (small, large):
        assert row["root_triangles"] <= 128 and row["cpu_s"] > 0
        (cut,) = row["cuts"]
        assert 0 < cut["triangles"] <= 0.3 * 5120 and 0 < cut["depth"] < 0.05 and cut["residual_gap"] >= 0
    assert f"| {small['mesh']} | 4 | {small['groups']:,} |" in render(record)["mesh-quality.md"].decode()


@pytest.mark.gl
def test_missing_scans_are_named(tmp_path: Path):
    record = run(MeshSizes((), ("dragon.ply",), (), 0, (8, 8)), lambda name: None, tmp_path)
    assert [entry["mesh"] for entry in record["skipped"]] == ["dragon"]


@pytest.mark.gl
def test_the_command_writes_the_page(tmp_path: Path):
    done = CliRunner().invoke(evaluate, ["meshes", "--scale", "small", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "times that of `threshold cut`" in done.output
    assert (tmp_path / "mesh-quality.md").read_text().startswith("# What cuts of a mesh look like")
