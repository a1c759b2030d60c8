"""Text on paper: fonts that Matplotlib carries, and a sheet that says where each text was drawn."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from hra.errors import MissingExtra

FONTS = ("DejaVuSans.ttf", "DejaVuSansMono.ttf", "DejaVuSerif.ttf", "STIXGeneral.ttf", "DejaVuSans-Bold.ttf")
MONOSPACED = "DejaVuSansMono.ttf"


@cache
def font(name: str, size: int) -> Any:
    """A Pillow font of ``size`` pixels per em.

    Raises
    ------
    MissingExtra : Matplotlib or Pillow is not installed.
    """
    try:
        from matplotlib import get_data_path
        from PIL import ImageFont
    except ImportError as error:
        raise MissingExtra.of(error.name or "matplotlib", "demo") from error
    return ImageFont.truetype(str(Path(get_data_path()) / "fonts" / "ttf" / name), size)


class Sheet:
    """A page to draw on.

    Parameters
    ----------
    size : (width, height) in pixels.
    paper : grey value of the paper, 0 to 255.
    """

    def __init__(self, size: tuple[int, int], font_name: str, font_size: int, paper: int = 250) -> None:
        from PIL import Image, ImageDraw

        self.picture = Image.new("RGB", size, (paper,) * 3)
        self.draw = ImageDraw.Draw(self.picture)
        self.font_name, self.font_size = font_name, font_size
        self.texts: list[str] = []
        self.quads: list[np.ndarray] = []

    @property
    def width(self) -> int:
        """Width in pixels."""
        return self.picture.width

    def length(self, text: str, scale: float = 1.0) -> float:
        """Width of ``text`` in pixels."""
        return self._font(scale).getlength(text)

    def text(self, x: float, y: float, text: str, scale: float = 1.0, ink: int = 25, bold: bool = False) -> np.ndarray:
        """Draw ``text`` from its top left, and return the corners [4, 2] of what was inked."""
        place, drawn_with = (round(x), round(y)), self._font(scale)
        stroke = 1 if bold else 0
        self.texts.append(text)
        self.draw.text(place, text, fill=(ink,) * 3, font=drawn_with, stroke_width=stroke)
        x0, y0, x1, y1 = self.draw.textbbox(place, text, font=drawn_with, stroke_width=stroke)
        self.quads.append(np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], np.float64))
        return self.quads[-1]

    def right(self, x: float, y: float, text: str, **how: Any) -> np.ndarray:
        """Like `text`, ending at ``x``."""
        return self.text(x - self.length(text, how.get("scale", 1.0)), y, text, **how)

    def centred(self, y: float, text: str, **how: Any) -> np.ndarray:
        """Like `text`, in the middle of the sheet."""
        return self.text((self.width - self.length(text, how.get("scale", 1.0))) / 2, y, text, **how)

    def rule(self, y: float, margin: int, ink: int = 90) -> None:
        """A horizontal line."""
        self.draw.line([(margin, round(y)), (self.width - margin, round(y))], fill=(ink,) * 3, width=2)

    def pixels(self) -> np.ndarray:
        """The page, float32 [H, W, 3] in [0, 1]."""
        return np.asarray(self.picture, np.float32) / 255

    def _font(self, scale: float) -> Any:
        return font(self.font_name, max(round(self.font_size * scale), 6))
