"""Every event of a session, and its frames against a renderer that is told the same cut and camera."""

from __future__ import annotations

import math
from typing import get_args

import numpy as np
import pytest

import hra
from hra.domains import meshes
from hra.domains.meshes.viewer.frame_colors import FrameColoring
from hra.domains.meshes.viewer.session import ViewSession
from hra.domains.meshes.viewer.window import KEYS
from hra.errors import BudgetTooSmall, CameraError, HraError, InvalidBudget
from hra.kernels import raster
from tests.domains.meshes.viewer.conftest import SIZE

UP = (0, 0, 1)


def settle(session: ViewSession) -> meshes.ViewFrame:
    frame = session.frame()
    while not session.settled:
        frame = session.frame()
    return frame


def press(session: ViewSession, key: str) -> bool:
    KEYS[key][1](session)
    return True


@pytest.fixture
def session(asset: meshes.MeshAsset, eye: hra.Camera, context: raster.Context):
    with ViewSession(asset, eye, up=UP, triangles=4_000, context=context) as made:
        yield made


@pytest.mark.parametrize("coloring", get_args(FrameColoring))
def test_a_frame_is_what_the_renderer_draws(
    session: ViewSession, asset: meshes.MeshAsset, context: raster.Context, coloring: FrameColoring
) -> None:
    session.color_by(coloring)
    session.drag(17, -5)
    frame, camera = session.frame(), session.orbit.camera(SIZE)
    allocation = meshes.MeshAllocator(asset).allocate(camera, budget=4_000)
    with meshes.Renderer(asset, SIZE, reversed_depth=True, context=context) as renderer:
        assert renderer.draw(camera, allocation.cut) == frame.facts
        np.testing.assert_array_equal(session.picture(), renderer.picture(coloring))
        assert frame.resident_bytes == frame.pool_bytes == renderer.pool_bytes
        # All pages went up before the first frame.
        assert frame.uploaded_bytes < renderer.uploaded_bytes
    assert frame.facts.triangles == allocation.cost <= 4_000
    assert frame.error == allocation.max_error and frame.gap == pytest.approx(allocation.gap, abs=1e-12)
    assert frame.unit == "px" and frame.queued == 0 and session.settled and frame.seconds > 0


def test_errors_that_do_not_add_up_claim_no_gap(session: ViewSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meshes.ScreenError, "additive", False)
    frame = session.frame()
    assert frame.gap is None and not any("gap" in line for line in frame.lines())


def test_pixels_limit_the_error_instead(session: ViewSession, asset: meshes.MeshAsset) -> None:
    session.set_budget("pixels", 2.0)
    frame = session.frame()
    expected = meshes.MeshAllocator(asset, traversal=hra.Threshold(2.0)).allocate(session.orbit.camera(SIZE), math.inf)
    assert frame.facts.triangles == expected.cost and frame.error == expected.max_error <= 2
    assert frame.gap is None and not any("gap" in line for line in frame.lines())
    assert press(session, "m") and session.budget.kind == "triangles" and session.budget.value == 4_000
    assert press(session, "m") and session.budget.value == 2.0


def test_keys_do_what_they_are_for(session: ViewSession) -> None:
    settle(session)
    for number, coloring in enumerate(get_args(FrameColoring), 1):
        assert press(session, str(number)) and session.coloring == coloring
    assert press(session, "up") and session.budget.value == 5_000
    assert press(session, "down") and session.budget.value == 4_000
    for _ in range(40):
        press(session, "up")
    assert session.budget.value == session.budget.ranges["triangles"][1]
    assert settle(session).gap == pytest.approx(0, abs=1e-12)
    for _ in range(60):
        press(session, "down")
    assert session.budget.value == session.budget.ranges["triangles"][0] == settle(session).facts.triangles
    least, largest = session.pool_range
    assert session.pool_bytes is None
    assert press(session, "left") and session.pool_bytes == pytest.approx(largest / 1.25)
    assert press(session, "right") and session.pool_bytes == pytest.approx(largest)
    for _ in range(30):
        press(session, "left")
    assert session.pool_bytes == least
    home = session.orbit
    session.drag(10, 10)
    assert session.orbit is not home and press(session, "h") and session.orbit is home
    assert press(session, "f") and session.frozen and press(session, "f") and not session.frozen
    assert len(KEYS) == 12


