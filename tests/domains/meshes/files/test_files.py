"""Written mesh files: whole or not there at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hra.domains import meshes
from hra.errors import FileError


@pytest.mark.case(86)
def test_a_failed_write_leaves_the_old_file(
    bumpy: meshes.TriangleMesh, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bumpy.export(tmp_path / "a.ply")
    before = (tmp_path / "a.ply").read_bytes()

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match="No space left"):
        bumpy.export(tmp_path / "a.ply")
    assert (tmp_path / "a.ply").read_bytes() == before
    assert os.listdir(tmp_path) == ["a.ply"]


def test_unwritable_targets_are_refused(bumpy: meshes.TriangleMesh, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be written"):
        bumpy.export(tmp_path / "none" / "a.glb")
    with pytest.raises(FileError, match="not written"):
        bumpy.export(tmp_path / "a.blend")
