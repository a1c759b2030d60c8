"""The texture array: up to 40 named channels for every cell of an image, the input of relevance scorers.

Below it, the channels from image pyramids (amplitudes by scale and by orientation), and those that depend on more than
the pixels of one frame: motion and eccentricity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.camera.eccentricity import Eccentricity
from hra.domains.tokens.channels.color import color_channels, no_cells, square_means
from hra.domains.tokens.channels.gradient import gradient_channels
from hra.domains.tokens.channels.saliency import saliency
from hra.domains.tokens.channels.text_likeness import text_likeness
from hra.domains.tokens.embedding.features import check_features, project
from hra.errors import ArrayError, ImageError
from hra.files.images.arrays import as_image, luma
from hra.files.images.arrays import luma as luma_of
from hra.kernels import gaussian_pyramid, laplacian_pyramid, steerable_pyramid
from hra.model.arrays import whole_number

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
        ArrayError : the channel is unknown.
        """
        if name not in self.names:
            raise ArrayError(f"the channel {name!r} is unknown", where="texture array", fix=f"one of {self.names}")
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
    side = whole_number(cell)
    if side is None or side < 1:
        raise ArrayError(f"a cell must have at least one pixel, got {cell}", where="cell", fix="use 16, for example")
    cell = side
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


_BANDS = ("high_pass", "band_1", "band_2", "band_3")
_ORIENTATIONS = ("oriented_0", "oriented_45", "oriented_90", "oriented_135")
_SCALES = 2
# Mirrored pixels around what the steerable pyramid takes as periodic; sizes become multiples, which transform fast.
_MARGIN = 16


def band_channels(luma: np.ndarray, cell: int) -> dict[str, np.ndarray]:
    """Root mean square, by cell, of the four finest bands of the Laplacian pyramid.

    Source: P. J. Burt and E. H. Adelson (1983), see `hra.kernels.laplacian_pyramid`.

    Parameters
    ----------
    luma : float32 [H, W] in [0, 1].
    cell : side of a cell in pixels.

    Returns
    -------
    ``high_pass`` (what a blur over 5 x 5 pixels takes away), ``band_1``, ``band_2``, ``band_3`` (an octave each,
    strongest for wavelengths of 8, 16 and 32 pixels), float32 [ceil(H/cell), ceil(W/cell)]; zeros where the image is
    too small for a band.
    """
    bands = laplacian_pyramid(luma[..., None], levels=len(_BANDS) + 1).levels[:-1]
    energies = [_energy(band[..., 0], level, luma.shape, cell) for level, band in enumerate(bands)]
    missing = len(_BANDS) - len(energies)
    energies += [no_cells(luma.shape, cell)] * missing
    return {name: np.sqrt(energy) for name, energy in zip(_BANDS, energies, strict=True)}


def oriented_channels(luma: np.ndarray, cell: int) -> dict[str, np.ndarray]:
    """Root mean square, by cell, of waves along four directions, over the second and third finest octave together.

    The finest octave would take four times as long; its orientation is in the structure tensor already.

    Source: E. P. Simoncelli and W. T. Freeman (1995), see `hra.kernels.steerable_pyramid`.

    Parameters
    ----------
    luma : float32 [H, W] in [0, 1].
    cell : side of a cell in pixels.

    Returns
    -------
    ``oriented_0`` (waves along x: vertical strokes), ``oriented_45``, ``oriented_90`` (waves along y: lines of text),
    ``oriented_135``, float32 [ceil(H/cell), ceil(W/cell)]; angles run from +x towards +y, which points down.
    """
    halved = gaussian_pyramid(luma[..., None], levels=2).levels[-1]
    margins = [(_MARGIN, _MARGIN + -extent % _MARGIN) for extent in halved.shape[:2]]
    padded = np.pad(halved, [*margins, (0, 0)], mode="symmetric")
    pyramid = steerable_pyramid(padded, scales=_SCALES, orientations=len(_ORIENTATIONS))
    total = [no_cells(luma.shape, cell) for _ in _ORIENTATIONS]
    for scale, bands in enumerate(pyramid.bands):
        start = _MARGIN >> scale
        height, width = (-(-extent >> scale) for extent in halved.shape[:2])
        for orientation, band in enumerate(bands[:, start : start + height, start : start + width, 0]):
            # Transforms are orthonormal: a coefficient of scale s carries the energy of 4**s pixels.
            total[orientation] = total[orientation] + _energy(band, 1 + scale, luma.shape, cell) / 4**scale
    return {name: np.sqrt(energy) for name, energy in zip(_ORIENTATIONS, total, strict=True)}


def _energy(band: np.ndarray, level: int, size: tuple[int, ...], cell: int) -> np.ndarray:
    """Mean square by cell of a band whose pixel i lies on pixel i * 2**level of an image of ``size``."""
    squares, step = band * band, 2**level
    if cell % step == 0:
        return square_means(squares, cell // step)
    fine = squares.repeat(step, axis=0)[: size[0]].repeat(step, axis=1)[:, : size[1]]
    return square_means(fine, cell)


def motion(luma: np.ndarray, previous: Any, cell: int) -> np.ndarray:
    """Mean absolute change of luma since the previous frame; zero without one.

    Source: the flicker channel of L. Itti, N. Dhavale and F. Pighin, "Realistic avatar eye and head animation using a
    neurobiological model of visual attention" (SPIE 5200, 2003).

    Parameters
    ----------
    luma : float32 [H, W] in [0, 1].
    previous : the frame before, [H, W, 3] as `hra.files.images.as_image` takes it, or None.
    cell : side of a cell in pixels.

    Returns
    -------
    float32 [ceil(H/cell), ceil(W/cell)] in [0, 1].

    Raises
    ------
    ImageError : an unusable frame, or one of another size.
    """
    if previous is None:
        return no_cells(luma.shape, cell)
    before = luma_of(as_image(previous))[..., 0]
    if before.shape != luma.shape:
        what = f"the previous frame has {before.shape} pixels, this one {luma.shape}"
        raise ImageError(what, where="previous", fix="pass frames of one size")
    return square_means(np.abs(luma - before), cell)


def eccentricity(size: tuple[int, ...], gaze: tuple[float, float] | None, cell: int) -> np.ndarray:
    """Distance of every cell's centre from the gaze, as a share of the image's longer side.

    Proportional to the visual angle, whatever the field of view, as far as `hra.Eccentricity` takes it to be.

    Parameters
    ----------
    size : (height, width) in pixels.
    gaze : (x, y) in pixels; None for the centre.
    cell : side of a cell in pixels.

    Returns
    -------
    float64 [ceil(H/cell), ceil(W/cell)], >= 0.

    Raises
    ------
    ArrayError : a gaze that is not two finite numbers.
    """
    height, width = size
    y, x = ((np.arange(0, extent, cell) + np.minimum(np.arange(0, extent, cell) + cell, extent)) / 2 for extent in size)
    centres = np.stack(np.broadcast_arrays(x, y[:, None]), axis=-1)
    where = (width / 2, height / 2) if gaze is None else gaze
    return Eccentricity(where, pixels_per_degree=max(size)).degrees(centres)
