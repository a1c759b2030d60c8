"""What canvases are made of: garments and letters, none of whose garments and fonts two splits share."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np

from hra.lab.inputs.documents.typeset import font

Split = Literal["train", "validation", "test"]
SPLITS: tuple[Split, ...] = ("train", "validation", "test")

GARMENTS = ("trousers", "pullover", "dress", "bag", "boot")
LETTERS = "ALOTXZ"
_SHEET = ("shirt", "trousers", "pullover", "dress", "coat", "sandal", "blouse", "sneaker", "bag", "boot")
_SIDE = 28
_EACH = 200
_LARGE = 64
# At random, so that no letter is known by its exact pixels: degrees, and how much wider or higher.
_TURN = 8.0
_STRETCH = 0.12
# Of the 200 garments of a class.
_GARMENTS = {"train": (0, 140), "validation": (140, 160), "test": (160, 200)}
_FONTS = {
    "train": (
        "DejaVuSans.ttf", "DejaVuSans-Bold.ttf", "DejaVuSans-Oblique.ttf", "DejaVuSerif-Bold.ttf",
        "DejaVuSerif-Italic.ttf", "STIXGeneral.ttf", "STIXGeneralItalic.ttf", "STIXGeneralBolIta.ttf",
        "DejaVuSansMono-Oblique.ttf", "cmtt10.ttf", "cmb10.ttf", "cmr10.ttf", "cmti10.ttf",
    ),
    "validation": ("DejaVuSansMono.ttf", "STIXGeneralBol.ttf"),
    "test": ("DejaVuSansMono-Bold.ttf", "DejaVuSerif.ttf", "cmss10.ttf"),
}  # fmt: skip


def garment(split: Split, label: int, side: int, random: np.random.Generator) -> np.ndarray:
    """How much of each pixel a garment of the class ``GARMENTS[label]`` covers, float32 [side, side] in 0 .. 1."""
    cover = _garments()[_SHEET.index(GARMENTS[label]), random.integers(*_GARMENTS[split])]
    return _varied(cover[:, :: random.choice((-1, 1))], side, random)


def letter(split: Split, label: int, side: int, random: np.random.Generator) -> np.ndarray:
    """The letter ``LETTERS[label]`` in one of the split's fonts, float32 [side, side] in 0 .. 1.

    Raises
    ------
    MissingExtra : Pillow or Matplotlib is not installed.
    """
    name = str(random.choice(_FONTS[split]))
    return _varied(_written(name, LETTERS[label]), side, random)


def _varied(cover: np.ndarray, side: int, random: np.random.Generator) -> np.ndarray:
    """Turned and stretched a little, and as large as asked for in its longer extent."""
    from PIL import Image

    turned = Image.fromarray(cover).resize((_LARGE, _LARGE), Image.Resampling.BILINEAR)
    turned = turned.rotate(random.uniform(-_TURN, _TURN), Image.Resampling.BILINEAR)
    extents = np.array(cover.shape[::-1]) * random.uniform(1 - _STRETCH, 1 + _STRETCH, 2)
    width, height = np.maximum(np.round(side * extents / extents.max()), 1).astype(int).tolist()
    placed = np.zeros((side, side), np.float32)
    top, left = (side - height) // 2, (side - width) // 2
    drawn = np.asarray(turned.resize((width, height), Image.Resampling.BILINEAR), np.float32)
    placed[top : top + height, left : left + width] = drawn
    return placed.clip(0, 1)


@cache
def _written(name: str, text: str) -> np.ndarray:
    """Drawn large, with a little room to be turned in."""
    from PIL import Image, ImageDraw

    large = font(name, 96)
    left, top, right, bottom = large.getbbox(text)
    room = 4
    picture = Image.new("L", (int(right - left) + 2 * room, int(bottom - top) + 2 * room))
    ImageDraw.Draw(picture).text((room - left, room - top), text, fill=255, font=large)
    return np.asarray(picture, np.float32) / 255


@cache
def _garments() -> np.ndarray:
    from hra.images import load_image

    sheet = load_image(Path(__file__).parent / "garments.png")[..., 0]
    rows, columns = sheet.shape[0] // _SIDE, sheet.shape[1] // _SIDE
    tiles = sheet.reshape(rows, _SIDE, columns, _SIDE).swapaxes(1, 2)
    return tiles.reshape(len(_SHEET), _EACH, _SIDE, _SIDE)
