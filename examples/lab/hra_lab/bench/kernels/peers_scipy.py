"""Pyramids of Burt and Adelson with scipy's separable filters, what `gaussian_filter` calls underneath."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from hra.errors import needs
from hra_lab.bench.devices import Device
from hra_lab.bench.harness import Contender
from hra_lab.bench.kernels.levels import band_levels, coarser_levels
from hra_lab.bench.kernels.peers import require_host

_BINOMIAL = np.array([1, 4, 6, 4, 1], np.float32) / 16


def gaussian(device: Device, *, levels: int) -> Iterator[Contender]:
    """The coarser levels of a Gaussian pyramid."""
    halved = partial(_halve, _load(device))
    yield Contender("scipy correlate1d", lambda image: coarser_levels(image, halved, levels - 1))


def laplacian(device: Device, *, levels: int) -> Iterator[Contender]:
    """The bands and the rest of a Laplacian pyramid."""
    correlate = _load(device)
    halved, expanded = partial(_halve, correlate), partial(_expand, correlate)
    yield Contender("scipy correlate1d", lambda image: band_levels(image, halved, expanded, levels))


def _halve(correlate: Any, image: np.ndarray) -> np.ndarray:
    rows = correlate(image, _BINOMIAL, axis=0)[::2]
    return correlate(rows, _BINOMIAL, axis=1)[:, ::2]


def _expand(correlate: Any, coarse: np.ndarray) -> np.ndarray:
    for axis in (0, 1):
        doubled = np.zeros([length * (1 + (a == axis)) for a, length in enumerate(coarse.shape)], np.float32)
        doubled[(slice(None),) * axis + (slice(None, None, 2),)] = coarse
        coarse = correlate(doubled, 2 * _BINOMIAL, axis=axis)
    return coarse


def _load(device: Device) -> Any:
    require_host(device)
    with needs("scipy", "tokens"):
        from scipy.ndimage import correlate1d
    return partial(correlate1d, mode="mirror")