def test_the_mouse_turns_moves_and_zooms(session: ViewSession) -> None:
    before = session.orbit
    for event, expected in (
        (lambda: session.drag(30, 12), before.turned(30 / 83, 12 / 83)),
        (lambda: session.pan(30, 12), before.moved(30 / 83, 12 / 83)),
        (lambda: session.scroll(2), before.zoomed(1.1**2)),
    ):
        settle(session)
        event()
        assert not session.settled
        np.testing.assert_allclose(session.orbit.camera(SIZE).view, expected.camera(SIZE).view)
        session.go_home()


def test_frozen_culling_leaves_the_cut_as_it_was(
    session: ViewSession, asset: meshes.MeshAsset, context: raster.Context
) -> None:
    session.freeze(True)
    assert not session.frozen  # there is no frame yet
    first = session.orbit.camera(SIZE)
    _, _, seen = (session.frame() for _ in range(3))  # in the first frames more is drawn than seen
    session.freeze(True)
    session.drag(83, 0)
    session.set_budget("triangles", 12_000)
    frame, camera = session.frame(), session.orbit.camera(SIZE)
    assert frame.frozen and frame.facts == seen.facts and frame.uploaded_bytes == 0 and session.settled
    cut = meshes.MeshAllocator(asset).allocate(first, budget=4_000).cut
    with meshes.Renderer(asset, SIZE, reversed_depth=True, context=context) as renderer:
        for _ in range(3):
            renderer.draw(first, cut)
        renderer.draw_again(camera)
        np.testing.assert_array_equal(session.picture(), renderer.picture())
        renderer.draw(camera, cut)
        # From behind a hole is seen where clusters were hidden.
        assert (session.picture() != renderer.picture()).any()
    session.freeze(False)
    frame = session.frame()
    assert not frame.frozen and frame.facts.triangles > seen.facts.triangles


def test_a_pool_is_never_exceeded_and_fills_frame_by_frame(
    asset: meshes.MeshAsset, eye: hra.Camera, context: raster.Context
) -> None:
    pool, upload = 6.5 * asset.slot_bytes, 2 * asset.slot_bytes
    with ViewSession(asset, eye, up=UP, pool_bytes=pool, upload_bytes=upload, context=context) as session:
        triangles = []
        for step in range(24):
            frame = session.frame()
            triangles.append(frame.facts.triangles)
            assert frame.resident_bytes <= frame.pool_bytes <= pool and frame.pool_bytes == 6 * asset.slot_bytes
            # Two pages, and a bit for each cluster; the first frame has the coarsest level besides.
            assert step == 0 or frame.uploaded_bytes <= upload + len(asset.hierarchy.node_cost) // 4
            assert 0 <= (frame.gap or 0) <= 1
            if step % 6 == 5:
                assert session.settled
                session.drag(25, 4)
                session.scroll(3)
        assert triangles[0] < triangles[1] < triangles[2]


def test_a_pool_of_all_pages_shows_what_none_shows(
    session: ViewSession, asset: meshes.MeshAsset, eye: hra.Camera, context: raster.Context
) -> None:
    settle(session)
    everything = len(asset.page_bytes) * asset.slot_bytes
    with ViewSession(asset, eye, up=UP, triangles=4_000, pool_bytes=2 * everything, context=context) as pooled:
        assert pooled.pool_bytes == everything
        first, last = pooled.frame(), settle(pooled)
        assert first.queued and first.facts.triangles <= last.facts.triangles <= 4_000 and first.error >= last.error
        np.testing.assert_array_equal(pooled.picture(), session.picture())


