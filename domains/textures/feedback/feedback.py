"""Feedback: which texture pages the pixels of a view touch, and at which mip level they want them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np


@dataclass(frozen=True, eq=False)
class Feedback:
    """Samples of a view, as a feedback buffer of a virtual texture holds them.

    Attributes
    ----------
    page : int32 [n], node of the finest page at each sample.
    footprint : float32 [n], texels of level 0 across one pixel, >= 1; the wanted mip level is its log2.
    pixels : float32 [n], area of the viewport that the sample stands for.
    viewport_pixels : area of the viewport.
    position : float32 [n, 2], column and row of the sample in pixels from the upper left; None if not recorded.
    weight : float32 [n], by which squared errors are multiplied; None is 1 (see `WeightedFeedback`).
    """

    page: np.ndarray
    footprint: np.ndarray
    pixels: np.ndarray
    viewport_pixels: float
    position: np.ndarray | None = None
    weight: np.ndarray | None = None

    @property
    def wanted_level(self) -> np.ndarray:
        """The mip level whose texels are as large as a pixel, float32 [n], 0 where level 0 is magnified."""
        return np.log2(self.footprint)

    @property
    def weighted_pixels(self) -> np.ndarray:
        """``pixels`` times ``weight``, float32 [n]."""
        return self.pixels if self.weight is None else self.pixels * self.weight


class FeedbackSource(Protocol):
    """What can tell the feedback of a view: ray casts, a rendered feedback buffer, a recording."""

    def observe(self, camera: Any) -> Feedback:
        """The feedback of the view of ``camera``."""
        ...
