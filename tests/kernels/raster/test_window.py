from __future__ import annotations

import sys

import pytest

from hra.domains import meshes
from hra.errors import BackendUnavailable, MissingExtra
from hra.kernels.raster.window import Window


def test_without_display_or_libraries_there_are_typed_errors(display: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("glfw")
    monkeypatch.delenv("DISPLAY", raising=False)
    with pytest.raises(BackendUnavailable, match="no display") as caught:
        Window((64, 64), "none")
    assert "DISPLAY" in caught.value.where
    monkeypatch.setenv("DISPLAY", display)
    for missing in ("glfw", "imgui_bundle"):
        with monkeypatch.context() as patched:
            patched.setitem(sys.modules, missing, None)
            with pytest.raises(MissingExtra, match="not installed") as without:
                meshes.ViewWindow((64, 64), "none")
            assert "hra[window]" in without.value.fix
