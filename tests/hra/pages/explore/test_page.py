"""Pages to move a budget on: what they hold is what Python allocates, and what the browser shows is what they hold."""

from __future__ import annotations

import base64
import io
import json
import re
import shutil
import subprocess

import numpy as np
import pytest
from PIL import Image

from hra.domains import tokens
from hra.pages.explore.page import render
from tests.helpers.explorers import cuts, opened, unpacked


@pytest.mark.parametrize("view", ["of_tokens", "of_mesh", "of_texture"])
def test_no_method_spends_more_than_its_budget_or_is_better_than_what_is_proven(view, request):
    tracks = request.getfixturevalue(view)["tracks"]
    least = unpacked(tracks[0]["least"])
    for track in tracks:
        assert (unpacked(track["cost"]) <= unpacked(track["budgets"])).all(), track["name"]
        if "canvas" not in track and "grids" not in track:  # of the same hierarchy
            assert (unpacked(track["residual"]) >= least * (1 - 1e-9) - 1e-9).all(), track["name"]


def test_a_page_holds_everything_and_asks_no_host(of_tokens, of_mesh, of_texture):
    page = render("<b>name</b> & more", [of_tokens, of_mesh, of_texture])
    assert "<title>&lt;b&gt;name&lt;/b&gt; &amp; more</title>" in page
    assert not re.search(r"""\s(src|href)=["']|https?://(?!www\.w3\.org/2000/svg)|fetch\(|XMLHttpRequest""", page)
    found = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    data = json.loads(found[1])
    assert [view["kind"] for view in data["views"]] == ["tokens", "mesh", "texture"]


def test_every_method_has_a_colour_of_its_own(of_tokens, of_mesh, of_texture):
    found = re.search(r"const COLOURS = (\[.*?\])", render("colours", [of_tokens]))
    assert found is not None
    assert len(set(json.loads(found[1]))) >= max(len(view["tracks"]) for view in (of_tokens, of_mesh, of_texture))


@pytest.fixture(scope="module")
def shown(browser, of_tokens, of_mesh, of_texture, tmp_path_factory):
    """The page with all three views, open in a browser that may not ask for anything else."""
    file = tmp_path_factory.mktemp("page") / "page.html"
    with opened(browser, file, render("three", [of_tokens, of_mesh, of_texture])) as page:
        yield page


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


def test_every_slider_of_two_views_of_a_kind_has_a_label_of_its_own(of_tokens, tmp_path):
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-headless-shell", "google-chrome"))), None)
    if browser is None:
        pytest.skip("no browser")
    page = tmp_path / "page.html"
    page.write_text(render("two", [of_tokens, of_tokens]), "utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    shown = subprocess.run(
        [browser, *flags, "--virtual-time-budget=5000", "--dump-dom", page.as_uri()],
        capture_output=True,
        timeout=120,
        check=True,
    ).stdout.decode("utf-8")
    sections = re.sub(r"<script.*?</script>", "", shown, flags=re.DOTALL)
    assert len(re.findall(r'<input type="range"', sections)) == 2
    assert len(re.findall(r'<label[^>]*>budget in tokens<input type="range"', sections)) == 2
    ids = re.findall(r' id="([^"]*)"', sections)
    assert len(ids) == len(set(ids))
