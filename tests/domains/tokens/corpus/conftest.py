"""A folder of small images, one of which is none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, rng = tmp_path_factory.mktemp("pictures"), np.random.default_rng(0)
    (folder / "deep").mkdir()
    for number in range(11):
        pixels = np.full((96, 128, 3), 128, np.uint8)
        rows = 8 * (number + 1)
        pixels[:rows] = rng.integers(0, 256, (rows, 128, 3))
        Image.fromarray(pixels).save(folder / ("deep" if number % 3 else "") / f"{number:02}.png")
    (folder / "05-poison.jpg").write_bytes(b"\xff\xd8\xff\xe0 and nothing else")
    (folder / "notes.txt").write_text("no image")
    return folder
