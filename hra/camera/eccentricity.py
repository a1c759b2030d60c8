"""Visual acuity around a gaze point, for foveated rendering and foveated tokens alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from hra.errors import ArrayError
from hra.model.arrays import numbers, to_numpy


@final
@dataclass(frozen=True)
class Eccentricity:
    """Cortical magnification M(e) = m0 / (e + e0) at the angle e from the gaze: how much cortex a degree is given.

    Only e0 changes the weights, m0 scales M. The defaults are rounded; for the primary visual cortex Horton and Hoyt
    (1991) measured m0 = 17.3 mm, e0 = 0.75 degrees, and Rovamo and Virsu (1979) 7.99 mm per degree at e = 0.

    Angles are taken as proportional to pixels, which suits angles of up to about 20 degrees from the screen's centre.

    Parameters
    ----------
    gaze : (x, y) in pixels, x to the right and y downwards; may lie outside the image.
    pixels_per_degree : of visual angle. The default is a 24-inch monitor, 1920 pixels wide, at 60 cm.
    m0 : mm.
    e0 : degrees; here the magnification is half of that at the gaze.

    Raises
    ------
    ArrayError : a gaze that is not two finite numbers, another parameter that is not finite and above 0.

    Examples
    --------
    >>> from hra import Eccentricity
    >>> Eccentricity(gaze=(0, 0), pixels_per_degree=40).linear_weight([[0, 0], [30, 0]]).tolist()
    [1.0, 0.5]
    """

    gaze: tuple[float, float]
    pixels_per_degree: float = 38.0
    m0: float = 10.0
    e0: float = 0.75

    def __post_init__(self) -> None:
        x, y = numbers("gaze", self.gaze, 2).tolist()
        object.__setattr__(self, "gaze", (x, y))
        for name in ("pixels_per_degree", "m0", "e0"):
            (value,) = numbers(name, [getattr(self, name)])
            if value <= 0:
                raise ArrayError(f"{name} is {value:g}", where=name, fix="use a number above 0")

    def degrees(self, positions: Any) -> np.ndarray:
        """Angle from the gaze, [...] float64 in degrees, of positions [..., 2] in pixels.

        Raises
        ------
        ArrayError : positions of another shape, not numeric or not finite.
        """
        array = positions if type(positions) is np.ndarray else to_numpy(positions)
        if array.ndim == 0 or array.shape[-1] != 2 or array.dtype.kind not in "iuf":
            raise ArrayError(
                f"positions must be numbers [..., 2], got {array.shape} of {array.dtype}", where="positions"
            )
        pixels = np.hypot(array[..., 0] - self.gaze[0], array[..., 1] - self.gaze[1])
        if not np.isfinite(pixels).all():
            index = np.argwhere(~np.isfinite(pixels))[0].tolist()
            raise ArrayError("a position is not finite", where=f"positions{index}", fix="pass finite numbers")
        return pixels / self.pixels_per_degree

    def magnification(self, positions: Any) -> np.ndarray:
        """M, [...] float64 in mm of cortex per degree, at positions [..., 2] in pixels."""
        return self.m0 / (self.degrees(positions) + self.e0)

    def linear_weight(self, positions: Any) -> np.ndarray:
        """M relative to the gaze, [...] float64 in (0, 1]: scales lengths, such as an error in pixels."""
        return self.e0 / (self.degrees(positions) + self.e0)

    def areal_weight(self, positions: Any) -> np.ndarray:
        """M squared relative to the gaze, [...] float64 in (0, 1]: scales densities, such as tokens per area."""
        return self.linear_weight(positions) ** 2

    def largest_linear_weight(self, rects: Any) -> np.ndarray:
        """The largest `linear_weight` within rectangles of pixels, [K] float64: that of the point nearest to the gaze.

        Never smaller for a rectangle that contains another.

        Parameters
        ----------
        rects : [K, 4] numbers, the first and last pixels x0, y0, x1, y1, which are included whole.
        """
        array = to_numpy(rects)
        if array.ndim != 2 or array.shape[1] != 4 or array.dtype.kind not in "iuf":
            what = f"rectangles must be numbers [K, 4], got {array.shape} of {array.dtype}"
            raise ArrayError(what, where="rects")
        nearest = np.clip(np.array(self.gaze), array[:, :2], array[:, 2:] + 1)
        return self.linear_weight(nearest)