def test_a_pool_changes_its_size(session: ViewSession, asset: meshes.MeshAsset) -> None:
    whole = settle(session)
    session.freeze(True)
    session.set_pool(4 * asset.slot_bytes)
    assert not session.frozen
    few = settle(session)
    assert few.pool_bytes == 4 * asset.slot_bytes and few.facts.triangles < whole.facts.triangles
    assert few.error >= whole.error and (few.gap or 0) > (whole.gap or 0)
    session.set_pool(math.inf)
    assert settle(session).facts.triangles == whole.facts.triangles
    with pytest.raises(InvalidBudget, match="nan"):
        session.set_pool(math.nan)
    for small in (asset.slot_bytes / 2, 0):
        with pytest.raises(BudgetTooSmall, match="coarsest level"):
            session.set_pool(small)
    assert session.frame().facts.triangles == whole.facts.triangles


def test_what_a_driver_cannot_reach_is_streamed(
    asset: meshes.MeshAsset, eye: hra.Camera, context: raster.Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(raster.Context, "limit", lambda *_: 5 * asset.slot_bytes + 7)
    with ViewSession(asset, eye, up=UP, context=context) as session:
        assert session.pool_range[1] == session.pool_bytes == 5 * asset.slot_bytes + 7
        assert settle(session).pool_bytes == 5 * asset.slot_bytes
        assert session.picture().shape == (83, 121, 3)


def test_another_size_is_another_picture(
    session: ViewSession, asset: meshes.MeshAsset, context: raster.Context
) -> None:
    settle(session)
    session.color_by("level")
    session.picture()
    session.freeze(True)
    session.resize((64, 97))
    frame = session.frame()
    assert not frame.frozen and session.picture().shape == (97, 64, 3) and frame.uploaded_bytes < asset.slot_bytes
    camera = session.orbit.camera((64, 97))
    with ViewSession(asset, camera, up=UP, triangles=4_000, coloring="level", context=context) as fresh:
        fresh.frame()
        np.testing.assert_array_equal(session.picture(), fresh.picture())
    with pytest.raises(CameraError):
        session.resize((10**6, 5))
    assert session.viewport == (64, 97) and session.frame().facts.triangles == frame.facts.triangles


def test_wrong_uses_are_refused(asset: meshes.MeshAsset, eye: hra.Camera, context: raster.Context) -> None:
    refused = [
        ({"triangles": 5}, BudgetTooSmall, "coarsest cut"),
        ({"triangles": 0}, InvalidBudget, "0 triangles"),
        ({"triangles": math.nan}, InvalidBudget, "nan"),
        ({"pixels": -1}, InvalidBudget, "-1 pixels"),
        ({"pool_bytes": 10}, BudgetTooSmall, "10"),
        ({"pool_bytes": -1}, InvalidBudget, "-1"),
        ({"pool_bytes": math.nan}, InvalidBudget, "nan"),
        ({"pool_bytes": 2**20, "upload_bytes": 3}, BudgetTooSmall, "a frame may load 3"),
        ({"coloring": "mood"}, HraError, "mood"),
        ({"up": (0, 0, 0)}, CameraError, "up"),
    ]
    for options, kind, said in refused:
        with pytest.raises(kind, match=said):
            ViewSession(asset, eye, context=context, **options)
    with pytest.raises(HraError, match="asset"):
        ViewSession("skull.hra", eye)  # pyright: ignore[reportArgumentType]
    session = ViewSession(asset, eye)
    with pytest.raises(HraError, match="nothing was drawn"):
        session.picture()
    with pytest.raises(HraError, match="kind 'bytes' is unknown"):
        session.set_budget("bytes", 5)  # pyright: ignore[reportArgumentType]
    session.close()
    session.close()
    with pytest.raises(HraError, match="closed"):
        session.frame()
    assert not context.released
