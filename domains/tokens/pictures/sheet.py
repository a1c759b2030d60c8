"""One picture that explains a token set: where its tokens are, what they give back, and what the colours mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hra.domains.tokens.patches.downsample import resize
from hra.domains.tokens.pictures.lettering import GAP, line_height, written
from hra.domains.tokens.pictures.overlay import level_colours, overlay
from hra.errors import HraError
from hra.files.images.files import png_bytes

if TYPE_CHECKING:
    from hra.domains.tokens.token_sets.token_set import TokenSet

# Pixels along the longer side: as much as two pictures side by side need on a screen.
_MOST, _LEAST = 1600, 480


def token_sheet(image: Any, tokens: TokenSet) -> np.ndarray:
    """The tokens' outlines on the image, the image that they alone give back, and below a legend of the levels.

    Parameters
    ----------
    image : [H, W, 3], as `hra.files.images.as_image` takes it; the image that the tokens were made of.

    Returns
    -------
    uint8 [h, w, 3], of at most 1600 pixels along the longer side of each picture.

    Raises
    ------
    ArrayError : the image has another size than the tokens' image.
    MissingExtra : Pillow is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 512, 3), dtype=np.float32)
    >>> allocator = tokens.EvenPyramid()
    >>> chosen = allocator.realize(allocator.allocate((image, ""), budget=20))
    >>> sheet = tokens.token_sheet(image, chosen)
    >>> sheet.shape[1] > 2 * 512, sheet.dtype
    (True, dtype('uint8'))
    """
    shown = tokens.reconstruct()
    return _framed([overlay(image, tokens) / np.float32(255), shown], tokens)


def portrait(tokens: TokenSet) -> bytes | None:
    """A PNG for notebooks: outlines on what the tokens give back, for there is no image; None without Pillow."""
    try:
        shown = tokens.reconstruct()
        return png_bytes(_framed([overlay(shown, tokens) / np.float32(255), shown], tokens))
    except HraError:
        return None


def _framed(pictures: list[np.ndarray], tokens: TokenSet) -> np.ndarray:
    """Pictures [H, W, 3] in [0, 1] side by side above the legend."""
    framed = [np.pad(_fit(picture), ((GAP, GAP), (GAP, GAP), (0, 0)), constant_values=255) for picture in pictures]
    row = np.concatenate(framed, axis=1)
    return np.concatenate([row, _legend(tokens, row.shape[1])])


def _fit(picture: np.ndarray) -> np.ndarray:
    """``picture`` in [0, 1] as bytes, neither too large for a screen nor smaller than its legend."""
    longer = max(picture.shape[:2])
    if longer > _MOST:
        height, width = (max(1, round(side * _MOST / longer)) for side in picture.shape[:2])
        picture = resize(np.ascontiguousarray(picture, np.float32), (height, width))
    times = -(-_LEAST // longer)
    return np.rint(255 * np.clip(picture, 0, 1)).astype(np.uint8).repeat(times, 0).repeat(times, 1)


def _legend(tokens: TokenSet, width: int) -> np.ndarray:
    """A line for each level that occurs, one for what no token shows, and one for the two pictures."""
    height = line_height(width)
    lines = [f"left: {len(tokens):,} tokens on the image; right: the image that they alone give back"]
    colours: list[Any] = [None]
    for level, count in zip(*np.unique(tokens.levels, return_counts=True), strict=True):
        lines.append(f"level {level}, {_detail(int(level))}: {count:,} token{'' if count == 1 else 's'}")
        colours.append(level_colours(level))
    hidden = float((tokens.token_map() < 0).mean())
    if hidden > 0:
        lines.append(f"dimmed on the left: {hidden:.0%} of the image, which no token shows")
        colours.append(None)
    canvas = np.full((len(lines) * height + GAP, width, 3), 255, np.uint8)
    canvas = written(canvas, lines, indent=2 * height)
    for number, colour in enumerate(colours):
        if colour is not None:
            top = number * height + height // 8
            canvas[top : top + 3 * height // 4, GAP : GAP + height] = colour
    return canvas


def _detail(level: int) -> str:
    return "full detail" if level <= 0 else f"1/{2**level} of the detail"
