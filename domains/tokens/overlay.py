"""A picture of which patches became tokens, at which level."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.domains.tokens.token_set import TokenSet
from hra.errors import ArrayError
from hra.image_arrays import as_image

# From fine to coarse, then again from the start: M. Okabe and K. Ito, readable with colour-blindness.
_COLOURS = np.array(
    [(213, 94, 0), (230, 159, 0), (0, 158, 115), (86, 180, 233), (0, 114, 178), (204, 121, 167), (240, 228, 66)],
    np.uint8,
)
_DIMMED = 0.35  # brightness of what no token covers


def overlay(image: Any, tokens: TokenSet) -> np.ndarray:
    """The image with the outline of every token, coloured by level: orange is the finest.

    Covered pixels keep their colour, all others are dimmed.

    Parameters
    ----------
    image : [H, W, 3], as `hra.images.as_image` takes it; the image that the tokens were made of.

    Returns
    -------
    uint8 [H, W, 3].

    Raises
    ------
    ArrayError : the image has another size than the tokens' image.
    """
    pixels = as_image(image)
    if pixels.shape[:2] != tokens.image_size:
        raise ArrayError(f"an image of {pixels.shape[:2]} for tokens of {tokens.image_size}", where="overlay")
    covered = np.zeros(tokens.image_size, bool)
    boxes = tokens.boxes
    for x0, y0, x1, y1 in boxes:
        covered[y0:y1, x0:x1] = True
    picture = np.rint(255 * pixels * np.where(covered, 1, _DIMMED)[..., None]).astype(np.uint8)
    # Coarse boxes first, so that they never hide a finer one.
    for token in np.argsort(-tokens.positions[:, 0], kind="stable"):
        colour = _COLOURS[tokens.positions[token, 0] % len(_COLOURS)]
        _outline(picture, boxes[token], colour, max(1, max(tokens.image_size) // 800))
    return picture


def _outline(picture: np.ndarray, box: np.ndarray, colour: np.ndarray, thickness: int) -> None:
    x0, y0, x1, y1 = box
    region = picture[y0:y1, x0:x1]
    region[:thickness] = region[-thickness:] = colour
    region[:, :thickness] = region[:, -thickness:] = colour
