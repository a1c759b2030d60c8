"""Folders of photographs have the size and number that was asked for, and differ."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from hra_lab.bench.scale.photos import CAMERA, SQUARE, write_photos


@pytest.mark.parametrize("size", [SQUARE, CAMERA])
def test_windows_of_a_photograph(tmp_path: Path, size: tuple[int, int]):
    write_photos(tmp_path, 3, size)
    files = sorted(tmp_path.iterdir())
    assert [file.name for file in files] == ["000000.jpg", "000001.jpg", "000002.jpg"]
    assert {Image.open(file).size for file in files} == {size}
    assert len({file.read_bytes() for file in files}) == 3
