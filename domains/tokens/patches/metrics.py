"""Metrics of token hierarchies: what a patch leaves wrong, or what it is worth.

`AttributeGain` is a gain that the builder of a hierarchy already knows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.domains.tokens.context.context import TokenContext
from hra.errors import MetricError
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric


@dataclass(frozen=True)
class RelevanceError(ErrorMetric):
    """Squared reconstruction error of a patch's region, weighted by relevance.

    ``sum over real pixels of relevance (image - shown)**2 / sum of relevance``, where `shown` is the patch's level,
    brought to full resolution by average interpolation. All patches of a cut together give the relevance-weighted mean
    squared error of the reconstructed image, up to what interpolation gains or loses where levels meet.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> context = tokens.PyramidSampling().context(image, "what is at the top left?")
    >>> hierarchy = tokens.PyramidBuilder().build(context)
    >>> error = tokens.RelevanceError().evaluate(hierarchy, context)
    >>> error.shape, bool(error[hierarchy.node["level"] == 0].max() == 0)
    ((129,), True)
    """

    unit = "relevance-weighted mean squared error"

    def evaluate(self, hierarchy: Hierarchy, context: TokenContext) -> np.ndarray:
        """Error while the patch itself shows its region, float64 [N]."""
        if _has_tree(context):
            return hierarchy.attribute("error")
        return checked_context(context).node_errors[0][pyramid_numbers(hierarchy, context)]

    def inherited(self, hierarchy: Hierarchy, context: TokenContext) -> np.ndarray:
        """Error of the same region while its parent shows it, float64 [N]."""
        if _has_tree(context):
            return hierarchy.attribute("inherited_error")
        numbers = hierarchy.node.get("over")
        numbers = pyramid_numbers(hierarchy, context) if numbers is None else numbers
        return checked_context(context).node_errors[1][numbers]


@dataclass(frozen=True)
class RelevanceGain(ErrorMetric):
    """The relevance of a finest patch is what taking it gains (grid top-K).

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> context = tokens.PyramidSampling().context(image, "what is at the top left?")
    >>> gain = tokens.RelevanceGain().evaluate(tokens.GridBuilder().build(context), context)
    >>> np.allclose(gain, context.relevance.ravel())
    True
    """

    unit = "relevance"
    kind = "gain"

    def evaluate(self, hierarchy: Hierarchy, context: TokenContext) -> np.ndarray:
        """Relevance of every patch, float64 [N]; the hierarchy holds finest patches only."""
        return checked_context(context).relevance[hierarchy.node["y"], hierarchy.node["x"]]


def _has_tree(context: Any) -> bool:
    """Whether errors are those of a tree of boxes, which are not patches of one pyramid."""
    return checked_context(context).steps > 1 or context.small is not None


def checked_context(context: Any) -> TokenContext:
    """``context`` if it is one of images; :class:`MetricError` if not."""
    if not isinstance(context, TokenContext):
        fix = "allocate through a TokenAllocator, which makes it from an image and a query"
        raise MetricError("relevance is that of an image's patches", where=type(context).__name__, fix=fix)
    return context


def pyramid_numbers(hierarchy: Hierarchy, context: TokenContext) -> np.ndarray:
    """The pyramid's number of every node of the hierarchy, which may hold any of its patches."""
    level, x, y = hierarchy.node["level"], hierarchy.node["x"], hierarchy.node["y"]
    columns = np.array([columns for _, columns in context.pyramid.grids])
    return context.pyramid.offsets[level] + y * columns[level] + x


@dataclass(frozen=True)
class AttributeGain(ErrorMetric):
    """A node attribute is what adding the node gains.

    Parameters
    ----------
    attribute : name of the node attribute [N], >= 0.
    unit : of its values.
    additive : whether gains of different nodes add up; if not, no allocation claims a certificate.
    """

    attribute: str
    unit: str = "gain"
    additive: bool = False
    kind = "gain"

    def evaluate(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        """The attribute [N]."""
        return hierarchy.node[self.attribute]
