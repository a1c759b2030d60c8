"""Levels of an image through an encoder, for tokens that are patches of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.domains.tokens.context.features import Encoder
from hra.domains.tokens.embedding.crops import encode_boxes, stack_rows
from hra.domains.tokens.embedding.feature_grid import take_rows
from hra.domains.tokens.embedding.pictures import picture
from hra.domains.tokens.patches.pyramid import PatchPyramid


def pyramid_of(image: Any, size: tuple[int, int], patch: int) -> PatchPyramid:
    """The pyramid of the image of (height, width) pixels that tokens were made of: of a token context, its own.

    Raises
    ------
    ArrayError : no image, or another one.
    """
    pixels = picture(image, size)
    pyramid = getattr(image, "pyramid", None)
    return pyramid if pyramid is not None and pyramid.patch == patch else PatchPyramid.build(pixels, patch=patch)


def encode_levels(pyramid: PatchPyramid, places: np.ndarray, encoder: Encoder) -> Any:
    """The features of patches [K, 3] at (level, x, y), [K, D]; the encoder runs once for every level that occurs."""
    present = np.unique(places[:, 0])
    parts, order = [], []
    for level in present.tolist():
        here = np.flatnonzero(places[:, 0] == level)
        boxes = np.concatenate([places[here, 1:], places[here, 1:] + 1], axis=1) * pyramid.patch
        parts.append(encode_boxes(pyramid.levels[level], encoder, pyramid.patch, boxes))
        order.append(here)
    features = stack_rows(parts)
    return take_rows(features, np.argsort(np.concatenate(order))) if parts else features
