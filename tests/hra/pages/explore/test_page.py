"""Pages to move a budget on: what they hold is what Python allocates, and what the browser shows is what they hold."""

from __future__ import annotations

import base64
import io
import json
import re

import numpy as np
import pytest
from PIL import Image

import hra
from hra.camera import Camera
from hra.camera.framing import fit_camera
from hra.domains import meshes, textures, tokens
from hra.pages.explore.meshes import mesh_view
from hra.pages.explore.page import render
from hra.pages.explore.textures import texture_view
from hra.pages.explore.tokens import token_view
from tests.helpers.explorers import cuts, unpacked


@pytest.fixture(scope="module")
def image() -> np.ndarray:
    rng = np.random.default_rng(0)
    blocks = rng.random((16, 24, 3)).repeat(6, 0).repeat(6, 1)
    return (blocks * np.linspace(0, 1, 144)[None, :, None]).astype(np.float32)


@pytest.fixture(scope="module")
def of_tokens(image) -> dict:
    return token_view(image, "what is on the right?", 20, tokens.CueRelevance())


@pytest.fixture(scope="module")
def ball() -> meshes.ClusterMesh:
    import trimesh

    made = trimesh.creation.icosphere(subdivisions=4)
    return meshes.build(meshes.from_arrays(made.vertices, made.faces))


@pytest.fixture(scope="module")
def camera(ball) -> Camera:
    return fit_camera(ball.positions, 30.0, 10.0, viewport=(640, 360))


@pytest.fixture(scope="module")
def of_mesh(ball, camera) -> dict:
    return mesh_view(ball, camera, 1000)


@pytest.fixture(scope="module")
def of_texture() -> dict:
    pixels = np.random.default_rng(1).integers(0, 255, (512, 512, 3), np.uint8)
    return texture_view(pixels, None, 300_000)


def test_every_step_is_what_python_allocates_for_the_image(image, of_tokens):
    allocator = tokens.PyramidSampling(tokens.CueRelevance())
    context = allocator.context(image, "what is on the right?")
    track = of_tokens["tracks"][0]
    places = unpacked(of_tokens["places"]).reshape(-1, 3)
    for budget, cost, nodes in zip(unpacked(track["budgets"]), unpacked(track["cost"]), cuts(track), strict=True):
        allocation = allocator.allocate(context, int(budget))
        made = np.stack([allocation.hierarchy.attribute(name)[allocation.cut] for name in ("level", "x", "y")], axis=1)
        assert {tuple(places[node]) for node in nodes} == {tuple(place) for place in made.tolist()}
        assert cost == allocation.cost <= budget


@pytest.mark.parametrize("view", ["of_tokens", "of_mesh", "of_texture"])
def test_no_method_spends_more_than_its_budget_or_is_better_than_what_is_proven(view, request):
    tracks = request.getfixturevalue(view)["tracks"]
    least = unpacked(tracks[0]["least"])
    for track in tracks:
        assert (unpacked(track["cost"]) <= unpacked(track["budgets"])).all(), track["name"]
        if "canvas" not in track and "grids" not in track:  # of the same hierarchy
            assert (unpacked(track["residual"]) >= least * (1 - 1e-9) - 1e-9).all(), track["name"]


def test_every_step_is_what_python_allocates_for_the_mesh(ball, camera, of_mesh):
    track, offsets = of_mesh["tracks"][0], unpacked(of_mesh["offsets"]).astype(int)
    sizes = np.diff(offsets) // 3
    for budget, cost, nodes in zip(unpacked(track["budgets"]), unpacked(track["cost"]), cuts(track), strict=True):
        allocation = meshes.MeshAllocator(ball).allocate(camera, budget)
        assert sum(sizes[node] for node in nodes) == cost == allocation.cost
        assert len(nodes) == allocation.cut.size


def test_the_page_s_triangles_are_those_of_the_cut_on_a_fine_grid(ball, camera, of_mesh):
    positions, corners = unpacked(of_mesh["positions"]).reshape(-1, 3), unpacked(of_mesh["corners"])
    low, high = ball.bounds
    drawn = low + (high - low) * positions / 65535.0
    offsets, nodes = unpacked(of_mesh["offsets"]), cuts(of_mesh["tracks"][0])[-1]
    used = np.concatenate([corners[offsets[node] : offsets[node + 1]] for node in sorted(nodes)])
    whole = ball.mesh(meshes.MeshAllocator(ball).allocate(camera, np.inf).cut)
    area = np.linalg.norm(np.cross(*(drawn[used[i::3]] - drawn[used[2::3]] for i in (0, 1))), axis=1).sum() / 2
    corner = whole.positions[whole.triangles]
    expected = np.linalg.norm(np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]), axis=1).sum() / 2
    assert area == pytest.approx(expected, rel=1e-3)


