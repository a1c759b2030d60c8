"""Relevance of patches without a model: the shipped combination of cues."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hra.domains.tokens.channels.saliency import border_contrast, centre_surround, middle
from hra.domains.tokens.channels.text_likeness import text_likeness
from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.context.served import Served
from hra.domains.tokens.pyramid.blocks import block_means
from hra.domains.tokens.relevance.colour_words import colour_words
from hra.domains.tokens.relevance.spatial_words import spatial_words
from hra.files.images.arrays import LUMA

_LEAST = 0.2  # so that every patch stays in the game, and the map is never all zero
# Share of the pixels that have the commonest brightness, or of that of what is brightest around them: of most photos at
# most .6, of pages above .8, or .75 under uneven light.
_PHOTO, _PAGE, _SHADES = 0.4, 0.8, 32
# Blocks of the shorter side, at least; pixels along a block that are looked at; around a pixel is an eighth of the
# longer side.
_SAMPLES, _BLOCK, _AROUND = 128, 4, 8


@dataclass(frozen=True)
class CueRelevance:
    """Relevance without a model: pages by their print, photos by colours that the border lacks. Needs nothing.

    A page scores ``words x (0.2 + 0.4 saliency + 0.4 text-likeness)``, a photo ``words x (0.2 + middle) (0.2 + border
    contrast) / 1.44``, without the middle where words name a place; cues are divided by their largest value. A page has
    one brightness mostly, its paper's; what is between the two is mixed. Only words of place and colour in the query
    count, see `spatial_words`, `colour_words`; `saliency`, `text_likeness`, `border_contrast` and `middle` have the
    sources of the others. Of a pyramid's tokens .65 lie on the subject of a photo, .52 with uniform relevance
    (``examples/lab/scripts/measure_photos.py``).

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> relevance = tokens.CueRelevance()(tokens.TokenContext.of(image, "what is at the top left?"))
    >>> relevance.shape, bool(relevance[0, 0] > relevance[-1, -1])
    ((8, 12), True)
    """

    in_threads: ClassVar[bool] = True

    def __call__(self, context: TokenContext) -> np.ndarray:
        """Relevance [ceil(H/patch), ceil(W/patch)], float32 in (0, 1]."""
        grid, means = context.grid, context.pyramid.patch_means
        places = spatial_words(context.query, *grid)
        placed = bool(places.min() < 1)
        content = context.pyramid.once((CueRelevance, "content", placed), lambda: _content(context, means, placed))
        coloured = colour_words(context.query, context.image, context.patch)
        if placed:
            context.serve(Served("words of place"))
        if coloured is not None:
            context.serve(Served("words of colour"))
        return places * (content if coloured is None else coloured * content)


def _content(context: TokenContext, means: np.ndarray, placed: bool) -> np.ndarray:
    """What follows from the image alone; that a subject stands in the middle counts unless a place was ``placed``."""
    page, content = _page_likeness(context), np.zeros(means.shape[:2], np.float32)
    if page > 0:
        salient = _unit(centre_surround(means))
        content += page * (_LEAST + 0.4 * salient + 0.4 * _unit(text_likeness(context.image, context.patch)))
    if page < 1:
        bell, contrast = 1.0 if placed else middle(*context.grid), _unit(border_contrast(means))
        content += (1 - page) * (_LEAST + bell) * (_LEAST + contrast) / (1 + _LEAST) ** 2
    return content


def _page_likeness(context: TokenContext) -> float:
    """0 of photos, 1 of pages, whose paper has one brightness, or falls off slowly where light is uneven."""
    # Every few pixels are enough to count shades, and blocks of them to see where paper is brightest.
    step = 1 << max(min(context.image.shape[:2]) // _SAMPLES, 1).bit_length() - 1
    fine = max(step // _BLOCK, 1)
    luma, block = context.image[::fine, ::fine] @ LUMA, step // fine
    side = max(max(luma.shape) // block // _AROUND, 3)
    paper = _means(_largest(block_means(luma, block), side), side)
    share = max(_commonest(luma), _commonest(luma[::block, ::block] / np.maximum(paper, 1 / 255)))
    return float(np.clip((share - _PHOTO) / (_PAGE - _PHOTO), 0, 1))


def _largest(values: np.ndarray, side: int) -> np.ndarray:
    """The largest of ``values`` [h, w] in a square of ``side`` around each; at the borders they are mirrored."""
    for _ in range(2):  # along one axis, then along the other
        width = _width(values, side)
        values, reach = _mirrored(values, width), 1
        while 2 * reach <= width:
            values, reach = np.maximum(values[:-reach], values[reach:]), 2 * reach
        rest = width - reach
        values = np.maximum(values[: len(values) - rest], values[rest:]).T
    return values


def _means(values: np.ndarray, side: int) -> np.ndarray:
    """The mean of ``values`` [h, w] over a square of ``side`` around each; at the borders they are mirrored."""
    for _ in range(2):
        width = _width(values, side)
        sums = np.pad(np.cumsum(_mirrored(values, width), axis=0, dtype=np.float64), ((1, 0), (0, 0)))
        values = (sums[width:] - sums[:-width]).T / width
    return values


def _width(values: np.ndarray, side: int) -> int:
    """How far a square reaches along the first axis: mirrors show no more than twice the axis of a strip."""
    return min(side, 2 * len(values))


def _mirrored(values: np.ndarray, side: int) -> np.ndarray:
    return np.pad(values, ((side // 2, side - 1 - side // 2), (0, 0)), mode="symmetric")


def _commonest(brightness: np.ndarray) -> float:
    """Share of the values in the two neighbouring shades that have most."""
    shades = np.bincount(np.minimum(brightness * _SHADES, _SHADES - 1).astype(np.intp).ravel(), minlength=_SHADES)
    return float((shades[1:] + shades[:-1]).max()) / shades.sum()


def _unit(cue: np.ndarray) -> np.ndarray:
    """A cue divided by its largest value, unless that is less than one step of 8-bit images (rounding, no content)."""
    return cue / max(float(cue.max()), 1 / 255)
