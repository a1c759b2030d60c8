"""The window, on a display that is only memory: what it shows, and what mouse, keys and its size do."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hra
from hra.domains import meshes
from hra.errors import BackendUnavailable

SIZE = (640, 400)


@dataclass
class Shown:
    """A window with a session, and the libraries below it."""

    window: meshes.ViewWindow
    session: meshes.ViewSession
    imgui: Any

    def frames(self, count: int = 3) -> np.ndarray:
        """Some frames; what the last one shows."""
        pictures = []
        for _ in range(count):
            self.window._window.wait(0)
            self.window.draw(self.session)
            pictures.append(self.window.read())
            self.window._window.swap()
        return pictures[-1]

    def press(self, name: str) -> None:
        """A key, down and up again."""
        io = self.imgui.get_io()
        for down in (True, False):
            io.add_key_event(getattr(self.imgui.Key, name), down)
            self.frames(1)

    def drag(self, button: int, right: int, down: int) -> None:
        """From the lower right quarter, where the panel is not."""
        io = self.imgui.get_io()
        for x, y, pressed in ((500, 300, True), (500 + right, 300 + down, True), (500 + right, 300 + down, False)):
            io.add_mouse_pos_event(x, y)
            self.frames(1)
            io.add_mouse_button_event(button, pressed)
            self.frames(1)


@pytest.fixture
def shown(asset: meshes.MeshAsset, display: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shown]:
    imgui = pytest.importorskip("imgui_bundle").imgui
    pytest.importorskip("glfw")
    monkeypatch.setenv("DISPLAY", display)
    camera = hra.Camera.orbit(asset.bounds, azimuth=30, up=(0, 0, 1), viewport=SIZE)
    try:
        window = meshes.ViewWindow(SIZE, "a lump")
    except BackendUnavailable as error:
        pytest.skip(f"no window here: {error.what}")
    options = {"up": (0, 0, 1), "triangles": 4_000, "coloring": "cluster", "context": window.context}
    with window, meshes.ViewSession(asset, camera, **options) as session:
        yield Shown(window, session, imgui)


def test_a_window_shows_the_session_and_passes_on_what_is_done(shown: Shown) -> None:
    picture = shown.frames()
    assert picture.shape == (400, 640, 3)
    expected = shown.session.picture()
    # The panel lies over the upper left corner.
    np.testing.assert_array_equal(picture[260:], expected[260:])
    assert (expected[260:] != expected[-1, -1]).any(axis=2).mean() > 0.03
    assert (picture[:200, :300] != expected[:200, :300]).any(axis=2).mean() > 0.9

    home = shown.session.orbit
    shown.drag(0, 40, 20)
    turned = shown.session.orbit
    assert turned.azimuth == pytest.approx(home.turned(0.1, 0.05).azimuth)
    assert turned.elevation == pytest.approx(home.turned(0.1, 0.05).elevation)
    shown.drag(1, 20, 0)
    np.testing.assert_allclose(shown.session.orbit.target, turned.moved(0.05, 0).target)
    shown.imgui.get_io().add_mouse_wheel_event(0, 2)
    shown.frames()
    assert shown.session.orbit.distance == pytest.approx(home.distance / 1.1**2)
    np.testing.assert_array_equal(shown.frames()[260:], shown.session.picture()[260:])

    shown.press("h")
    assert shown.session.orbit is home
    shown.press("up_arrow")
    assert shown.session.budget.value == 5_000
    shown.press("_5")
    assert shown.session.coloring == "overdraw"
    shown.press("f")
    assert shown.session.frozen

    shown.window._window._glfw.set_window_size(shown.window._window._window, 480, 320)
    picture = shown.frames(20)
    assert shown.session.viewport == (480, 320) and picture.shape == (320, 480, 3)
    np.testing.assert_array_equal(picture[270:], shown.session.picture()[270:])
    shown.press("escape")
    shown.window.show(shown.session)  # returns, because it was asked to close


def test_a_second_window_opens_after_the_first(shown: Shown) -> None:
    """What one leaves behind would be found here."""
    picture = shown.frames()
    np.testing.assert_array_equal(picture[260:], shown.session.picture()[260:])


def test_without_a_driver_there_is_a_typed_error(display: str, tmp_path: Path) -> None:
    pytest.importorskip("glfw")
    code = (
        "from hra.kernels.raster.window import Window\n"
        "from hra.errors import BackendUnavailable\n"
        "try:\n    Window((64, 64), 'none')\n"
        "except BackendUnavailable as error:\n    print(error.what, error.fix)\n"
    )
    # In a process of its own: drivers are looked for once.
    environment = {**os.environ, "DISPLAY": display, "__EGL_VENDOR_LIBRARY_DIRS": str(tmp_path)}
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert result.returncode == 0 and "no window with OpenGL 4.5" in result.stdout, result.stderr
    assert "install a driver" in result.stdout and result.stderr == ""
