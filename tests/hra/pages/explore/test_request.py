"""What a page is to show: an uploaded image stands in place of the first image, whatever it is shown as."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hra.errors import HraError
from hra.pages.explore.request import PageRequest, views_of

Image = pytest.importorskip("PIL.Image")


def picture(seed: int, side: int = 160) -> Any:
    """Noise that differs with ``seed``."""
    return Image.fromarray(np.random.default_rng(seed).integers(0, 256, (side, side, 3), dtype=np.uint8))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "own.png"
    picture(0).save(path)
    return path


@pytest.fixture
def other() -> bytes:
    picture(1).save(stream := io.BytesIO(), "PNG")
    return stream.getvalue()


def views(path: Path, kind: str, image: bytes | None, pool: bool = False) -> list[dict[str, Any]]:
    return views_of(PageRequest(((path, kind),), "", None, pool, image=image), lambda text: None)


@pytest.mark.parametrize(("kind", "pool"), [("tokens", False), ("texture", False), ("texture", True)])
def test_an_uploaded_image_is_what_the_page_shows(file: Path, other: bytes, kind: str, pool: bool) -> None:
    own = views(file, kind, None, pool)
    assert own == views(file, kind, file.read_bytes(), pool) != views(file, kind, other, pool)


@pytest.mark.parametrize("pool", [False, True])
def test_several_views_are_named_by_their_files(file: Path, other: bytes, pool: bool) -> None:
    (second := file.with_name("other.png")).write_bytes(other)
    for image, first in ((None, "own.png"), (other, "the uploaded image")):
        request = PageRequest(((file, "tokens"), (second, "tokens")), "what?", None, pool, image=image)
        made = views_of(request, lambda text: None)
        views = made[0]["members"] if pool else made
        assert [view["name"] for view in views] == [f"{first}, tokens", "other.png, tokens"]
    assert views_of(PageRequest(((file, "tokens"),), "", None, False), lambda text: None)[0]["name"] == "tokens"


def test_an_image_has_no_place_where_none_is_shown(other: bytes) -> None:
    with pytest.raises(HraError, match="no input is an image"):
        PageRequest(((Path("scan.ply"), "mesh"),), "", None, False, image=other)


def test_an_image_beyond_the_limit_is_to_be_scaled_down(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    with pytest.raises(HraError, match="scale the image down") as caught:
        views(file, "tokens", None)
    assert str(file) in caught.value.where


def test_an_image_that_changes_on_disk_is_read_again(file: Path) -> None:
    before = views(file, "tokens", None)
    picture(2).save(file)
    os.utime(file, ns=(0, 0))
    assert before != views(file, "tokens", None)
