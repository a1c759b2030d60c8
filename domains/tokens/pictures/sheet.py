"""One picture that explains a token set: where its tokens are, what they give back, and what the colours mean.

`overlay` is the first part: which patches became tokens, at which level.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from hra.domains.tokens.pictures.lettering import GAP, line_height, written
from hra.domains.tokens.pyramid.downsample import resize
from hra.errors import ArrayError, HraError
from hra.files.images.arrays import as_image
from hra.files.images.files import png_bytes

# Pixels along the longer side: as much as two pictures side by side need on a screen.
_MOST, _LEAST = 1600, 480


class TokenPlaces(Protocol):
    """What a picture needs to know of a `TokenSet`: which pixels its tokens show, at which level, and what they give.

    Token sets show themselves in notebooks, so pictures stand below them and see no more than this.
    """

    @property
    def image_size(self) -> tuple[int, int]:
        """Height and width of the image in pixels."""
        ...

    @property
    def levels(self) -> np.ndarray:
        """Level of each token, int [K]; 0 is the finest."""
        ...

    def __len__(self) -> int:
        """Number of tokens."""
        ...

    def token_map(self) -> np.ndarray:
        """The token that each pixel shows, int [H, W]; -1 where there is none."""
        ...

    def reconstruct(self) -> np.ndarray:
        """The image that the tokens alone give back, float32 [H, W, 3]."""
        ...


def token_sheet(image: Any, tokens: TokenPlaces) -> np.ndarray:
    """The tokens' outlines on the image, the image that they alone give back, and below a legend of the levels.

    Parameters
    ----------
    image : [H, W, 3], as `hra.files.images.as_image` takes it; the image that the tokens were made of.

    Returns
    -------
    uint8 [h, w, 3], of at most 1600 pixels along the longer side of each picture.

    Raises
    ------
    ArrayError : the image has another size than the tokens' image. HraError : something else than a token set.
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
    return side_by_side(_pixels_of(image, tokens), tokens, tokens.reconstruct())


def portrait(tokens: TokenPlaces) -> bytes | None:
    """A PNG for notebooks: outlines on what the tokens give back, for there is no image; None without Pillow."""
    try:
        given_back = tokens.reconstruct()
        return png_bytes(side_by_side(given_back, tokens, given_back))
    except HraError:
        return None


def side_by_side(pixels: np.ndarray, tokens: TokenPlaces, given_back: np.ndarray) -> np.ndarray:
    """`token_sheet` of ``pixels`` [H, W, 3] in [0, 1] and of what the tokens give back, which is there already.

    Both are made small before anything is drawn: at the size of a large photo outlines take four times the seconds and
    thrice the memory.
    """
    shown = tokens.token_map()
    hidden = float((shown < 0).mean())
    pixels, given_back = _small(pixels), _small(given_back)
    pictures = [_outlined(pixels, _sampled(shown, pixels.shape[:2]), tokens.levels), _as_bytes(given_back)]
    times = -(-_LEAST // max(pixels.shape[:2]))
    framed = [
        np.pad(picture.repeat(times, 0).repeat(times, 1), ((GAP, GAP), (GAP, GAP), (0, 0)), constant_values=255)
        for picture in pictures
    ]
    row = np.concatenate(framed, axis=1)
    return np.concatenate([row, _legend(tokens, hidden, row.shape[1])])


def _small(picture: np.ndarray) -> np.ndarray:
    """``picture`` [H, W, 3] no larger than a screen shows, float32."""
    longer = max(picture.shape[:2])
    if longer <= _MOST:
        return picture
    height, width = (max(1, round(side * _MOST / longer)) for side in picture.shape[:2])
    return np.clip(resize(np.ascontiguousarray(picture, np.float32), (height, width)), 0, 1)


def _sampled(shown: np.ndarray, size: tuple[int, ...]) -> np.ndarray:
    """The entries of ``shown`` [H, W] at the middle of each pixel of a picture of ``size``."""
    if shown.shape == size:
        return shown
    rows, columns = ((2 * np.arange(few) + 1) * many // (2 * few) for few, many in zip(size, shown.shape, strict=True))
    return shown[rows[:, None], columns]


def _as_bytes(picture: np.ndarray) -> np.ndarray:
    return np.rint(255 * np.clip(picture, 0, 1)).astype(np.uint8)


def _legend(tokens: TokenPlaces, hidden: float, width: int) -> np.ndarray:
    """A line for each level that occurs, one for the share of pixels ``hidden``, and one for the two pictures."""
    height = line_height(width)
    lines = [f"left: {len(tokens):,} tokens on the image; right: the image that they alone give back"]
    colours: list[Any] = [None]
    for level, count in zip(*np.unique(tokens.levels, return_counts=True), strict=True):
        lines.append(f"level {level}, {_detail(int(level))}: {count:,} token{'' if count == 1 else 's'}")
        colours.append(level_colours(level))
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


# From fine to coarse, then again from the start: M. Okabe and K. Ito, readable with colour-blindness.
LEVEL_COLOURS = np.array(
    [(213, 94, 0), (230, 159, 0), (0, 158, 115), (86, 180, 233), (0, 114, 178), (204, 121, 167), (240, 228, 66)],
    np.uint8,
)
_DIMMED = 0.35  # brightness of what no token covers


def overlay(image: Any, tokens: TokenPlaces) -> np.ndarray:
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
    ArrayError : the image has another size than the tokens' image. HraError : something else than a token set.

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
    return _outlined(_pixels_of(image, tokens), tokens.token_map(), tokens.levels)


def _pixels_of(image: Any, tokens: TokenPlaces) -> np.ndarray:
    if isinstance(tokens, type) or not hasattr(tokens, "token_map"):
        what = f"tokens must be a token set, got {tokens!r:.80}"
        raise HraError(what, where="tokens", fix="pass what realize(allocation) returned")
    pixels = as_image(image)
    if pixels.shape[:2] != tokens.image_size:
        raise ArrayError(f"an image of {pixels.shape[:2]} for tokens of {tokens.image_size}", where="overlay")
    return pixels


def _outlined(pixels: np.ndarray, shown: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """See `overlay`; ``shown`` int [H, W] is the token on each pixel, ``levels`` int [K] those of the tokens."""
    picture = _as_bytes(pixels * np.where(shown >= 0, 1, _DIMMED).astype(np.float32)[..., None])
    light = _light(pixels, shown, len(levels))
    outline = _borders(shown, max(1, max(shown.shape) // 800)) & (shown >= 0)
    picture[outline] = _behind(picture[outline], level_colours(levels)[shown[outline]], light[shown[outline]])
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
