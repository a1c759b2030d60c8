"""Text on pictures of tokens."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hra.errors import needs

GAP = 8  # pixels between pictures and around text


def line_height(width: int) -> int:
    """Pixels from line to line that stay readable when a picture of ``width`` pixels fills a window."""
    return max(18, width // 50)


def written(canvas: np.ndarray, lines: Sequence[str], indent: int = GAP, height: int = 0) -> np.ndarray:
    """``canvas`` uint8 [h, w, 3] with lines of black text from its top left, ``height`` pixels each.

    Raises
    ------
    MissingExtra : Pillow is not installed.
    """
    with needs("pillow", "tokens"):
        from PIL import Image, ImageDraw, ImageFont
    height = height or line_height(canvas.shape[1])
    picture = Image.fromarray(canvas)
    draw, font = ImageDraw.Draw(picture), ImageFont.load_default(round(0.72 * height))
    for number, line in enumerate(lines):
        draw.text((indent, number * height), line, fill=(0, 0, 0), font=font)
    return np.asarray(picture).copy()
