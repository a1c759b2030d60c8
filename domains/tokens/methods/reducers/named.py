"""Published reducers by name. Each meets any budget exactly; what differs from paper and public code is said of each.

>>> from hra.domains import tokens
>>> sorted(tokens.REDUCERS)[:3]
['cdpruner', 'divprune', 'evs']
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np

from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.context.context import Relevance, TokenContext, UniformRelevance
from hra.domains.tokens.embedding.feature_grid import checked_grid
from hra.domains.tokens.methods.reducers.bipartite_regions import BipartiteRegions, MergeOrder, MergeTreeBuilder
from hra.domains.tokens.methods.reducers.merges import Clustered, Contextual, KeyNeighbours, Nearest
from hra.domains.tokens.methods.reducers.reducer import Reducer
from hra.domains.tokens.patches.builders import GridBuilder
from hra.domains.tokens.patches.metrics import RelevanceGain
from hra.errors import ArrayError, check_choice
from hra.model.arrays import COUNTS, number_in, to_numpy, whole_in, whole_number
from hra.solvers.apportionment import largest_remainder
from hra.solvers.picking.density_peaks import DensityPeaks
from hra.solvers.picking.determinant import Determinant
from hra.solvers.picking.farthest import Farthest
from hra.solvers.picking.picker import Bands, Changed, Strided, Top, Windows
from hra.traversals.hull import Hull


@dataclass(frozen=True)
class PredictedRelevance:
    """How far each finest patch is from what the patches before it predict: the largest difference of a pixel.

    The prediction is the patch on the left, or the one above where the patch above left is like the left one and unlike
    the one above: an edge goes down there. In the first row it is the one on the left, in the first column the one
    above, and the first patch is not predicted and counts 1. A patch of 0 is a duplicate, and nothing is lost without
    it.

    Source: PixelPrune (arXiv 2604.00886), the predictor of LOCO-I (M. J. Weinberger et al., 2000) for whole patches.
    """

    in_threads: ClassVar[bool] = True

    def __call__(self, context: TokenContext) -> np.ndarray:
        """[rows, columns] in [0, 1], float32."""
        pyramid = context.pyramid
        whole = pyramid.values(pyramid.positions[: pyramid.offsets[1]]).reshape(*context.grid, -1)
        predicted = np.zeros_like(whole)
        predicted[0, 1:], predicted[1:, 0] = whole[0, :-1], whole[:-1, 0]
        left, above, corner = whole[1:, :-1], whole[:-1, 1:], whole[:-1, :-1]
        edge = (corner == left).all(axis=2) & (corner != above).any(axis=2)
        predicted[1:, 1:] = np.where(edge[..., None], above, left)
        far = np.abs(whole - predicted).max(axis=2)
        far[0, 0] = 1
        return far


def divprune(*, patch: int = 16) -> Reducer:
    """DivPrune: the cells that are farthest from each other, whatever is asked.

    S. R. Alvar et al. (CVPR 2025). As the public code.
    """
    return Reducer([(1, Farthest())], relevance=UniformRelevance(), patch=patch)


def cdpruner(relevance: Relevance | None = None, *, patch: int = 16) -> Reducer:
    """CDPruner: the cells of greatest determinant, relevant and unlike each other.

    Q. Zhang et al. (2025). As the public code, where the relevance is the min-max of minus the mean cosine.
    """
    return Reducer([(1, Determinant())], reads="text", relevance=relevance, patch=patch)


def visionzip(relevance: Relevance | None = None, *, patch: int = 16) -> Reducer:
    """VisionZip: the cells of most attention, and every n-th of the rest with the mean of all others like it.

    S. Yang et al. (CVPR 2025). 54 and 10 of 64 as in the paper, in these shares for any budget; the class token is not
    kept, which its code counts beside the budget.
    """
    rules = [(54.0, Top()), (10.0, Strided())]
    return Reducer(rules, Contextual((54.0, 10.0)), reads="attention", features=False, relevance=relevance, patch=patch)


def prumerge(relevance: Relevance | None = None, *, reads: str = "joint", patch: int = 16) -> Reducer:
    """PruMerge+: cells of outstanding attention and an even third, each with the cells most like it.

    Y. Shang et al. (2024). Like the public code it reads the last layer with one softmax over all heads together; the
    attention of VisionZip and HiRED (next-to-last layer, the mean of heads) is ``reads="attention"``. The count is
    given instead of found by outliers; 1 to 3 is what its re-tests use for 64 tokens. The one further token that sums
    up all the rest is left out, since it has no place.
    """
    rules = [(1.0, Top()), (3.0, Strided())]
    return Reducer(rules, KeyNeighbours(), reads=reads, features=False, relevance=relevance, patch=patch)


def hired(relevance: Relevance | None = None, *, patch: int = 16) -> Reducer:
    """HiRED: the cells of most attention; the budget of each tile follows from the first layer, see `hired_budgets`.

    K. H. I. Arif et al. (AAAI 2025). As the public code.
    """
    return Reducer([(1, Top())], reads="attention", features=False, relevance=relevance, patch=patch)


def vscan(relevance: Relevance | None = None, *, patch: int = 16) -> Reducer:
    """VScan: half by a shallow layer's attention in windows of 6 x 6, half by a deep one's; the rest is averaged.

    C. Zhang et al. (2025). Its second stage is `hra.integrations.transformers.INSIDE`.
    """
    rules = [(1.0, Windows("shallow")), (1.0, Top())]
    options: Any = {"reads": "attention", "signals": ("shallow",), "features": False}
    return Reducer(rules, Nearest(), **options, relevance=relevance, patch=patch)


def sparsevlm(relevance: Relevance | None = None, *, patch: int = 16) -> Reducer:
    """SparseVLM: the cells that the question attends to, and every n-th of the rest with what is like it.

    Y. Zhang et al. (ICML 2025). At one place instead of three layers, 30 % recycled as there; the recycled ones are
    spread evenly instead of by density.
    """
    rules = [(0.7, Top()), (0.3, Strided())]
    return Reducer(rules, Contextual((0.7, 0.3)), reads="language", features=False, relevance=relevance, patch=patch)


def fastv(relevance: Relevance | None = None, *, patch: int = 16) -> Reducer:
    """FastV: the cells that the last token attends to in an early layer of the language model.

    L. Chen et al. (ECCV 2024). The first layers run once more for the choice, so that the model itself stays as it is:
    what is dropped never enters it.
    """
    return Reducer([(1, Top())], reads="language", features=False, relevance=relevance, patch=patch)


def tome(*, patch: int = 16) -> TokenAllocator[Any]:
    """ToMe: cells merged in rounds of bipartite matching, the closest first.

    D. Bolya et al. (ICLR 2023). On the encoder's output instead of in its layers.
    """
    builder = MergeTreeBuilder(BipartiteRegions())
    traversal, even = Hull(spend_all=True), UniformRelevance()
    return TokenAllocator(builder, MergeOrder(), traversal, relevance=even, patch=patch, levels=1)


def holov(relevance: Relevance | None = None, *, patch: int = 16) -> Reducer:
    """HoloV: 16 runs of cells share the count by their mean attention, and keep their cells of most attention.

    X. Zou et al. (NeurIPS 2025). As the public code: there the variance of similarities, the paper's second term, is
    scaled to the run's mean attention before it is averaged over the run, so that it is a factor that all runs share
    and decides nothing. Counts that a run has no room for go to the others instead of becoming zeros.
    """
    return Reducer([(1, Bands())], reads="attention", features=False, relevance=relevance, patch=patch)


def flowcut(relevance: Relevance | None = None, *, patch: int = 16) -> Reducer:
    """FlowCut: the cells of most attention and likeness to the class token, times their size, over all layers.

    J. Tong et al. (2025). The public code drops cells in every second layer of the encoder, by these scores so
    far; here the encoder runs whole, and the scores of its layers, each half of what came before, decide at the end.
    """
    return Reducer([(1, Top())], reads="flow", features=False, relevance=relevance, patch=patch)


def prunevid(*, patch: int = 16) -> Reducer:
    """PruneVid: clusters of cells around dense ones, each as its mean; over the frames of a video, `prunevid_frames`.

    X. Huang et al. (2024). The count is given instead of half the cells. Its second stage, within the language model,
    is not run.
    """
    return Reducer([(1, DensityPeaks())], Clustered(), relevance=UniformRelevance(), patch=patch)


def evs(*, patch: int = 16) -> Reducer:
    """EVS: of a video the first frame, then the cells that changed most since the frame before; of a picture the first.

    N. Bagrov et al., "Efficient Video Sampling" (arXiv 2510.14624). The count is given instead of the share that goes.
    """
    return Reducer([(1, Changed())], relevance=UniformRelevance(), patch=patch)


def reads_features(allocator: TokenAllocator[Any]) -> bool:
    """Whether an allocator chooses by a model's features and attention and looks at no pixels."""
    return isinstance(allocator, Reducer) or isinstance(allocator.builder, MergeTreeBuilder)


