"""Which patches have a colour that the query names: "the red car", "what is written on the yellow sign?"."""

from __future__ import annotations

import re

import numpy as np

from hra.domains.tokens.pyramid.blocks import block_means

# Basic colour terms (B. Berlin and P. Kay, "Basic color terms", 1969) as stretches of the colour circle, in degrees.
_HUES = {
    "red": (345, 15),
    "orange": (15, 42),
    "yellow": (42, 70),
    "green": (70, 165),
    "blue": (180, 260),
    "purple": (260, 310),
    "violet": (260, 310),
    "pink": (310, 350),
}
_GREYS = {"black": (0.0, 0.2), "white": (0.8, 1.0)}
_COLOURED, _BRIGHT, _GREY = 0.35, 0.2, 0.15  # least saturation and value of a hue, most saturation of black and white
_SEEN = 0.01  # share of the image below which the colour is not there
_EVERYWHERE = 0.6  # and above which it tells nothing apart
_ELSEWHERE = 0.1


def colour_words(query: str, image: np.ndarray, patch: int) -> np.ndarray | None:
    """How much of each patch has the colours that a query names.

    A question for the colour ("what colour is the red car?") names it as well. Shades are not told apart: brown is a
    dark orange, and no word here.

    Parameters
    ----------
    image : float32 [H, W, 3] in [0, 1].

    Returns
    -------
    float32 [ceil(H/patch), ceil(W/patch)], from 0.1 to 1; None where the query names no colour, or one that the image
    lacks or is full of.
    """
    named = [word for word in re.findall(r"[a-z]+", query.lower()) if word in _HUES or word in _GREYS]
    if not named:
        return None
    hue, saturation, value = _hsv(image)
    has = np.zeros(image.shape[:2], bool)
    for word in named:
        if word in _HUES:
            low, high = _HUES[word]
            has |= ((hue - low) % 360 < (high - low) % 360) & (saturation >= _COLOURED) & (value >= _BRIGHT)
        else:
            has |= (value >= _GREYS[word][0]) & (value <= _GREYS[word][1]) & (saturation <= _GREY)
    if not _SEEN <= has.mean() <= _EVERYWHERE:
        return None
    shares = block_means(np.repeat(has[..., None], 3, axis=2).astype(np.float32), patch)[..., 0]
    return (_ELSEWHERE + (1 - _ELSEWHERE) * shares / shares.max()).astype(np.float32)


def _hsv(image: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Hue in degrees, saturation and value (A. R. Smith, "Color gamut transform pairs", 1978)."""
    value, least = image.max(axis=-1), image.min(axis=-1)
    spread = np.maximum(value - least, 1e-6)
    red, green, blue = ((value - image[..., channel]) / spread for channel in range(3))
    at = image.argmax(axis=-1)
    sixth = np.select([at == 0, at == 1], [blue - green, 2 + red - blue], 4 + green - red)
    return 60 * sixth % 360, (value - least) / np.maximum(value, 1e-6), value
