from __future__ import annotations

import sys

import numpy as np
import pytest

from hra.errors import MissingExtra
from hra.kernels import available_backends, build_pyramid
from hra.kernels.pyramids.levels import gl_backend

pytestmark = pytest.mark.gl


def test_it_is_listed_and_passes_its_self_test_but_is_never_chosen(monkeypatch):
    status = {entry.name: entry for entry in available_backends()}
    assert status["gl"].available, status["gl"].reason
    monkeypatch.setattr(gl_backend, "build_pyramid", None)
    build_pyramid(np.zeros((2, 2, 1), np.float32))


def test_without_modern_gl_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(gl_backend, "_local", type("Empty", (), {})())
    monkeypatch.setitem(sys.modules, "moderngl", None)
    with pytest.raises(MissingExtra, match=r"hra\[gl\]"):
        build_pyramid(np.zeros((2, 2, 1), np.float32), backend="gl")
    status = {entry.name: entry for entry in available_backends()}
    assert not status["gl"].available and "moderngl" in status["gl"].reason
