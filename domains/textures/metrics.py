"""Error of texture pages on the screen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from hra.compiling import njit
from hra.domains.textures.feedback.feedback import Feedback
from hra.domains.textures.pages import page_parents
from hra.errors import MetricError
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric


@dataclass(frozen=True, eq=False)
class TexelError(ErrorMetric):
    """Squared screen displacement of texels that are larger than a pixel, averaged over the viewport's pixels.

    Where a pixel wants mip level w and level m is shown, a texel is ``2 ** (m - w)`` pixels wide, so that detail lies
    up to ``max(0, 2 ** (m - w) - 1) / 2`` pixels beside its place. A page's error is the square of that, summed over
    the pixels that show its region, times their weights if the feedback has any. The unit is that of the meshes' screen
    error: both may share one pool.

    The context is a `Feedback`; a `TextureAllocator` observes it from the camera, once for all parts of a metric.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains.textures import Feedback, TexelError, TextureSet, TiledTexture
    >>> textures = TextureSet([TiledTexture.from_image(np.zeros((256, 256, 3), np.uint8))])
    >>> half = Feedback(page=np.array([1]), footprint=np.array([1.0]), pixels=np.array([50]), viewport_pixels=100)
    >>> TexelError().evaluate(textures.hierarchy, half)
    array([0.125, 0.   , 0.   , 0.   , 0.   ])
    """

    unit: str = "px2"
    kind: Literal["error", "gain"] = "error"
    additive: bool = True

    def evaluate(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        """Error of every page's region shown at the page's own level, float64 [N], px2."""
        return _sum_up(hierarchy, context, hierarchy.attribute("level"))

    def inherited(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        """Error of every page's region shown at its parent's level, float64 [N], px2."""
        return _sum_up(hierarchy, context, _parent_levels(hierarchy))

    def peak(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        """Largest displacement of any pixel in every page's region shown at the page's own level, float64 [N], px."""
        return _largest(hierarchy, context, hierarchy.attribute("level"))

    def inherited_peak(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        """The same for every page's region shown at its parent's level, float64 [N], px."""
        return _largest(hierarchy, context, _parent_levels(hierarchy))


def _parent_levels(hierarchy: Hierarchy) -> np.ndarray:
    """Level of every page's parent, its own for roots [N]."""
    level, parent = hierarchy.attribute("level"), page_parents(hierarchy)
    return np.where(parent < 0, level, level[parent])


def _largest(hierarchy: Hierarchy, context: Any, level: np.ndarray) -> np.ndarray:
    """Largest displacement in px when every page's region is shown at ``level`` [N]; 0 where no pixel shows it."""
    feedback, largest = checked_feedback(hierarchy, context), np.zeros(hierarchy.node_cost.size)
    texel = np.exp2(level).astype(np.float64)
    # A weight of squared displacements scales the displacements themselves by its root.
    scale = np.ones_like(feedback.footprint) if feedback.weight is None else np.sqrt(feedback.weight)
    _raise_to_largest(feedback.page, feedback.footprint, scale, page_parents(hierarchy), texel, largest)
    return largest


def _sum_up(hierarchy: Hierarchy, context: Any, level: np.ndarray) -> np.ndarray:
    feedback, error = checked_feedback(hierarchy, context), np.zeros(hierarchy.node_cost.size)
    texel = np.exp2(level).astype(np.float64)
    _sum_errors(feedback.page, feedback.footprint, feedback.weighted_pixels, page_parents(hierarchy), texel, error)
    return error / feedback.viewport_pixels


def checked_feedback(hierarchy: Hierarchy, context: Any) -> Feedback:
    """``context`` if it is feedback of the pages of ``hierarchy``; :class:`MetricError` if not."""
    if not isinstance(context, Feedback):
        fix = "allocate through a TextureAllocator, which observes the camera"
        raise MetricError("texture errors are measured from feedback", where=type(context).__name__, fix=fix)
    # The compiled loops index without checks, and recorded feedback may be that of other textures.
    low, high = context.page.min(initial=0), context.page.max(initial=-1)
    if low < 0 or high >= hierarchy.node_cost.size:
        raise MetricError(f"feedback of pages {low} .. {high}, but there are {hierarchy.node_cost.size}", where="page")
    return context


@njit(cache=True)
def _sum_errors(page, footprint, pixels, parent, texel, error):
    """Add every sample's squared displacement to its finest page and to all pages above that one."""
    for i in range(page.size):
        scale = 1.0 / footprint[i]
        node = page[i]
        while node >= 0:
            excess = texel[node] * scale - 1.0
            if excess > 0:
                error[node] += pixels[i] * (0.25 * excess * excess)
            node = parent[node]


@njit(cache=True)
def _raise_to_largest(page, footprint, scale, parent, texel, largest):
    """Raise ``largest`` to the scaled displacement of every sample, at its finest page and all pages above that one."""
    for i in range(page.size):
        node = page[i]
        while node >= 0:
            displacement = 0.5 * (texel[node] / footprint[i] - 1.0) * scale[i]
            if displacement > largest[node]:
                largest[node] = displacement
            node = parent[node]
