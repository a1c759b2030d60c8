"""Feedback: which texture pages the pixels of a view touch, and at which mip level they want them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from hra.errors import MetricError, check_function
from hra.model.arrays import is_number, to_numpy
from hra.model.short_repr import ShortRepr


@dataclass(frozen=True, eq=False, repr=False)
class Feedback(ShortRepr):
    """Samples of a view, as a feedback buffer of a virtual texture holds them.

    Arrays of other dtypes, and of other libraries, are converted.

    Attributes
    ----------
    page : int32 [n], node of the finest page at each sample, or of any coarser one down to the wanted level: an engine
        whose buffer holds the wanted pages themselves gives these, with ``2 ** level`` as footprint.
    footprint : float32 [n], texels of level 0 across one pixel, >= 1; the wanted mip level is its log2.
    pixels : float32 [n], area of the viewport that the sample stands for.
    viewport_pixels : area of the viewport.
    position : float32 [n, 2], column and row of the sample in pixels from the upper left; None if not recorded.
    weight : float32 [n], by which squared errors are multiplied; None is 1 (see `WeightedFeedback`).

    Raises
    ------
    MetricError : arrays of other lengths, pages that are not whole numbers, footprints below 1, areas or weights
        below 0, anything that is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains.textures import Feedback
    >>> seen = Feedback(np.array([3, 5]), footprint=np.array([1.0, 4.0]), pixels=np.array([6, 2]), viewport_pixels=8)
    >>> seen.wanted_level.tolist()
    [0.0, 2.0]
    """

    page: np.ndarray
    footprint: np.ndarray
    pixels: np.ndarray
    viewport_pixels: float
    position: np.ndarray | None = None
    weight: np.ndarray | None = None

    def __post_init__(self) -> None:
        page = to_numpy(self.page)
        if page.ndim == 1 and not page.size:
            page = page.astype(np.int32)  # an empty list has no kind
        if page.ndim != 1 or page.dtype.kind not in "iu" or (page != page.astype(np.int32, copy=False)).any():
            raise MetricError("pages must be whole numbers [n] below 2**31", where=f"page {page.dtype} {page.shape}")
        object.__setattr__(self, "page", page.astype(np.int32, copy=False))
        for name, least in (("footprint", 1.0), ("pixels", 0.0), ("position", -np.inf), ("weight", 0.0)):
            if getattr(self, name) is not None or name in ("footprint", "pixels"):
                shape = (page.size, 2) if name == "position" else page.shape
                object.__setattr__(self, name, _check(name, getattr(self, name), least, shape))
        if not (is_number(self.viewport_pixels) and 0 < self.viewport_pixels < np.inf):
            fix = "pass width * height of the viewport"
            raise MetricError(f"a viewport of {self.viewport_pixels!r} pixels", where="viewport_pixels", fix=fix)

    @property
    def wanted_level(self) -> np.ndarray:
        """The mip level whose texels are as large as a pixel, float32 [n], 0 where level 0 is magnified."""
        return np.log2(self.footprint)

    @property
    def weighted_pixels(self) -> np.ndarray:
        """``pixels`` times ``weight``, float32 [n]."""
        return self.pixels if self.weight is None else self.pixels * self.weight


def _check(name: str, values: Any, least: float, shape: tuple[int, ...]) -> np.ndarray:
    """``values`` as float32, finite and at least ``least``; compiled loops index by the shape without checks."""
    array = to_numpy(values)
    if array.shape != shape or array.dtype.kind not in "iuf":
        raise MetricError(f"{name} is {array.dtype} {list(array.shape)}, expected numbers {list(shape)}", where=name)
    array = array.astype(np.float32, copy=False)
    bad = ~(np.isfinite(array) & (array >= least))
    if bad.any():
        raise MetricError(f"{name} is {array[bad][0]}", where=name, fix=f"use finite numbers of at least {least:g}")
    return array


class FeedbackSource(Protocol):
    """What can tell the feedback of a view: ray casts, a rendered feedback buffer, a recording.

    Examples
    --------
    >>> import numpy as np
    >>> from hra import Camera
    >>> from hra.domains.textures import Feedback, TextureAllocator, TextureSet, TiledTexture
    >>> class Recorded:
    ...     def observe(self, camera):
    ...         return Feedback(np.array([3]), np.array([1.0]), np.array([500]), viewport_pixels=500)
    >>> textures = TextureSet([TiledTexture.from_image(np.zeros((256, 256, 3), np.uint8))])
    >>> TextureAllocator(textures, Recorded()).allocate(Camera.perspective((0, 1, 0), (0, 0, 1)), float("inf")).cut
    array([0, 3])
    """

    def observe(self, camera: Any) -> Feedback:
        """The feedback of the view of ``camera``."""
        ...


def check_source(name: str, source: Any) -> None:
    """Raise HraError unless the argument ``name`` observes cameras."""
    observe = None if isinstance(source, type) else getattr(source, "observe", None)
    check_function(f"{name}.observe", observe, "pass an object with observe(camera), such as AnalyticFeedback(scene)")