def test_a_page_holds_everything_and_asks_no_host(of_tokens, of_mesh, of_texture):
    page = render("<b>name</b> & more", [of_tokens, of_mesh, of_texture])
    assert "<title>&lt;b&gt;name&lt;/b&gt; &amp; more</title>" in page
    assert not re.search(r"""\s(src|href)=["']|https?://(?!www\.w3\.org/2000/svg)|fetch\(|XMLHttpRequest""", page)
    found = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    data = json.loads(found[1])
    assert [view["kind"] for view in data["views"]] == ["tokens", "mesh", "texture"]


def test_text_of_a_question_cannot_leave_its_place(image):
    view = token_view(image, "</script><script>alert(1)</script>", 20, tokens.UniformRelevance())
    assert render("page", [view]).count("</script>") == 2


def test_a_mesh_whose_root_no_page_holds_is_refused(ball, camera, monkeypatch):
    monkeypatch.setattr("hra.pages.explore.meshes.MOST_TRIANGLES", 3)
    with pytest.raises(hra.errors.BudgetTooSmall, match="a page holds 3"):
        mesh_view(ball, camera, 10)


@pytest.fixture(scope="module")
def shown(browser, of_tokens, of_mesh, of_texture, tmp_path_factory):
    """The page with all three views, open in a browser that may not ask for anything else."""
    file = tmp_path_factory.mktemp("page") / "page.html"
    file.write_text(render("three", [of_tokens, of_mesh, of_texture]), "utf-8")
    page = browser.new_page(viewport={"width": 1100, "height": 800})
    asked, failed = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: failed.append(str(error)))
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-ready=yes]", timeout=60_000)
    yield page
    assert failed == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


@pytest.mark.browser
@pytest.mark.parametrize("view", range(3))
def test_the_browser_shows_every_step_of_every_method_as_it_was_allocated(shown, of_tokens, of_mesh, of_texture, view):
    record = (of_tokens, of_mesh, of_texture)[view]
    for number, track in enumerate(record["tracks"]):
        nodes = cuts(track)
        # There and back, in an order in which no step follows its neighbour.
        steps = np.random.default_rng(number).permutation(len(unpacked(track["budgets"]))).tolist()[:50]
        for step in steps:
            made = shown.evaluate(
                "([view, method, step]) => { const e = explorers[view]; e.choose(method); e.slider.value = step;"
                " e.show(); return [[...e.track.at(step)], e.numbers.innerText]; }",
                [view, number, step],
            )
            if nodes:
                assert set(made[0]) == nodes[step]
            assert f"{unpacked(track['cost'])[step]:,.0f} " in made[1]


@pytest.mark.browser
def test_the_browser_s_picture_is_the_one_that_the_tokens_give_back(shown, image, of_tokens):
    allocator = tokens.PyramidSampling(tokens.CueRelevance())
    context = allocator.context(image, "what is on the right?")
    step = of_tokens["start"]
    uri = shown.evaluate(
        "(step) => { const e = explorers[0]; e.choose(0); e.slider.value = step; e.show();"
        " return e.view.canvas.toDataURL('image/png'); }",
        step,
    )
    drawn = np.asarray(Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2]))).convert("RGB")) / np.float32(255)
    budget = int(unpacked(of_tokens["tracks"][0]["budgets"])[step])
    expected = allocator.realize(allocator.allocate(context, budget)).reconstruct()
    # JPEG with half the colours, and another interpolation at the edges of blocks; a wrong patch is off by 0.2.
    assert np.abs(drawn - expected).mean() < 0.05


@pytest.mark.browser
def test_arrow_keys_move_the_budget_and_say_so(shown):
    slider = shown.locator("input[type=range]").first
    before = slider.get_attribute("aria-valuetext")
    slider.focus()
    shown.keyboard.press("ArrowRight")
    # Said with the next frame.
    shown.wait_for_function(
        "(before) => document.querySelector('input[type=range]').getAttribute('aria-valuetext') !== before", arg=before
    )
    assert shown.locator("canvas[role=img][aria-label]").count() == 3


@pytest.mark.browser
def test_nothing_is_wider_than_a_phone(shown):
    shown.set_viewport_size({"width": 390, "height": 800})
    assert shown.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_ground_s_places_are_its_pages(of_texture):
    places = unpacked(of_texture["places"]).reshape(-1, 3)
    scene = textures.PlaneScene.ground(np.zeros((512, 512, 3), np.uint8))
    assert len(places) == len(scene.textures.hierarchy.node_cost)
    assert len(of_texture["levels"]) == places[:, 0].max() + 1
