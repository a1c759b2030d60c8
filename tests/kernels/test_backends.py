"""Finding backends: built in, by entry point, broken or missing; and the self-test behind `hra doctor`."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint, EntryPoints
from types import SimpleNamespace

import numpy as np
import pytest

from hra.errors import BackendUnavailable
from hra.kernels import available_backends, backends, build_pyramid
from hra.kernels.pyramids.levels import reference, selftest

IMAGE = np.arange(15, dtype=np.float32).reshape(3, 5, 1)


def wrong(image, layout, reduce):
    return reference.build_pyramid(image, layout, reduce) + 1


CORRECT = SimpleNamespace(build_pyramid=reference.build_pyramid, rect_reduce=reference.rect_reduce)
WRONG = SimpleNamespace(build_pyramid=wrong, rect_reduce=reference.rect_reduce)


@pytest.fixture
def plug_ins(monkeypatch):
    """Third-party backends: one correct, one wrong, one that fails at import."""
    monkeypatch.setitem(sys.modules, "plug_ins", SimpleNamespace(correct=CORRECT, wrong=WRONG))
    values = {"correct": "plug_ins:correct", "wrong": "plug_ins:wrong", "broken": "no_such_module:backend"}
    points = EntryPoints(EntryPoint(name, value, "hra.backends") for name, value in values.items())
    for module in (backends, selftest):
        monkeypatch.setattr(module, "entry_points", lambda **match: points.select(**match))


@pytest.fixture
def without(monkeypatch):
    """A function that makes a built-in backend fail at import."""

    def remove(name: str) -> None:
        monkeypatch.setitem(backends.BUILT_IN, name, f"hra.kernels.no_{name}")

    return remove


def test_all_built_in_backends_pass_their_self_test_on_the_cpu():
    status = {(entry.name, entry.device): entry for entry in available_backends()}
    for name in ("reference", "numba", "warp"):
        assert status[name, "cpu"].available, status[name, "cpu"].reason


@pytest.mark.usefixtures("plug_ins")
def test_entry_points_are_backends():
    found = build_pyramid(IMAGE, backend="correct")
    np.testing.assert_array_equal(found.data, build_pyramid(IMAGE, backend="reference").data)
    with pytest.raises(BackendUnavailable, match="no_such_module"):
        build_pyramid(IMAGE, backend="broken")


@pytest.mark.usefixtures("plug_ins")
def test_the_self_test_finds_wrong_and_broken_backends():
    status = {entry.name: entry for entry in available_backends()}
    assert status["correct"].available and status["correct"].reason == ""
    assert not status["wrong"].available and "wrong result: mean, max, min" in status["wrong"].reason
    assert not status["broken"].available and "no_such_module" in status["broken"].reason


def test_auto_falls_back_but_an_explicit_choice_does_not(without):
    expected = build_pyramid(IMAGE, backend="reference").data
    without("numba")
    np.testing.assert_array_equal(build_pyramid(IMAGE).data, expected)
    with pytest.raises(BackendUnavailable, match="no_numba"):
        build_pyramid(IMAGE, backend="numba")


def test_a_missing_backend_is_reported_with_its_reason(without):
    without("warp")
    status = {entry.name: entry for entry in available_backends()}
    assert not status["warp"].available
    assert "no_warp" in status["warp"].reason
