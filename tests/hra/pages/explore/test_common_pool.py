"""One budget of bytes for an image, a mesh and a ground: what the page holds is what the core allocates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import hra
from hra.allocating.allocation import Allocation
from hra.camera.framing import fit_camera
from hra.cli import app
from hra.domains import meshes, tokens
from hra.files.images import save_png
from hra.pages.explore import common_pool
from hra.pages.explore.page import render
from tests.helpers.explorers import cuts, opened, unpacked


@pytest.fixture(scope="module")
def members() -> list[common_pool.Member]:
    import trimesh

    made = trimesh.creation.icosphere(subdivisions=3)
    ball = meshes.build(meshes.from_arrays(made.vertices, made.faces))
    rng = np.random.default_rng(0)
    image = rng.random((16, 24, 3)).repeat(6, 0).repeat(6, 1).astype(np.float32)
    return [
        common_pool.of_image(image, "", tokens.UniformRelevance()),
        common_pool.of_mesh(ball, fit_camera(ball.positions, 30.0, 10.0, viewport=(640, 360))),
        common_pool.of_texture(rng.integers(0, 255, (512, 512, 3), np.uint8)),
    ]


@pytest.fixture(scope="module")
def view(members) -> dict:
    return common_pool.pool_view(members, 300_000)


def test_no_method_spends_more_than_the_common_budget(view):
    for track in view["tracks"]:
        cost = unpacked(track["cost"])
        assert (cost <= unpacked(track["budgets"])).all()
        parts = np.sum([unpacked(member["cost"]) for member in track["members"]], axis=0)
        assert parts.tolist() == cost.tolist(), "members spend what the whole does"


def test_no_method_is_better_than_the_bound_and_the_joint_one_reaches_it_nearly(view):
    least = unpacked(view["tracks"][0]["least"])
    for track in view["tracks"]:
        assert (unpacked(track["residual"]) >= least - 1e-9).all()
    joint, _, apart = (unpacked(track["residual"]) for track in view["tracks"])
    assert (joint <= apart + 1e-9).mean() > 0.9
    assert joint[0] == pytest.approx(3) and joint[-1] < 0.5, "three members, each of which begins with all of its error"


def test_the_parts_are_cuts_whose_errors_add_up_to_what_remains(view, members):
    for track in view["tracks"]:
        left = np.zeros(len(unpacked(track["cost"])))
        for member, part in zip(members, track["members"], strict=True):
            for step, budget in enumerate(unpacked(part["cost"])):
                problem = replace(member.problem, budget=budget)
                left[step] += Allocation(problem, hra.Exact().solve(problem), 0.0).least_residual / problem.base_error
        # Nobody leaves less than the best choice for the same parts.
        assert (unpacked(track["residual"]) >= left - 1e-6).all()


def test_every_part_draws_as_many_tokens_as_it_pays_for(view):
    track = view["tracks"][0]["members"][0]
    counts = [len(nodes) for nodes in cuts(track)]
    assert (np.array(counts) * 16 * 16 * 3).tolist() == unpacked(track["cost"]).tolist()


def test_a_mesh_too_large_for_a_page_of_a_pool_is_refused(monkeypatch):
    import trimesh

    monkeypatch.setattr("hra.pages.explore.common_pool.MOST_TRIANGLES", 3)
    made = trimesh.creation.icosphere(subdivisions=1)
    ball = meshes.build(meshes.from_arrays(made.vertices, made.faces))
    with pytest.raises(hra.errors.BudgetTooSmall, match="holds 3"):
        common_pool.of_mesh(ball, fit_camera(ball.positions, 30.0, 10.0, viewport=(640, 360)))


def test_the_command_writes_a_pool_of_what_it_is_given(tmp_path):
    picture, page = tmp_path / "picture.png", tmp_path / "page.html"
    save_png(picture, np.random.default_rng(0).random((96, 96, 3)))
    command = ["explore", str(picture), "--ground", str(picture), "--pool", "-o", str(page)]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    assert '"kind": "pool"' in page.read_text("utf-8")


@pytest.mark.browser
def test_the_browser_shows_every_part_of_every_step(browser, view, tmp_path):
    with opened(browser, tmp_path / "page.html", render("pool", [view])) as page:
        for method, track in enumerate(view["tracks"]):
            nodes = [cuts(member) for member in track["members"]]
            for step in np.random.default_rng(method).permutation(len(unpacked(track["cost"])))[:20].tolist():
                shown, words = page.evaluate(
                    "([method, step]) => { const e = explorers[0]; e.choose(method); e.slider.value = step; e.show();"
                    " return [e.track.parts.map((part) => [...part.at(step)]), e.view.canvas.innerText]; }",
                    [method, step],
                )
                assert [set(part) for part in shown] == [part[step] for part in nodes]
                assert all(f"{unpacked(member['cost'])[step]:,.0f} bytes" in words for member in track["members"])
        page.set_viewport_size({"width": 390, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
