"""The allocator of visual tokens: an image and a query in, a token set out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from typing import Any, Generic

import numpy as np

from hra.allocating.allocation import Allocation
from hra.allocating.allocator import HierarchicalResourceAllocator
from hra.domains.tokens.context.context import EachFrame, Relevance, TokenContext, UniformRelevance
from hra.domains.tokens.context.scores import check_scorer
from hra.domains.tokens.context.token_builder import Choice, DirectBuilder, TokenBuilder, Tokens
from hra.domains.tokens.embedding.features import Encoder
from hra.domains.tokens.embedding.pictures import load_if_path, stacked
from hra.domains.tokens.patches.metrics import RelevanceError
from hra.domains.tokens.pyramid.pyramid import PatchPyramid, checked_sizes
from hra.domains.tokens.relevance.cues import CueRelevance
from hra.domains.tokens.relevance.together import prepare_all, runs_in_threads
from hra.errors import ArrayError, HierarchyError, HraError, check_function, check_kind, wrong_kind
from hra.kernels.row_blocks import for_each
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric
from hra.model.problem import Problem, check_budget
from hra.traversals.base import Traversal
from hra.traversals.hull import Hull

_IMAGE_BYTES = 2**22  # of an image that is worth a thread
_IN_TIME = "use PyramidSampling, FoveatedPyramid, GridTopK, UniformGrid, Random or a reducer"
_PLAIN = Hull(spend_all=True)
_TOGETHER = 16  # images whose relevance may come from one call

StandIn = Callable[[TokenContext, float], "TokenAllocator[Any] | None"]
"""(context, budget) -> what allocates that budget in place of this allocator; None where it does so itself."""

Steps = Callable[[TokenContext, float, Allocation | None, Any], Allocation]
"""(context, budget, previous, pinned) -> the allocation, where it takes more than one solve."""

Gazes = Callable[[TokenContext, ErrorMetric | None, np.ndarray], "np.ndarray | None"]
"""(context, metric, cut) -> where was looked when each token was taken, float64 [K, 2], see `TokenSet`; or None."""


class TokenAllocator(HierarchicalResourceAllocator, Generic[Tokens]):
    """Allocates tokens to patches of an image; the named presets are compositions of it.

    A context is a pair (image, query), or a `TokenContext` made by `context`, which is worth making where one
    image serves several budgets or a pool: pyramid, relevance and errors are then computed once. It keeps the
    relevance, encoder, patch and levels of the allocator that made it, whichever allocator it is given to.

    Parameters
    ----------
    builder : makes the hierarchy of a `TokenContext`, and tokens of its cuts.
    metric : error or gain of its nodes in a `TokenContext`.
    traversal : chooses the tokens; `Hull(spend_all=True)` stands for the builder's `DirectBuilder.rule`.
    relevance : see `Relevance`; by default `CueRelevance`.
    encoder : image -> features [ceil(H/patch), ceil(W/patch), D], see `TokenContext.features`; by default the channels
        of `texture_array`.
    patch : side of a patch in pixels, even.
    levels : at most this many levels of detail; by default down to a single patch.
    stand_in : what allocates some budgets instead, see `StandIn`, such as one that covers the whole image; by default
        nothing does.
    steps : how an allocation is found, see `Steps`; by default by one solve.
    gazes : where was looked for each token, see `Gazes`; by default nowhere.

    Raises
    ------
    ArrayError : an odd patch, or fewer levels than 1.
    HraError : a relevance or an encoder that is a name, a class or anything else that is no function.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> import hra
    >>> allocator = tokens.TokenAllocator(tokens.PyramidBuilder(), tokens.RelevanceError(), hra.Hull(spend_all=True))
    >>> allocation = allocator.allocate((image, "what is at the top left?"), budget=20)
    >>> allocation.cost, allocator.realize(allocation).values.shape
    (20.0, (20, 768))
    """

    def __init__(
        self,
        builder: TokenBuilder[Tokens],
        metric: ErrorMetric,
        traversal: Traversal,
        *,
        relevance: Relevance | None = None,
        encoder: Encoder | None = None,
        patch: int = 16,
        levels: int | None = None,
        stand_in: StandIn | None = None,
        steps: Steps | None = None,
        gazes: Gazes | None = None,
    ) -> None:
        patch, levels = checked_sizes(patch, levels)
        if isinstance(builder, DirectBuilder) and traversal == _PLAIN:
            traversal = builder.rule
        if relevance is not None and (isinstance(relevance, type) or not callable(relevance)):  # others need no call
            check_scorer(relevance)
        if encoder is not None:
            check_function("encoder", encoder, "pass a function of patches [K, patch, patch, 3] that gives [K, D]")
        super().__init__(builder, metric, traversal)
        self.builder = builder
        self.relevance = CueRelevance() if relevance is None else relevance
        self.encoder = encoder
        self.patch = patch
        self.levels = levels
        self.stand_in = stand_in
        self.steps = steps
        self.gazes = gazes

    def context(self, image: Any, query: str) -> TokenContext:
        """The context of one image and query.

        Parameters
        ----------
        image : the path of a file, a Pillow image, or an array [H, W, 3] or [3, H, W], see `hra.files.images.as_image`;
            or a video, a list of such frames of one size.
        query : the question, may be empty.

        Raises
        ------
        ImageError : wrong layout, dtype or values.
        FileError : a file that is missing or not readable.
        HraError : a question that is not a text.
        """
        if not isinstance(query, str):
            raise wrong_kind("query", query, str, 'pass a text, or "" to ask nothing')
        if isinstance(image, (list, tuple)) and image and not isinstance(image[0], (list, tuple)):
            pyramid = PatchPyramid.build(stacked(image, self.patch), patch=self.patch, levels=self.levels)
            known = isinstance(self.relevance, UniformRelevance)
            scorer = self.relevance if known else EachFrame(self.relevance)
            return TokenContext(pyramid, query, scorer, self.encoder, steps=len(image))
        pyramid = PatchPyramid.build(load_if_path(image), patch=self.patch, levels=self.levels)
        return TokenContext(pyramid, query, self.relevance, self.encoder)

    def allocate(
        self, context: Any, budget: float, *, previous: Allocation | None = None, pinned: Any = None
    ) -> Allocation:
        """Allocate exactly ``budget`` tokens, or all finest patches if the image has fewer.

        Parameters
        ----------
        context : (image, query) or a `TokenContext`.
        budget : tokens; fractions are rounded down.
        previous, pinned : see `HierarchicalResourceAllocator.allocate`.

        Raises
        ------
        ImageError, InvalidBudget, MetricError : unusable image, budget or relevance.
        ArrayError : a video, for a method of single pictures.
        BudgetTooSmall : fewer tokens than the coarsest level has.
        """
        context = self._context(context)
        if self.stand_in is not None:
            other = self.stand_in(context, check_budget(budget, _nothing()))
            if other is not None:
                return other.allocate(context, budget, previous=previous, pinned=pinned)
        if self.steps is not None:
            check_budget(budget, _nothing())
            return self.steps(context, budget, previous, pinned)
        return super().allocate(context, budget, previous=previous, pinned=pinned)

    def allocate_batch(self, contexts: Iterable[Any], budget: float) -> list[Choice]:
        """Exactly ``budget`` tokens for each of many images, of one size or of many.

        Where builder, metric and traversal are those of the plain presets (`PyramidSampling`, `FoveatedPyramid`,
        `GridTopK`, `PyramidTopK`), cuts are found straight from the errors, where they are proven to be the best;
        otherwise each image is allocated on its own. Either way they are those of `allocate`.

        Parameters
        ----------
        contexts : (image, query) or `TokenContext`, any number of them.
        budget : tokens of each image; one with fewer finest patches gets all of them.

        Raises
        ------
        See `allocate`.
        """
        limit = check_budget(budget, _nothing())
        known = self._prepare(_listed(contexts))
        direct = self._is_plain()
        return [self._choice(context, limit, direct) for context in known]

    def tokens_batch(self, contexts: Iterable[Any], budget: float) -> list[Tokens]:
        """The tokens of many images: what `realize_batch` makes of `allocate_batch`, and only some images are held.

        One thread per core takes images all the way, where the short way of `allocate_batch` is open and the relevance
        may be asked by several threads (``in_threads``: `CueRelevance`, `UniformRelevance`, and what is made of them).
        Others go together, 16 at a time, so that a relevance that encodes many images at once (`TextImageRelevance`,
        `ImageNetRelevance`, those with a `BatchEncoder`) can do so.

        Parameters, errors : as for `allocate_batch`.
        """
        given = _listed(contexts)
        limit = check_budget(budget, _nothing())
        if not self._goes_alone(given):
            parts = [given[first : first + _TOGETHER] for first in range(0, len(given), _TOGETHER)]
            return [tokens for part in parts for tokens in self.realize_batch(self.allocate_batch(part, limit))]
        made: dict[int, Tokens] = {}

        def make(number: int) -> None:
            made[number] = self.realize_batch(self.allocate_batch([given[number]], limit))[0]

        for_each(list(range(len(given))), len(given) * _IMAGE_BYTES, make)
        return [made[number] for number in range(len(given))]

    def realize_batch(self, choices: Iterable[Choice]) -> list[Tokens]:
        """The tokens of what `allocate_batch` chose; `hra.domains.tokens.batch_tokens` pads them to one array.

        Raises
        ------
        ArrayError : choices of another kind of allocator.
        HraError : something else than choices.
        """
        fix = "pass what allocate_batch returned"
        check_kind("choices", choices, Iterable, fix)
        choices = list(choices)
        for number, choice in enumerate(choices):
            check_kind(f"choices[{number}]", choice, Choice, fix)
        return [self._realize(choice) for choice in choices]

    def _prepare(self, given: list[Any]) -> list[TokenContext]:
        """Contexts with what images alone decide, by as many threads as there are cores, and their relevance."""
        known: dict[int, TokenContext] = {}

        def prepare(number: int) -> None:
            known[number] = self._context(given[number])
            if isinstance(self.error_metric(known[number]), RelevanceError):
                _ = known[number].pyramid.errors_by_level

        for_each(list(range(len(given))), len(given) * _IMAGE_BYTES, prepare)
        contexts = [known[number] for number in range(len(given))]
        for scorer in {id(one.scorer): one.scorer for one in contexts}.values():
            prepare_all(scorer, [one for one in contexts if one.scorer is scorer])
        return contexts

    def _goes_alone(self, given: list[Any]) -> bool:
        """Whether each image may go its whole way by itself, several at a time."""
        scorers = [one.scorer if isinstance(one, TokenContext) else self.relevance for one in given]
        return self._is_plain() and all(map(runs_in_threads, scorers))

    def _is_plain(self) -> bool:
        """Whether nothing but a builder that knows a short way stands between context and cut, by one solve."""
        known = isinstance(self.builder, DirectBuilder) and self.traversal == self.builder.rule
        return known and self.steps is None

    def _choice(self, context: TokenContext, limit: float, direct: bool) -> Choice:
        if direct and isinstance(self.builder, DirectBuilder) and limit < context.pyramid.offsets[1]:
            choice = self.builder.choose(context, self.error_metric(context), int(limit))
            if choice is not None:
                return choice
        return Choice.of(self.allocate(context, limit))

    def _realize(self, choice: Choice) -> Tokens:
        if choice.allocation is not None:
            return self.realize(choice.allocation)
        if not isinstance(self.builder, DirectBuilder):
            what = f"{type(self).__name__} chooses by allocations, but this choice has none"
            raise ArrayError(what, where="choices", fix="pass choices to the allocator that made them")
        tokens = self.builder.chosen(choice.context, choice.cut)
        return _marked(tokens, self._gazes(choice.context, self.metric, choice.cut))

    def hierarchy_for(self, context: Any) -> Hierarchy:
        """The hierarchy of the context's image."""
        return self._context(context).hierarchy(self.builder)

    def problem_for(self, hierarchy: Hierarchy, context: Any, budget: float) -> Problem:
        """The gain of every refinement."""
        return super().problem_for(hierarchy, self._context(context), budget)

    def realize(self, allocation: Allocation) -> Tokens:
        """The tokens of an allocation: values, boxes and relevance order.

        Raises
        ------
        HraError : no allocation, or one of a file or pickle, which has no context.
        HierarchyError : an allocation of another kind of allocator, or of another image than its context's.
        """
        if not isinstance(allocation, Allocation):
            raise wrong_kind("allocation", allocation, Allocation, "call realize(allocator.allocate(context, budget))")
        if allocation.context is None:
            what = "the allocation has no image: files and pickles do not hold it"
            raise HraError(what, where="allocation", fix="call adopt(allocation, (image, query)) first")
        context = self._context(allocation.context)
        other = None if self.stand_in is None else self.stand_in(context, allocation.budget)
        builder = (other or self).builder
        own, given = context.once(builder, lambda: builder.build(context)), allocation.hierarchy
        if own.node_cost.size != given.node_cost.size or own.node.keys() != given.node.keys():
            what = f"the allocation chose nodes of another hierarchy than those that {type(self).__name__} makes"
            raise HierarchyError(what, where="allocation", fix="pass it to the allocator that made it")
        tokens = builder.tokens(context, given, allocation.cut)
        return _marked(tokens, self._gazes(context, allocation.problem.metric, allocation.cut))

    def _gazes(self, context: TokenContext, metric: ErrorMetric | None, cut: np.ndarray) -> np.ndarray | None:
        return None if self.gazes is None else self.gazes(context, metric, cut)

    def _context(self, context: Any) -> TokenContext:
        if isinstance(context, TokenContext):
            return self._served(context)
        if not isinstance(context, tuple) or len(context) != 2 or not isinstance(context[1], str):
            kind = type(context).__name__
            raise ArrayError(f"a token context is a pair (image, query), got {kind}", where="context")
        return self._served(self.context(*context))

    def _served(self, context: TokenContext) -> TokenContext:
        """A context that the builder takes.

        Raises
        ------
        ArrayError : a video, or a picture with a small copy, for a method of single pictures.
        """
        if context.steps > 1 and not (self.builder.in_time and self.steps is None and self.stand_in is None):
            raise ArrayError(
                f"{type(self).__name__} allocates on pictures, not on videos", where="context", fix=_IN_TIME
            )
        if context.small is not None and not self.builder.with_copy:
            what = f"{type(self.builder).__name__} knows no small copy of a picture"
            raise ArrayError(what, where="context", fix="allocate on the copy and the picture one by one")
        return context


def _marked(tokens: Any, gazes: np.ndarray | None) -> Any:
    """A token set with its fixations, if there are any."""
    return tokens if gazes is None else replace(tokens, fixations=gazes)


def _listed(contexts: Any) -> list[Any]:
    check_kind("contexts", contexts, Iterable, "pass a list of pairs (image, query), or of TokenContext")
    return list(contexts)


@cache
def _nothing() -> Hierarchy:
    """A hierarchy that any budget covers."""
    return Hierarchy.flat(np.empty(0), cost_unit="tokens")
