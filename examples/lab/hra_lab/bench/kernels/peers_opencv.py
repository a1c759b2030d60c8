"""OpenCV, if it is installed: halving by area for mipmaps, pyrDown for Gaussian pyramids."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np

from hra.errors import BackendUnavailable
from hra_lab.bench.devices import Device
from hra_lab.bench.harness import Contender
from hra_lab.bench.kernels.levels import band_levels, coarser_levels, halvings
from hra_lab.bench.kernels.peers import require_host


def area_levels(device: Device) -> Iterator[Contender]:
    """All coarser levels by resize with INTER_AREA, on one thread."""
    cv2 = load(device)

    def halve(image: np.ndarray) -> np.ndarray:
        return cv2.resize(image, (image.shape[1] // 2, image.shape[0] // 2), interpolation=cv2.INTER_AREA)

    yield Contender("OpenCV resize INTER_AREA", lambda image: coarser_levels(image, halve, halvings(image.shape[0])))


def gaussian(device: Device, *, levels: int) -> Iterator[Contender]:
    """The coarser levels of a Gaussian pyramid by pyrDown."""
    cv2 = load(device)
    yield Contender("OpenCV pyrDown", lambda image: coarser_levels(image, cv2.pyrDown, levels - 1))


def laplacian(device: Device, *, levels: int) -> Iterator[Contender]:
    """The bands and the rest of a Laplacian pyramid by pyrDown and pyrUp."""
    cv2 = load(device)

    yield Contender("OpenCV pyrDown, pyrUp", lambda image: band_levels(image, cv2.pyrDown, cv2.pyrUp, levels))


def load(device: Device) -> Any:
    """The module cv2 on one thread; raises `BackendUnavailable` where it is missing or the device is not the host."""
    require_host(device)
    try:
        cv2 = import_module("cv2")  # no package of ours asks for it, so type checkers must not either
    except ImportError as error:
        fix = "pip install opencv-python-headless"
        raise BackendUnavailable("the package 'cv2' is not installed", where="peer OpenCV", fix=fix) from error
    cv2.setNumThreads(1)
    return cv2
