"""Published reducers by name. Each meets any budget exactly; what differs from paper and public code is said of each.

>>> from hra.domains import tokens
>>> sorted(tokens.REDUCERS)[:3]
['cdpruner', 'divprune', 'fastv']
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.methods.reducers.bipartite_regions import BipartiteRegions, MergeOrder, MergeTreeBuilder
from hra.domains.tokens.methods.reducers.merges import Clustered, Contextual, KeyNeighbours, Nearest
from hra.domains.tokens.methods.reducers.predicted import PredictedRelevance
from hra.domains.tokens.methods.reducers.reducer import Reducer
from hra.domains.tokens.patches.builders import GridBuilder
from hra.domains.tokens.patches.metrics import RelevanceGain
from hra.domains.tokens.relevance.base import Relevance
from hra.domains.tokens.relevance.uniform import UniformRelevance
from hra.solvers.picking.density_peaks import DensityPeaks
from hra.solvers.picking.determinant import Determinant
from hra.solvers.picking.farthest import Farthest
from hra.solvers.picking.picker import Bands, Strided, Top, Windows
from hra.traversals.hull import Hull


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


def prumerge(relevance: Relevance | None = None, *, patch: int = 16) -> Reducer:
    """PruMerge+: cells of outstanding attention and an even third, each with the cells most like it.

    Y. Shang et al. (2024). The count is given instead of found by outliers; 1 to 3 is what its re-tests use for 64
    tokens. The one further token that sums up all the rest is left out, for it has no place.
    """
    rules = [(1.0, Top()), (3.0, Strided())]
    return Reducer(rules, KeyNeighbours(), reads="attention", features=False, relevance=relevance, patch=patch)


def hired(relevance: Relevance | None = None, *, patch: int = 16) -> Reducer:
    """HiRED: the cells of most attention; the budget of each tile follows from the first layer, see `hired_budgets`.

    K. H. I. Arif et al. (AAAI 2025).
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
        "pixelprune": pixelprune,
    }
)
"""Name to composition; by the same names they are methods of the command line."""
