"""What canvases are made of: garments, digits and codes, none of which two splits share."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np

from hra.errors import MissingExtra
from hra.lab.inputs.documents.typeset import font

Split = Literal["train", "validation", "test"]
SPLITS: tuple[Split, ...] = ("train", "validation", "test")

GARMENTS = ("shirt", "trousers", "pullover", "dress", "coat", "sandal", "blouse", "sneaker", "bag", "boot")
LETTERS = "ACEFHJKLMNPRTUXY"
_SIDE = 28
_EACH = 200
# Of the 200 garments of a class, and of every hundred digits.
_GARMENTS = {"train": (0, 140), "validation": (140, 160), "test": (160, 200)}
_DIGITS = {"train": (0, 70), "validation": (70, 80), "test": (80, 100)}
_FONTS = {
    "train": ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf", "DejaVuSerif-Bold.ttf", "cmtt10.ttf", "cmb10.ttf"),
    "validation": ("DejaVuSansMono.ttf", "STIXGeneralBol.ttf"),
    "test": ("DejaVuSansMono-Bold.ttf", "DejaVuSerif.ttf", "cmss10.ttf"),
}


def garment(split: Split, label: int, random: np.random.Generator) -> np.ndarray:
    """How much of each pixel a garment of the class ``GARMENTS[label]`` covers, float32 [28, 28] in 0 .. 1."""
    return _garments()[label, random.integers(*_GARMENTS[split])]


def digit(split: Split, label: int, random: np.random.Generator) -> np.ndarray:
    """A handwritten digit, float32 [8, 8] in 0 .. 1.

    Raises
    ------
    MissingExtra : scikit-learn is not installed.
    """
    written = _digits()[label]
    low, high = (end * len(written) // 100 for end in _DIGITS[split])
    return written[random.integers(low, high)]


def code(split: Split, text: str, height: int, random: np.random.Generator) -> np.ndarray:
    """Letters in one of the split's fonts, float32 [height, width] in 0 .. 1, capitals as high as the array.

    Raises
    ------
    MissingExtra : Pillow or Matplotlib is not installed.
    """
    name = str(random.choice(_FONTS[split]))
    return _written(name, text, height)


@cache
def _written(name: str, text: str, height: int) -> np.ndarray:
    from PIL import Image, ImageDraw

    # Drawn larger and averaged, so that each height is as legible as it can be.
    large = font(name, 96)
    left, top, right, bottom = large.getbbox(text)
    picture = Image.new("L", (int(right - left), int(bottom - top)))
    ImageDraw.Draw(picture).text((-left, -top), text, fill=255, font=large)
    width = max(round(picture.width * height / picture.height), 1)
    return np.asarray(picture.resize((width, height), Image.Resampling.BOX), np.float32) / 255


@cache
def _garments() -> np.ndarray:
    from hra.images import load_image

    sheet = load_image(Path(__file__).parent / "garments.png")[..., 0]
    rows, columns = sheet.shape[0] // _SIDE, sheet.shape[1] // _SIDE
    tiles = sheet.reshape(rows, _SIDE, columns, _SIDE).swapaxes(1, 2)
    return tiles.reshape(len(GARMENTS), _EACH, _SIDE, _SIDE)


@cache
def _digits() -> list[np.ndarray]:
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise MissingExtra.of("scikit-learn", "learn") from error
    pixels, label = load_digits(return_X_y=True)
    images = (np.asarray(pixels).reshape(-1, 8, 8) / 16).astype(np.float32)
    return [images[np.asarray(label) == number] for number in range(10)]
