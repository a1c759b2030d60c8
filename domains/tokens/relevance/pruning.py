"""Relevance pruning: whole regions without relevance are dropped by one test of a max pyramid.

As a relevance of its own, regions in which nothing is relevant enough count as not relevant at all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.domains.tokens.context.context import Relevance, TokenContext
from hra.domains.tokens.context.scores import check_scorer, checked_scores
from hra.domains.tokens.relevance.together import prepare_all
from hra.errors import ArrayError, MetricError, check_kind
from hra.kernels import Pyramid, build_pyramid, rect_max
from hra.model.arrays import number_in, to_numpy, whole_in

# Patches along one side of the regions that are tested first.
_REGION = 16


def relevance_pyramid(relevance: Any) -> Pyramid:
    """The maximum pyramid of relevance maps [..., rows, columns], one entry per finest patch, down to a single cell.

    Raises
    ------
    MetricError : not maps of finite numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> pyramid = tokens.relevance_pyramid(np.arange(12.0).reshape(3, 4))
    >>> [level.shape for level in pyramid.levels]
    [(3, 4, 1), (2, 2, 1), (1, 1, 1)]
    """
    shape = np.shape(relevance)
    if len(shape) < 2:
        raise MetricError(f"the relevance has shape {shape}, expected [..., rows, columns]", where="relevance")
    rows = to_numpy(relevance).reshape(-1, shape[-1])
    scores = checked_scores(rows, rows.shape).astype(np.float32)
    return build_pyramid(scores.reshape(*shape, 1), reduce="max")


def prune(pyramid: Pyramid, boxes: np.ndarray, threshold: float, patch: int = 16) -> np.ndarray:
    """Which boxes may hold anything of at least ``threshold`` relevance.

    Conservative: a few cells of the pyramid are read, which may reach beyond the box, so that a relevant box is never
    dropped. Boxes of pyramid patches are met exactly. It is the look-up by which Hi-Z culls triangles.

    Parameters
    ----------
    pyramid : from `relevance_pyramid`, of one map.
    boxes : int [K, 4], pixels (x0, y0, x1, y1), end excluded.
    patch : side of a finest patch in pixels.

    Returns
    -------
    bool [K], True for boxes to keep.

    Raises
    ------
    ArrayError : other boxes. HraError : a side that is not a whole number of pixels from 1 on.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> pyramid = tokens.relevance_pyramid(np.eye(4))
    >>> tokens.prune(pyramid, np.array([[0, 0, 16, 16], [16, 0, 32, 16]]), threshold=0.5)
    array([ True, False])
    """
    boxes, patch = to_numpy(boxes), whole_in("patch", patch, range(1, 2**16))
    number_in("threshold", threshold, -math.inf, math.inf)
    if boxes.ndim != 2 or boxes.shape[1] != 4 or boxes.dtype.kind not in "iu":
        raise ArrayError(f"boxes must be whole numbers [K, 4], got {boxes.dtype} {list(boxes.shape)}", where="boxes")
    first, last = boxes[:, :2] // patch, (boxes[:, 2:] - 1) // patch
    cells = np.concatenate([first, last], axis=1).astype(np.int32)
    # What reaches beyond a box may be relevant where the box is not: where the answer is open, look closer.
    against = np.full(len(cells), threshold, np.float32)
    return np.asarray(rect_max(pyramid, cells, against=against)) >= against


def prune_patches(pyramid: Pyramid, threshold: float) -> np.ndarray:
    """Which finest patches hold at least ``threshold`` relevance, from coarse to fine.

    Regions of 16 x 16 patches are tested first, by one look-up each. Only where a region reaches the threshold, its
    patches are read.

    Parameters
    ----------
    pyramid : from `relevance_pyramid`, of any number of maps [..., rows, columns].

    Returns
    -------
    bool [..., rows, columns], True for patches to keep.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> tokens.prune_patches(tokens.relevance_pyramid(np.eye(3)), threshold=0.5).astype(int).tolist()
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    """
    check_kind("pyramid", pyramid, Pyramid, "pass what tokens.relevance_pyramid(relevance) returned")
    number_in("threshold", threshold, -math.inf, math.inf)
    rows, columns = pyramid.layout.sizes[0]
    scores = np.asarray(pyramid.levels[0]).reshape(-1, rows, columns)
    padded = np.pad(scores, [(0, 0), (0, -rows % _REGION), (0, -columns % _REGION)])
    keep = np.zeros(padded.shape, np.bool_)
    relevant = _relevant_regions(pyramid, threshold)
    _by_region(keep)[relevant] = _by_region(padded)[relevant] >= np.float32(threshold)
    return keep[:, :rows, :columns].reshape(*pyramid.layout.batch, rows, columns)


def _relevant_regions(pyramid: Pyramid, threshold: float) -> np.ndarray:
    """Which regions [maps, down, across] may hold a relevant patch."""
    rows, columns = pyramid.layout.sizes[0]
    shape = pyramid.layout.images, -(-rows // _REGION), -(-columns // _REGION)
    image, down, across = np.indices(shape, np.int32).reshape(3, -1)
    y, x = down * _REGION, across * _REGION
    cells = np.stack([x, y, x + (_REGION - 1), y + (_REGION - 1)], axis=1)
    return (np.asarray(rect_max(pyramid, cells, image)) >= np.float32(threshold)).reshape(shape)


def _by_region(patches: np.ndarray) -> np.ndarray:
    """Patches [maps, rows, columns] as a view [maps, down, across, 16, 16]."""
    maps, rows, columns = patches.shape
    return patches.reshape(maps, rows // _REGION, _REGION, columns // _REGION, _REGION).swapaxes(2, 3)


@dataclass(frozen=True)
class PrunedRelevance:
    """Another relevance, with 0 for what the test of its max pyramid drops.

    The test is exact: it keeps the patches of at least ``threshold``, whatever the order of its steps. Where it drops
    every patch, an allocator falls back to uniform relevance, as for any map of zeros.

    Parameters
    ----------
    relevance : see `Relevance`; scores below the threshold count as 0, whatever their sign.
    threshold : least relevance to keep, in the unit of ``relevance``, > 0.

    Raises
    ------
    MetricError : a threshold that is not a finite number above 0.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> context = tokens.TokenContext.of(image, "what is at the top left?")
    >>> relevance = tokens.PrunedRelevance(tokens.CueRelevance(), threshold=0.3)(context)
    >>> relevance.shape, bool(((relevance == 0) | (relevance >= 0.3)).all())
    ((8, 12), True)
    """

    relevance: Relevance
    threshold: float

    def __post_init__(self) -> None:
        check_scorer(self.relevance)
        number_in("threshold", self.threshold, 0, math.inf, MetricError, ends=False)

    def prepare(self, contexts: Sequence[TokenContext]) -> None:
        """Let the other relevance see many images at once, see `together`."""
        prepare_all(self.relevance, contexts)

    def __call__(self, context: TokenContext) -> np.ndarray:
        """Relevance [ceil(H/patch), ceil(W/patch)], float64, >= 0."""
        scores = np.maximum(
            checked_scores(self.relevance(context), context.grid, context.cover), 0
        )  # below the threshold anyway
        return np.where(prune_patches(relevance_pyramid(scores), self.threshold), scores, 0)
