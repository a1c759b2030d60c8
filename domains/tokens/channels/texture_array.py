"""The texture array: up to 40 named channels for every cell of an image, the input of relevance scorers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.domains.tokens.channels.bands import band_channels, oriented_channels
from hra.domains.tokens.channels.color import color_channels
from hra.domains.tokens.channels.frame import eccentricity, motion
from hra.domains.tokens.channels.gradient import gradient_channels
from hra.domains.tokens.context.features import check_features, project
from hra.domains.tokens.relevance.saliency import saliency
from hra.domains.tokens.relevance.text_likeness import text_likeness
from hra.errors import ArrayError
from hra.files.images.arrays import as_image, luma

MODEL_CHANNELS = range(17, 33)
"""Numbers of the channels that hold features of a model."""

CHANNELS: dict[int, str] = {
    0: "luminance",
    1: "red_green",
    2: "blue_yellow",
    3: "gradient_x",
    4: "gradient_y",
    5: "saliency",
    6: "edges",
    7: "high_pass",
    8: "structure",
    9: "text_likeness",
    10: "motion",
    11: "eccentricity",
    12: "structure_strength",
    13: "orientation_cos",
    14: "orientation_sin",
    15: "corners",
    16: "contrast",
    **{number: f"model_{number - MODEL_CHANNELS.start}" for number in MODEL_CHANNELS},
    33: "band_1",
    34: "band_2",
    35: "band_3",
    36: "oriented_0",
    37: "oriented_45",
    38: "oriented_90",
    39: "oriented_135",
}
"""Name of every channel by its number; 17 to 32 exist only where there are model features."""

_NUMBERS = {name: number for number, name in CHANNELS.items()}
_REGION = 16  # saliency and text-likeness mean something from this many pixels on


@dataclass(frozen=True, eq=False)
class TextureArray:
    """Channels of every cell of an image.

    Attributes
    ----------
    values : float32 [rows, columns, C], in the order of their numbers; each channel is contiguous.
    numbers : int64 [C], the keys of `CHANNELS` that are present, ascending.
    cell : side of a cell in pixels.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> channels = tokens.texture_array(image)
    >>> isinstance(channels, tokens.TextureArray), len(channels.names)
    (True, 24)
    """

    values: np.ndarray
    numbers: np.ndarray
    cell: int

    @property
    def names(self) -> tuple[str, ...]:
        """Name of every channel."""
        return tuple(CHANNELS[int(number)] for number in self.numbers)

    def channel(self, name: str) -> np.ndarray:
        """One channel [rows, columns].

        Raises
        ------
        ArrayError : there is no such channel.
        """
        if name not in self.names:
            raise ArrayError(f"there is no channel {name!r}", where="texture array", fix=f"one of {self.names}")
        return self.values[..., self.names.index(name)]

    def complete(self) -> np.ndarray:
        """All 40 channels, at the index that is their number, zeros where absent: float32 [rows, columns, 40]."""
        full = np.zeros((*self.values.shape[:2], len(CHANNELS)), np.float32)
        full[..., self.numbers] = self.values
        return full


def texture_array(
    image: Any,
    cell: int = 16,
    *,
    previous: Any = None,
    gaze: tuple[float, float] | None = None,
    model: Any = None,
) -> TextureArray:
    """The channels of an image that need no trained model, and those of a model where its features are given.

    By number, each the mean over the cell unless said otherwise; lumas and contrasts are in units of full scale:

    - 0 luminance, 1 red-green, 2 blue-yellow: `color_channels`.
    - 3, 4 gradient, 6 edges, 8 structure (coherence), 12 structure strength, 13, 14 orientation, 15 corners,
      16 contrast: `gradient_channels`.
    - 5 saliency (`saliency`) and 9 text-likeness (`text_likeness`), of regions of at least 16 pixels.
    - 7 high-pass, 33-35 coarser bands: `band_channels`. 36-39 orientations: `oriented_channels`.
    - 10 motion, zero without a previous frame: `motion`. 11 eccentricity: `eccentricity`.
    - 17-32 model features, brought to 16 dimensions by `project`.

    The heads of the relevance scorer name 5 to 8, 10 to 12 and 17 to 32; the numbers of the others are our choice.

    Parameters
    ----------
    image : [H, W, 3] of any size, as `hra.files.images.as_image` takes it.
    cell : side of a cell in pixels; 1 for channels of every pixel.
    previous : the frame before, of the same size.
    gaze : (x, y) in pixels; by default the centre.
    model : features of every cell, [ceil(H/cell), ceil(W/cell), D].

    Returns
    -------
    TextureArray : 24 channels, or 40 with model features.

    Raises
    ------
    ImageError : an unusable image, or frames of different sizes.
    ArrayError : a cell below 1, or a gaze that is not two finite numbers.
    MetricError : model features of another shape, NaN or infinite.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> channels = tokens.texture_array(image)
    >>> channels.values.shape, channels.names[:3], channels.channel("edges").shape
    ((8, 12, 24), ('luminance', 'red_green', 'blue_yellow'), (8, 12))
    """
    pixels = as_image(image)
    if cell < 1:
        raise ArrayError(f"a cell must have at least one pixel, got {cell}", where="cell")
    grey = luma(pixels)[..., 0]
    channels = {
        **color_channels(pixels, cell),
        **gradient_channels(grey, cell),
        **band_channels(grey, cell),
        **oriented_channels(grey, cell),
        "saliency": _regional(saliency(pixels, max(cell, _REGION)), grey.shape, cell),
        "text_likeness": _regional(text_likeness(pixels, max(cell, _REGION)), grey.shape, cell),
        "motion": motion(grey, previous, cell),
        "eccentricity": eccentricity(grey.shape, gaze, cell),
    }
    if model is not None:
        features = project(check_features(model, channels["motion"].shape), len(MODEL_CHANNELS))
        channels.update({CHANNELS[number]: features[..., i] for i, number in enumerate(MODEL_CHANNELS)})
    names = sorted(channels, key=_NUMBERS.__getitem__)
    # One map after the other in memory: interleaving a million pixels takes longer than most channels.
    maps = np.stack([channels[name] for name in names], dtype=np.float32)
    return TextureArray(np.moveaxis(maps, 0, -1), np.array([_NUMBERS[name] for name in names]), cell)


def _regional(cue: np.ndarray, size: tuple[int, ...], cell: int) -> np.ndarray:
    """A cue of regions, given to the cells that begin in them."""
    region = max(cell, _REGION)
    row, column = (np.arange(0, extent, cell) // region for extent in size)
    return cue[row[:, None], column]
