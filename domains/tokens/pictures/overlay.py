"""A picture of which patches became tokens, at which level."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hra.errors import ArrayError
from hra.files.images.arrays import as_image

if TYPE_CHECKING:
    from hra.domains.tokens.token_sets.token_set import TokenSet

# From fine to coarse, then again from the start: M. Okabe and K. Ito, readable with colour-blindness.
LEVEL_COLOURS = np.array(
    [(213, 94, 0), (230, 159, 0), (0, 158, 115), (86, 180, 233), (0, 114, 178), (204, 121, 167), (240, 228, 66)],
    np.uint8,
)
_DIMMED = 0.35  # brightness of what no token covers


def overlay(image: Any, tokens: TokenSet) -> np.ndarray:
    """The image with the outline of every token, coloured by level: orange is the finest.

    Covered pixels keep their colour, all others are dimmed. Lines lie behind what is darker than they are on light
    ground, and behind what is lighter on dark ground, so that they cross no text out.

    Parameters
    ----------
    image : [H, W, 3], as `hra.files.images.as_image` takes it; the image that the tokens were made of.

    Returns
    -------
    uint8 [H, W, 3].

    Raises
    ------
    ArrayError : the image has another size than the tokens' image.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.PyramidSampling()
    >>> context = allocator.context(image, "what is at the top left?")
    >>> chosen = allocator.realize(allocator.allocate(context, budget=20))
    >>> tokens.overlay(image, chosen).shape
    (128, 192, 3)
    """
    pixels = as_image(image)
    if pixels.shape[:2] != tokens.image_size:
        raise ArrayError(f"an image of {pixels.shape[:2]} for tokens of {tokens.image_size}", where="overlay")
    shown = tokens.token_map()
    picture = np.rint(255 * pixels * np.where(shown >= 0, 1, _DIMMED)[..., None]).astype(np.uint8)
    light = _light(pixels, shown, len(tokens))
    outline = _borders(shown, max(1, max(tokens.image_size) // 800)) & (shown >= 0)
    picture[outline] = _behind(picture[outline], level_colours(tokens.levels)[shown[outline]], light[shown[outline]])
    return picture


def level_colours(levels: Any) -> np.ndarray:
    """The colour of each of the ``levels`` (int [..]), uint8 [.., 3]."""
    return LEVEL_COLOURS[np.asarray(levels, int) % len(LEVEL_COLOURS)]


def _behind(pixels: np.ndarray, lines: np.ndarray, light: np.ndarray) -> np.ndarray:
    """Lines uint8 [n, 3] behind the strokes of pixels uint8 [n, 3], on ``light`` ground or dark, bool [n]."""
    return np.where(light[:, None], np.minimum(pixels, lines), np.maximum(pixels, lines))


def _light(pixels: np.ndarray, shown: np.ndarray, count: int) -> np.ndarray:
    """Whether the pixels [H, W, 3] that each of ``count`` tokens shows are light on average, bool [count]."""
    number, brightness = shown.ravel() + 1, pixels.mean(axis=2).ravel()
    total = np.bincount(number, brightness, count + 1)[1:]
    return total > 0.5 * np.bincount(number, minlength=count + 1)[1:]


def _borders(shown: np.ndarray, thickness: int) -> np.ndarray:
    """Pixels within ``thickness`` of another token's region or of the image's border, bool [H, W]."""
    padded = np.pad(shown, thickness, constant_values=-2)
    height, width = shown.shape
    border = np.zeros(shown.shape, bool)
    for step in range(1, thickness + 1):
        for dy, dx in ((-step, 0), (step, 0), (0, -step), (0, step)):
            top, left = thickness + dy, thickness + dx
            border |= padded[top : top + height, left : left + width] != shown
    return border
