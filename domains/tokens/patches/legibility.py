"""Legibility: text is worth nothing until it can be read, and then nearly everything."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.domains.tokens.channels.text_likeness import text_likeness
from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.patches.metrics import pyramid_numbers
from hra.domains.tokens.pyramid.blocks import block_sums
from hra.errors import MetricError
from hra.model.arrays import number_in
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric

# Text-likeness from which a patch counts as all text: printed lines have 0.03 to 0.15, photos nearly always less.
_TEXT = 0.03


@dataclass(frozen=True)
class Legibility(ErrorMetric):
    """Relevance-weighted error in which text counts as wholly lost until its x-height reaches some pixels.

    A region that is text counts the error of the coarsest level times ``1 - legible(x_height / 2**level)``, and any
    other its squared error as in `RelevanceError`. ``legible`` is a logistic function, S-shaped: refining text gains
    nothing at first, and nearly everything two or three levels down. Best-first never reaches such gains while anything
    else gains a little at once; the hull pools the steps of a path and buys it whole. Errors of disjoint regions still
    add up.

    Source: reading speed as a function of letter size is a step with a critical print size, G. Legge and C. Bigelow,
    "Does print size matter for reading?" (Journal of Vision 11, 2011); the logistic form and the
    default of 7.5 pixels are ours and measured on no reader: set them to what yours reads.

    Parameters
    ----------
    x_height : of the text in pixels of the image, > 0; 10-point type has about 10 at 150 dots per inch.
    legible : x-height in pixels at which half of the text can be read.
    softness : pixels by which the x-height differs from that where 73 % can be read, or 27 %.

    Raises
    ------
    MetricError : a parameter that is not a positive number.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> import hra
    >>> legible = tokens.Legibility(x_height=20.0)
    >>> allocator = tokens.TokenAllocator(tokens.PyramidBuilder(), legible, hra.Hull(spend_all=True))
    >>> allocator.allocate((image, ""), budget=20).cost
    20.0
    """

    x_height: float
    legible: float = 7.5
    softness: float = 0.5
    unit = "relevance-weighted mean squared error"

    def __post_init__(self) -> None:
        for name in ("x_height", "legible", "softness"):
            number_in(name, getattr(self, name), 0, np.inf, MetricError, ends=False)

    def evaluate(self, hierarchy: Hierarchy, context: TokenContext) -> np.ndarray:
        """Error while the patch itself shows its region, float64 [N]."""
        return self._by_level(hierarchy, context, coarser=False)

    def inherited(self, hierarchy: Hierarchy, context: TokenContext) -> np.ndarray:
        """Error of the same region while its parent shows it, float64 [N]."""
        return self._by_level(hierarchy, context, coarser=True)

    def readable(self, level: np.ndarray) -> np.ndarray:
        """Share of the text that can be read at each level of the pyramid, in [0, 1]."""
        above = (self.x_height * 0.5 ** np.asarray(level, np.float64) - self.legible) / self.softness
        return 0.5 * (1 + np.tanh(above / 2))

    def _by_level(self, hierarchy: Hierarchy, context: TokenContext, coarser: bool) -> np.ndarray:
        errors = self._errors(context)
        shown = [*errors[1:], errors[-1]] if coarser else errors
        sums = [block_sums(error, 2**level).ravel() for level, error in enumerate(shown)]
        return np.concatenate(sums)[pyramid_numbers(hierarchy, context)]

    def _errors(self, context: TokenContext) -> list[np.ndarray]:
        """Per level, the error of each finest patch while that level shows it, [rows, columns]."""
        pyramid, weight = context.pyramid, context.pixel_weight
        text = np.minimum(text_likeness(pyramid.image, pyramid.patch) / _TEXT, 1)
        squared = pyramid.errors_by_level
        unread = 1 - self.readable(np.arange(len(squared)))
        parts = zip(unread, squared, strict=True)
        return [weight * (text * lost * squared[-1] + (1 - text) * error) for lost, error in parts]
