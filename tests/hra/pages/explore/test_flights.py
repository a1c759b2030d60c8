"""Pages of a path: every frame at every pool is what a streamer or a policy holds, and never more than the pool."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

from hra.cli import app
from hra.domains import textures
from hra.files.images import save_png
from hra.pages.explore.flights import Flight, flight_view, points, trace_view
from hra.pages.explore.page import render
from hra.residency import LRU, Trace, evaluate, save_trace
from tests.helpers.explorers import cuts, opened, unpacked

FRAMES = 5


@pytest.fixture(scope="module")
def image() -> np.ndarray:
    return np.random.default_rng(1).integers(0, 255, (768, 768, 3), np.uint8)


@pytest.fixture(scope="module")
def of_flight(image) -> dict:
    return flight_view(image, 600_000, FRAMES)


@pytest.fixture(scope="module")
def trace() -> Trace:
    rng = np.random.default_rng(2)
    wanted = [np.sort(rng.choice(np.arange(f // 2, f // 2 + 20), 8, replace=False)) for f in range(200)]
    frames = np.cumsum([0, *(one.size for one in wanted)])
    return Trace(frames, np.concatenate(wanted).astype(np.int32), rng.integers(1000, 9000, 120))


@pytest.fixture(scope="module")
def of_trace(trace) -> dict:
    return trace_view(trace, 30_000)


@pytest.mark.parametrize("view", ["of_flight", "of_trace"])
def test_no_method_ever_holds_more_than_the_pool(view, request):
    record = request.getfixturevalue(view)
    assert len(unpacked(record["pools"])) >= 50
    for track in record["tracks"]:
        budgets, held = unpacked(track["budgets"]), unpacked(track["cost"])
        assert budgets.size == len(unpacked(record["pools"])) * record["frames"]
        assert (held <= budgets).all(), track["name"]


def test_every_frame_at_every_pool_is_what_the_streamer_holds(image, of_flight):
    flight, pools = Flight.over(image, FRAMES), unpacked(of_flight["pools"])
    shown, residual = cuts(of_flight["tracks"][0]), unpacked(of_flight["tracks"][0]["residual"])
    for row in range(0, pools.size, 9):
        made = textures.replay(flight.allocator, flight.seen, pools[row])
        steps = slice(row * FRAMES, row * FRAMES + FRAMES)
        assert shown[steps] == [set(pages.tolist()) for pages in made.resident]
        assert residual[steps] == pytest.approx(made.residual, abs=1e-9)


def test_no_policy_leaves_less_than_the_pool_s_bound(of_flight):
    least = unpacked(of_flight["tracks"][0]["least"])
    for track in of_flight["tracks"]:
        assert (unpacked(track["residual"]) >= least * (1 - 1e-9) - 1e-9).all(), track["name"]


def test_a_trace_s_bytes_are_means_of_what_the_judge_counts(trace, of_trace):
    starts, pools = points(len(trace)), unpacked(of_trace["pools"])
    assert starts[0] == 0 and starts.size == of_trace["frames"] <= 120
    result = evaluate(LRU(), trace, int(pools[20]))
    steps = slice(20 * starts.size, 21 * starts.size)
    track = of_trace["tracks"][1]
    for name, values in (("cost", result.resident_bytes), ("residual", result.missing_bytes)):
        expected = [values[a:b].mean() for a, b in zip(starts, [*starts[1:], len(trace)], strict=True)]
        assert unpacked(track[name])[steps] == pytest.approx(expected)


def test_missing_bytes_are_those_of_demands_that_were_not_there():
    trace = Trace(np.array([0, 2, 4]), np.array([0, 1, 1, 2], np.int32), np.array([5, 7, 11]))
    assert evaluate(LRU(), trace, 100).missing_bytes.tolist() == [12, 11]


def test_the_command_makes_pages_of_paths_and_refuses_them_in_a_pool(tmp_path, trace, image):
    save_trace(tmp_path / "path.npz", trace)
    save_png(tmp_path / "ground.png", image[:300, :300])
    page = tmp_path / "page.html"
    for command in (["path.npz"], ["ground.png", "--view", "flight"]):
        made = ["explore", str(tmp_path / command[0]), *command[1:], "-o", str(page)]
        result = CliRunner().invoke(app, made)
        assert result.exit_code == 0, result.output
        assert '"frames": ' in page.read_text("utf-8")
    refused = CliRunner().invoke(app, ["explore", str(tmp_path / "path.npz"), "--pool"])
    assert "cannot share a pool" in str(refused.exception)


@pytest.mark.browser
def test_the_browser_shows_every_frame_of_every_pool(browser, of_flight, of_trace, tmp_path):
    with opened(browser, tmp_path / "page.html", render("paths", [of_flight, of_trace]), width=390) as page:
        for view, record in enumerate((of_flight, of_trace)):
            count = len(unpacked(record["tracks"][0]["cost"]))
            for method, track in enumerate(record["tracks"]):
                nodes, cost = cuts(track), unpacked(track["cost"])
                for step in np.random.default_rng(method).permutation(count).tolist()[:50]:
                    made = page.evaluate(
                        "([view, method, row, frame]) => { const e = explorers[view]; e.choose(method);"
                        " e.slider.value = row; e.path.value = frame; e.show();"
                        " return [[...e.track.at(row * e.frames + frame)], e.numbers.innerText]; }",
                        [view, method, *divmod(step, record["frames"])],
                    )
                    assert not nodes or set(made[0]) == nodes[step]
                    assert f"{np.floor(cost[step] + 0.5):,.0f} bytes" in made[1]
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
