"""How much each place on a screen matters: attention, saliency or gaze maps as weights of what appears there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from hra.errors import ArrayError
from hra.kernels import Pyramid, build_pyramid, rect_max
from hra.model.arrays import frozen, to_numpy


@final
@dataclass(frozen=True, eq=False)
class ImportanceMap:
    """A map of weights that is stretched over the viewport, such as an attention, a saliency or a gaze map.

    A place of weight 0 does not count at all, and one of weight 1 as it would without a map.

    Parameters
    ----------
    values : finite numbers >= 0 [H, W], of any size; row 0 on top. Kept as float32.

    Raises
    ------
    ArrayError : other values.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.camera import ImportanceMap
    >>> left_counts = ImportanceMap(np.array([[1.0, 0.1]]))
    >>> left_counts.largest(np.array([[0, 0, 99, 99], [700, 0, 799, 599]]), viewport=(800, 600)).round(3).tolist()
    [1.0, 0.1]
    """

    values: np.ndarray

    def __post_init__(self) -> None:
        given = to_numpy(self.values)
        if given.ndim != 2 or given.size == 0 or given.dtype.kind not in "biuf":
            raise ArrayError(f"a map must be numbers [H, W], got {given.dtype} {given.shape}", where="values")
        with np.errstate(over="ignore"):
            values = np.array(given, np.float32)
        if not (np.isfinite(values) & (values >= 0)).all():
            raise ArrayError("a map has values that are negative or not finite", where="values", fix="clip it at 0")
        object.__setattr__(self, "values", frozen(values))

    def largest(self, rects: Any, viewport: tuple[int, int]) -> np.ndarray:
        """An upper bound of the map within rectangles of the screen, [K] float64, by `hra.kernels.rect_max`.

        It is the maximum where a rectangle touches at most 2 x 2 of the map's values, and never smaller for a rectangle
        that contains another. 0 for empty rectangles.

        Parameters
        ----------
        rects : [K, 4] int32, the first and last pixels x0, y0, x1, y1, which are included whole.
        viewport : (width, height) in pixels.
        """
        corners = np.asarray(rects).astype(np.int64)
        size = np.array(self.values.shape[::-1])
        touched = np.empty(corners.shape, np.int32)
        touched[:, :2] = corners[:, :2] * size // viewport
        touched[:, 2:] = ((corners[:, 2:] + 1) * size - 1) // viewport
        # Stretched, an empty rectangle might touch the value that it begins in.
        touched[(corners[:, 2:] < corners[:, :2]).any(axis=1)] = (0, 0, -1, -1)
        return np.maximum(np.asarray(rect_max(self._pyramid, touched), np.float64), 0.0)

    @cached_property
    def _pyramid(self) -> Pyramid:
        return build_pyramid(self.values[..., None], "max")
