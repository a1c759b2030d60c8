"""Coverage: which part of an image tokens show, and how finely."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.pyramid.blocks import cell_labels
from hra.domains.tokens.token_sets.token_set import TokenSet
from hra.errors import ArrayError, check_kind

_CELLS = (8, 8)


@dataclass(frozen=True)
class Coverage:
    """What tokens show of a region.

    Attributes
    ----------
    area : share of the pixels that some token shows.
    relevance : the same with every pixel weighted by its relevance.
    mean_detail : mean over the shown pixels of the level that shows them, see `TokenSet.detail`; inf if none is shown.
    relevant_detail : the same, weighted by relevance.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.PyramidSampling()
    >>> context = allocator.context(image, "what is at the top left?")
    >>> chosen = allocator.realize(allocator.allocate(context, budget=20))
    >>> tokens.coverage(chosen, context).area
    1.0
    """

    area: float
    relevance: float
    mean_detail: float
    relevant_detail: float


def coverage(tokens: TokenSet, context: TokenContext, region: np.ndarray | None = None) -> Coverage:
    """How much of an image, or of a ``region`` of it, tokens show.

    Parameters
    ----------
    context : of the same image; its relevance is what counts.
    region : bool [H, W] with at least one pixel; None for the whole image.

    Raises
    ------
    ArrayError : a region or a context of another size, or an empty region.
    HraError : no tokens, or no context.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.GridTopK()
    >>> context = allocator.context(image, "what is at the top left?")
    >>> quarter = allocator.realize(allocator.allocate(context, budget=24))
    >>> tokens.coverage(quarter, context).area
    0.25
    """
    check_kind("tokens", tokens, TokenSet, "pass what realize(allocation) returned")
    check_kind("context", context, TokenContext, "pass allocator.context(image, query)")
    detail, weight = _shown(tokens, context), pixel_relevance(context)
    if region is not None:
        detail, weight = (values[_check(region, detail.shape)] for values in (detail, weight))
    shown = np.isfinite(detail)
    even = np.ones_like(weight)
    weight = weight if weight.any() else even
    return Coverage(
        area=float(shown.mean()),
        relevance=float(weight[shown].sum() / weight.sum()),
        mean_detail=_mean(detail[shown], even[shown]),
        relevant_detail=_mean(detail[shown], weight[shown]),
    )


def coverage_by_region(tokens: TokenSet, context: TokenContext, regions: np.ndarray) -> dict[int, Coverage]:
    """The coverage of every region of a label map int [H, W]: query target, surroundings and periphery, for example.

    Raises
    ------
    ArrayError : a label map or a context of another size.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.PyramidSampling()
    >>> context = allocator.context(image, "what is at the top left?")
    >>> chosen = allocator.realize(allocator.allocate(context, budget=20))
    >>> halves = np.repeat([[0, 1]], 128, axis=0).repeat(96, axis=1)
    >>> {label: found.area for label, found in tokens.coverage_by_region(chosen, context, halves).items()}
    {0: 1.0, 1: 1.0}
    """
    labels = np.unique(regions).tolist()
    return {label: coverage(tokens, context, np.asarray(regions) == label) for label in labels}


def empty_cells(tokens: TokenSet) -> int:
    """How many cells of an 8 x 8 grid over the image no token shows any pixel of; small images have fewer cells.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.PyramidSampling()
    >>> context = allocator.context(image, "what is at the top left?")
    >>> chosen = allocator.realize(allocator.allocate(context, budget=20))
    >>> tokens.empty_cells(chosen)
    0
    """
    check_kind("tokens", tokens, TokenSet, "pass what realize(allocation) returned")
    shown = tokens.token_map() >= 0
    return int(np.count_nonzero(np.bincount(cell_labels(shown.shape, _CELLS).ravel(), shown.ravel()) == 0))


def pixel_relevance(context: TokenContext) -> np.ndarray:
    """Relevance of every pixel, that of its finest patch: float64 [H, W]."""
    height, width = context.pyramid.image.shape[:2]
    patch = context.pyramid.patch
    return context.relevance.repeat(patch, axis=0)[:height].repeat(patch, axis=1)[:, :width]


def _shown(tokens: TokenSet, context: TokenContext) -> np.ndarray:
    detail, size = tokens.shown_detail(), context.pyramid.image.shape[:2]
    if detail.shape != size:
        raise ArrayError(f"tokens of an image of {detail.shape}, but a context of one of {size}", where="context")
    return detail


def _check(region: np.ndarray, size: tuple[int, ...]) -> np.ndarray:
    region = np.asarray(region, bool)
    if region.shape != size:
        raise ArrayError(f"a region of {region.shape} in an image of {size}", where="region")
    if not region.any():
        raise ArrayError("the region has no pixel", where="region")
    return region


def _mean(values: np.ndarray, weights: np.ndarray) -> float:
    return float(np.average(values, weights=weights)) if weights.any() else float("inf")