def pixelprune(*, patch: int = 16) -> TokenAllocator[Any]:
    """PixelPrune: the patches that their neighbours predict worst; those that they predict exactly come last.

    arXiv 2604.00886. There a threshold decides, here the count: with as many tokens as there are patches without a
    duplicate nothing is lost. It looks at pixels alone and could choose before the encoder, which runs whole here. Give
    it the model's own patch (28 for Qwen2.5-VL), or resizing makes duplicates differ.
    """
    traversal = Hull(spend_all=True)
    return TokenAllocator(
        GridBuilder(), RelevanceGain(), traversal, relevance=PredictedRelevance(), patch=patch, levels=1
    )


REDUCERS: Mapping[str, Callable[..., TokenAllocator[Any]]] = MappingProxyType(
    {
        "divprune": divprune,
        "cdpruner": cdpruner,
        "visionzip": visionzip,
        "prumerge": prumerge,
        "hired": hired,
        "vscan": vscan,
        "sparsevlm": sparsevlm,
        "fastv": fastv,
        "tome": tome,
        "holov": holov,
        "flowcut": flowcut,
        "prunevid": prunevid,
        "evs": evs,
        "pixelprune": pixelprune,
    }
)
"""Name to composition; by the same names they are methods of the command line."""


def hired_budgets(
    attention: Any,
    tiles: tuple[int, int],
    total: int,
    *,
    overview: float = 0.5,
    by: Literal["cells", "attention"] = "cells",
    cells: int | None = None,
) -> list[int]:
    """Tokens of the overview and of each tile, by what the tile's part of the overview is worth.

    Source: K. H. I. Arif et al., "HiRED: attention-guided token dropping for efficient inference of high-resolution
    vision-language models" (AAAI 2025): the class token's attention in the first layer; the overview gets its share
    before. As in the public code a part is worth the number of its cells among the most attended ones. That code
    cuts the flat list of cells into as many runs, which with several columns of tiles are bands of the overview and
    not the tiles' parts; here they are the parts. Shares are rounded to add up, where it rounds down.

    Parameters
    ----------
    attention : [h, w] of the overview, >= 0.
    tiles : (rows, columns) of tiles that the processor cut.
    total : tokens of the whole image.
    overview : share of the overview; one minus this share of its cells counts as the most attended ones.
    by : "attention" sums up the attention of a part instead.
    cells : the most that the overview or a tile can have.

    Returns
    -------
    The overview's count, then those of the tiles row by row; they add up to ``total`` where the cells are enough.

    Raises
    ------
    ArrayError : attention of another shape, negative or not finite; a total, a share or a number of tiles that is none.

    Examples
    --------
    >>> from hra.domains import tokens
    >>> tokens.hired_budgets([[3, 1], [0, 4]], tiles=(2, 2), total=32)
    [16, 8, 0, 0, 8]
    >>> tokens.hired_budgets([[3, 1], [0, 4]], tiles=(2, 2), total=32, by="attention")
    [16, 6, 2, 0, 8]
    """
    worth, count = to_numpy(attention).astype(np.float64), whole_number(total)
    if worth.ndim != 2 or not worth.size:
        what = f"attention has the shape {list(worth.shape)}"
        raise ArrayError(what, where="attention", fix="pass [h, w], of the overview")
    if count is None:
        raise ArrayError(f"a total of {total!r} tokens", where="total", fix="pass a whole number of tokens")
    overview = number_in("overview", overview, 0, 1, ArrayError)
    total, (down, across) = count, checked_grid(tiles, "tiles")
    check_choice("by", by, ("cells", "attention"), ArrayError)
    if not np.isfinite(worth).all() or (worth < 0).any():
        raise ArrayError("attention is negative or not finite", where="attention", fix="pass the encoder's attention")
    if by == "cells":
        best = np.argsort(-worth.ravel(), kind="stable")[: int(worth.size * (1 - overview))]
        worth = np.isin(np.arange(worth.size), best).astype(np.float64).reshape(worth.shape)
    rows = np.array_split(worth, down, axis=0)
    sums = np.array([part.sum() for row in rows for part in np.array_split(row, across, axis=1)])
    most = total if cells is None else whole_in("cells", cells, COUNTS, ArrayError)
    first = min(int(total * overview), most)
    rest = min(total - first, most * len(sums))
    return [first, *largest_remainder(sums, rest, np.full(len(sums), most), minimum=0).tolist()]
