"""The steerable pyramid of pyrtools, by the authors of the method, if it is installed."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

import numpy as np

from hra.errors import BackendUnavailable
from hra_lab.bench.devices import Device
from hra_lab.bench.harness import Contender
from hra_lab.bench.kernels.peers import require_host


def steerable(device: Device, *, scales: int, orientations: int) -> Iterator[Contender]:
    """The pyramid in the frequency domain; what it reconstructs is read, its bands are scaled in another way."""
    require_host(device)
    try:
        pyramids = import_module("pyrtools").pyramids
    except ImportError as error:
        what, fix = "the package 'pyrtools' is not installed", "pip install pyrtools"
        raise BackendUnavailable(what, where="peer pyrtools", fix=fix) from error

    yield Contender(
        "pyrtools SteerablePyramidFreq",
        lambda image: pyramids.SteerablePyramidFreq(image, height=scales, order=orientations - 1),
        lambda image: image[..., 0].astype(np.float64),
        read=lambda pyramid: pyramid.recon_pyr(),
    )
