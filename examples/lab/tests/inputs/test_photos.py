"""Photos of unpacked packages: what is damaged is refused by name, what is missing is told apart."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from hra.errors import ImageError
from hra_lab.inputs.photos import photo


def test_a_photo_of_a_package_is_read(tmp_path: Path) -> None:
    (tmp_path / "birds").mkdir()
    Image.new("RGB", (4, 3), "red").save(tmp_path / "birds" / "a.png")
    assert photo(tmp_path, "birds", "a.png").size == (4, 3)
    with pytest.raises(FileNotFoundError, match=r"b\.png of birds"):
        photo(tmp_path, "birds", "b.png")


@pytest.mark.parametrize("file", ["a.png", "a.rcc#3"])
@pytest.mark.parametrize("cut", [0, 4, 60])
def test_a_damaged_one_is_refused(tmp_path: Path, file: str, cut: int) -> None:
    (tmp_path / "birds").mkdir()
    place = tmp_path / "birds" / file.partition("#")[0]
    Image.effect_noise((32, 32), 90).save(place, "PNG")
    place.write_bytes(place.read_bytes()[:cut])
    with pytest.raises(ImageError, match="of birds cannot be read") as refused:
        photo(tmp_path, "birds", file)
    assert refused.value.where == str(place)
