"""What tokens of any kind do with the boxes that enclose them, and sinusoidal codes of where tokens are."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from hra.domains.tokens.token_sets.token_set import TokenSet
from hra.errors import HraError, check_choice, check_kind
from hra.model.arrays import numbers


def finest_on_top(boxes: np.ndarray, detail: np.ndarray, image_size: tuple[int, int]) -> np.ndarray:
    """The token of finest detail whose box contains each pixel, the last one of equals, -1 for none: int32 [H, W].

    Parameters
    ----------
    boxes : int [K, 4], (x0, y0, x1, y1), end excluded; detail : [K], 0 is the finest.
    """
    shown = np.full(image_size, -1, np.int32)
    for token in np.argsort(-detail, kind="stable"):
        x0, y0, x1, y1 = boxes[token]
        shown[y0:y1, x0:x1] = token
    return shown


def mean_over_boxes(relevance: np.ndarray, boxes: np.ndarray, patch: int) -> np.ndarray:
    """Mean relevance of the finest patches that each box touches, float64 [K].

    Parameters
    ----------
    relevance : [rows, columns] of the finest patches, >= 0; boxes : int [K, 4], (x0, y0, x1, y1) in pixels, not empty.
    """
    sums = np.zeros((relevance.shape[0] + 1, relevance.shape[1] + 1))
    sums[1:, 1:] = relevance.cumsum(axis=0).cumsum(axis=1)
    x0, y0 = boxes[:, 0] // patch, boxes[:, 1] // patch
    x1, y1 = -(-boxes[:, 2] // patch), -(-boxes[:, 3] // patch)
    mean = (sums[y1, x1] - sums[y0, x1] - sums[y1, x0] + sums[y0, x0]) / ((x1 - x0) * (y1 - y0))
    return np.maximum(mean, 0)  # where nothing is relevant, differences of sums may round to less


Kind = Literal["centroid", "corners", "corners_and_size", "level", "polar"]
_PAIRS = 64  # of sine and cosine for each coordinate


def position_code(tokens: TokenSet, kind: Kind, *, gaze: tuple[float, float] | None = None) -> np.ndarray:
    """Sines and cosines of each token's coordinates, 64 pairs each, coordinate after coordinate.

    Parameters
    ----------
    kind : "centroid", the centre (x, y) of the token's box; "corners", (x1, y1, x2, y2); "corners_and_size", these and
        (width, height), 768 numbers in all; "level", (level, x, y) with x and y of the first corner in pixels of that
        level; "polar", (eccentricity, angle) of the centre seen from ``gaze``.
    gaze : (x, y) in pixels, for "polar"; by default each token's own fixation.

    Returns
    -------
    float32 [K, 128 c] for c coordinates in pixels. Angles are coded by the harmonics 1 to 64, so that a full turn
    changes nothing.

    Raises
    ------
    HraError : unknown kind, or "polar" for tokens of a method that looks nowhere, without a gaze.

    Notes
    -----
    A. Vaswani et al., "Attention is all you need" (NeurIPS 2017): pair i has the wavelength 2 pi 10000**(i / 64); here
    all sines come before the cosines.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.PyramidSampling()
    >>> context = allocator.context(image, "what is at the top left?")
    >>> chosen = allocator.realize(allocator.allocate(context, budget=20))
    >>> tokens.position_code(chosen, "corners_and_size").shape
    (20, 768)
    """
    check_kind("tokens", tokens, TokenSet, "pass what realize(allocation) returned")
    check_choice("kind", kind, get_args(Kind))
    if kind == "polar":
        eccentricity, angle = _polar(tokens, gaze)
        return np.concatenate([_sinusoids(eccentricity, _frequencies()), _sinusoids(angle, _harmonics())], axis=1)
    coordinates = _coordinates(tokens, kind)
    return np.concatenate([_sinusoids(column, _frequencies()) for column in coordinates.T], axis=1)


def _coordinates(tokens: TokenSet, kind: str) -> np.ndarray:
    """The coordinates of each token, float64 [K, c]."""
    if kind == "centroid":
        return tokens.centres
    boxes = tokens.boxes.astype(np.float64)
    if kind == "corners":
        return boxes
    if kind == "corners_and_size":
        return np.concatenate([boxes, boxes[:, 2:] - boxes[:, :2]], axis=1)
    level = tokens.detail.astype(np.float64)[:, None]
    return np.concatenate([level, boxes[:, :2] / 2**level], axis=1)


def _polar(tokens: TokenSet, gaze: tuple[float, float] | None) -> tuple[np.ndarray, np.ndarray]:
    """Pixels from the gaze, and radians from +x towards +y."""
    if gaze is not None:
        x, y = (tokens.centres - numbers("gaze", gaze, 2)).T
        return np.hypot(x, y), np.arctan2(y, x)
    if tokens.fixations is None:
        fix = "pass gaze=(x, y) in pixels, or use a method that fixates, such as FoveatedPyramid"
        raise HraError("the tokens have no fixation to count from", where="position_code", fix=fix)
    return tokens.eccentricity, tokens.angle


def _sinusoids(values: np.ndarray, frequencies: np.ndarray) -> np.ndarray:
    phases = values[:, None] * frequencies
    return np.concatenate([np.sin(phases), np.cos(phases)], axis=1, dtype=np.float32)


def _frequencies() -> np.ndarray:
    """Radians per pixel."""
    return 10_000.0 ** (-np.arange(_PAIRS) / _PAIRS)


def _harmonics() -> np.ndarray:
    return np.arange(1.0, _PAIRS + 1)
