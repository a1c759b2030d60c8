"""Selection beside rendering: the same results as one after the other, and fences that report failure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

from hra.errors import BackendUnavailable
from hra.kernels.compaction import threshold_cut
from hra.kernels.raster import DrawList, Fence, VisibilityBuffer, overlap

PARENT = np.r_[-1, np.arange(99) // 2].astype(np.int32)
ERRORS = (1 / (1 + np.arange(100, dtype=np.float32)))[None]


@pytest.mark.parametrize(("count", "backend"), [(0, "reference"), (1, "numba"), (7, "warp")])
def test_the_frames_are_those_of_a_plain_loop(context, count, backend):
    random = np.random.default_rng(0)
    corners = random.uniform(-1, 1, (300, 3))
    ranges = np.stack([np.arange(100), np.arange(1, 101)], 1)
    frames = [np.diag([1 + 0.1 * k, 1, 1, 1]) for k in range(count)]
    order = []

    def select(matrix: np.ndarray) -> np.ndarray:
        order.append("select")
        limit = np.array([0.02 * matrix[0, 0]], np.float32)
        return threshold_cut(PARENT, ERRORS, limit, backend=backend)[0]

    def draw(matrix: np.ndarray, where: np.ndarray) -> None:
        order.append("draw")
        buffer.clear()
        buffer.draw(draws, matrix, where)

    def read(matrix: np.ndarray, where: np.ndarray) -> tuple[np.ndarray, ...]:
        order.append("read")
        return matrix, where, buffer.read().ids

    with (
        DrawList(context, corners, np.arange(300).reshape(-1, 3), ranges=ranges) as draws,
        VisibilityBuffer(context, (40, 30)) as buffer,
    ):
        found = list(overlap(context, frames, select, draw, read))
        assert order == (["select"] + ["draw", "select", "read"] * (count - 1) + ["draw", "read"] if count else [])
        for matrix, result in zip(frames, found, strict=True):
            where = select(matrix)
            draw(matrix, where)
            for part, expected in zip(result, read(matrix, where), strict=True):
                np.testing.assert_array_equal(part, expected)


class Queue:
    """A stream of a device, which notes what it is given."""

    def __init__(self, name: str, log: list[str], device: SimpleNamespace) -> None:
        self.name, self.log, self.device = name, log, device

    def record_event(self) -> str:
        self.log.append(f"mark {self.name}")
        return self.name

    def wait_event(self, event: str) -> None:
        self.log.append(f"{self.name} waits for {event}")


def test_a_stream_of_selections_waits_for_no_drawing_and_the_host_for_no_stream(context, monkeypatch):
    # CUDA is not needed: what each stream is given, in which order, is all that decides about it.
    wp, log, device = pytest.importorskip("warp"), [], SimpleNamespace()
    device.stream, own = Queue("current", log, device), Queue("own", log, device)

    @contextmanager
    def scoped(stream: Queue, sync_enter: bool = True, sync_exit: bool = False) -> Iterator[None]:
        assert not sync_enter and not sync_exit
        device.stream, before = stream, device.stream
        yield
        device.stream = before

    monkeypatch.setattr(wp, "ScopedStream", scoped)
    for name in ("synchronize", "synchronize_device", "synchronize_stream"):
        monkeypatch.setattr(wp, name, None)

    def note(what: str) -> Callable[..., int]:
        return lambda *given: log.append(f"{what} in {device.stream.name}") or 7

    frames = overlap(context, [1, 2], note("select"), note("draw"), note("read"), own)
    assert list(frames) == [7, 7]
    chosen = ["own waits for current", "select in own", "mark own", "current waits for own"]
    nothing = [*chosen[:1], *chosen[2:]]
    shown = ["mark current", "draw in current"]
    assert log == ["mark current", *chosen, *shown, *chosen, "read in current", *shown, *nothing, "read in current"]


def test_a_fence_that_is_not_passed_in_time_is_an_error(context, monkeypatch):
    Fence(context).wait()
    late = Fence(context)
    monkeypatch.setattr(context, "functions", _never_done(context.functions))
    with pytest.raises(BackendUnavailable, match="not done after"):
        late.wait(timeout=0)


def _never_done(functions):
    from dataclasses import replace

    return replace(functions, ClientWaitSync=lambda *arguments: 0x911B)
