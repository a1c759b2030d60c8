"""A cloud as somebody turns it: the session without a window, and the window on a display that is only memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import hra
from hra.domains import points
from hra.domains.points.commands import app
from hra.domains.points.viewer.session import KEYS
from hra.errors import BackendUnavailable, HraError
from hra.files.images import load_image
from hra.kernels import raster

pytestmark = pytest.mark.gl
SIZE = (160, 120)


@pytest.fixture(scope="module")
def tree() -> points.CloudTree:
    rng = np.random.default_rng(5)
    places = rng.normal(size=(900, 3))
    places /= np.linalg.norm(places, axis=1, keepdims=True)
    return points.build(points.PointCloud(places, (places + 1) / 2))


@pytest.fixture
def session(tree: points.CloudTree, _session_context: object) -> Iterator[points.CloudSession]:
    camera = hra.Camera.orbit(tree.bounds, azimuth=30, up=(0, 0, 1), viewport=SIZE)
    with raster.Context() as context, points.CloudSession(tree, camera, budget=200, context=context) as made:
        yield made


def test_a_frame_is_the_best_cut_for_its_eye(session: points.CloudSession, tree: points.CloudTree):
    for movement in (lambda: None, lambda: session.drag(40, 10), lambda: session.pan(5, 5), lambda: session.scroll(3)):
        movement()
        assert not session.settled
        frame, camera = session.frame(), session.orbit.camera(SIZE)
        expected = points.PointAllocator(tree).allocate(camera, 200)
        assert session.settled and (frame.nodes, frame.cost, frame.unit) == (len(expected.cut), 200, "points")
        assert frame.gap is not None and frame.gap <= 1e-3 and frame.leaves == 900
        plain = points.render(tree.take(expected.cut), camera)[0]
        assert (np.abs(session.picture() - plain).max(axis=2) > 0.01).mean() < 0.01


def test_errors_that_do_not_add_up_claim_no_gap(tree: points.CloudTree, _session_context: object):
    camera = hra.Camera.orbit(tree.bounds, azimuth=30, up=(0, 0, 1), viewport=SIZE)
    with (
        raster.Context() as context,
        points.CloudSession(tree, camera, budget=200, metric=points.PictureError(), context=context) as session,
    ):
        frame = session.frame()
    assert frame.gap is None and not any("gap" in line for line in frame.lines())


def test_a_frozen_cut_stays_while_the_eye_moves(session: points.CloudSession):
    session.freeze(True)
    assert not session.frozen  # there is no cut yet
    before = session.frame()
    session.freeze(True)
    session.scroll(20)
    frame, picture = session.frame(), session.picture()
    assert frame.frozen and frame.gap is None and frame.nodes == before.nodes
    session.freeze(False)
    assert session.frame().gap is not None
    assert np.abs(session.picture() - picture).mean() > 1e-3  # so near another cut is better


def test_keys_do_what_they_say(session: points.CloudSession):
    for name, budget in (("up", 250), ("down", 200), ("down", 160)):
        KEYS[name][1](session)
        assert session.budget == budget and session.frame().cost <= budget
    for _ in range(40):
        KEYS["up"][1](session)
    assert session.budget == 900 and session.frame().nodes == 900
    home = session.orbit
    session.drag(40, 0)
    KEYS["h"][1](session)
    assert session.orbit is home
    KEYS["f"][1](session)
    assert session.frozen


def test_pictures_take_other_sizes_and_an_end(session: points.CloudSession):
    session.frame()
    session.resize((80, 64))
    session.frame()
    assert session.picture().shape == (64, 80, 3)
    session.close()
    with pytest.raises(HraError, match="closed"):
        session.frame()


def test_budgets_of_bytes(tree: points.CloudTree, _session_context: object):
    camera = hra.Camera.orbit(tree.bounds, viewport=SIZE)
    with points.CloudSession(tree.with_cost("bytes"), camera, budget=1_900) as session:
        frame = session.frame()
        assert frame.cost <= 1_900 and frame.unit == "bytes" and "bytes" in frame.lines()[1]
        assert session.range == (19.0, 900 * 19.0)


def test_the_command_saves_what_a_window_would_show(tree: points.CloudTree, tmp_path: Path, _session_context: object):
    points.save_tree(tmp_path / "ball.hpt", tree)
    out = tmp_path / "ball.png"
    options = ["--points", "100", "--viewport", "160x120", "--screenshot", str(out)]
    done = CliRunner().invoke(app, ["view", str(tmp_path / "ball.hpt"), *options])
    assert done.exit_code == 0 and "100 of 900 points" in done.output, done.output
    picture = load_image(out)
    assert picture.shape == (120, 160, 3) and 0.05 < (picture < 0.99).any(axis=2).mean() < 0.95


def test_a_window_shows_frames_and_passes_on_the_mouse(
    tree: points.CloudTree, display: str, monkeypatch: pytest.MonkeyPatch
):
    imgui = pytest.importorskip("imgui_bundle").imgui
    pytest.importorskip("glfw")
    monkeypatch.setenv("DISPLAY", display)
    camera = hra.Camera.orbit(tree.bounds, azimuth=30, up=(0, 0, 1), viewport=(640, 400))
    try:
        window = points.CloudWindow((640, 400), "a ball")
    except BackendUnavailable as error:
        pytest.skip(f"no window here: {error.what}")
    with window, points.CloudSession(tree, camera, budget=300, context=window.context) as session:

        def frames(count: int) -> np.ndarray:
            pictures = []
            for _ in range(count):
                window._window.wait(0)
                window.draw(session)
                pictures.append(window.read())
                window._window.swap()
            return pictures[-1]

        shown = frames(3)
        expected = session.picture()
        assert np.abs(shown[260:] / 255 - expected[260:]).max() < 0.01  # the panel lies over the upper left corner
        assert (expected[260:] < 0.99).any(axis=2).mean() > 0.03
        home = session.orbit
        for x, y, pressed in ((500, 300, True), (540, 300, True), (540, 300, False)):
            imgui.get_io().add_mouse_pos_event(x, y)
            frames(1)
            imgui.get_io().add_mouse_button_event(0, pressed)
            frames(1)
        assert session.orbit.azimuth == pytest.approx(home.turned(0.1, 0).azimuth)
