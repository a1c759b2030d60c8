"""Reconstruction error as it counts from one fixation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.patches.metrics import RelevanceError
from hra.domains.tokens.relevance.foveated import FoveatedRelevance
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric


class Look(NamedTuple):
    """A fixation (x, y) in pixels, and the nodes int64 [K] that were shown after it."""

    gaze: tuple[float, float]
    cut: np.ndarray


@dataclass(frozen=True, eq=False)
class FixatedError(ErrorMetric):
    """`RelevanceError` with relevance foveated around one point, see `FoveatedRelevance`. Make it with `at`.

    Attributes
    ----------
    seen : the context as it is seen from the fixation; the metric reads it in place of the one that it is given.
    gaze : the fixation, (x, y) in pixels; before : the fixations before it, and what each one had shown.
    """

    seen: TokenContext
    gaze: tuple[float, float]
    before: tuple[Look, ...] = ()
    unit = "foveated mean squared error"
    additive = False  # gains of several fixations are not those of one: no certificate covers them all

    @classmethod
    def at(
        cls,
        gaze: tuple[float, float],
        context: TokenContext,
        field_of_view: float = 20.0,
        before: tuple[Look, ...] = (),
    ) -> FixatedError:
        """The metric of a fixation at (x, y) in pixels; ``field_of_view`` is what the longer side spans, in degrees."""
        relevance = FoveatedRelevance(
            lambda seen: context.relevance,
            field_of_view,
            fixation=lambda image, query, relevance: gaze,
        )
        return cls(TokenContext(context.pyramid, context.query, relevance), gaze, before)

    def fixations(self, cut: np.ndarray) -> np.ndarray:
        """The fixation (x, y) that took each node of ``cut`` first, float64 [K, 2]."""
        points = np.tile(np.array(self.gaze, np.float64), (len(cut), 1))
        for look in self.before[::-1]:
            points[np.isin(cut, look.cut)] = look.gaze
        return points

    def evaluate(self, hierarchy: Hierarchy, context: TokenContext) -> np.ndarray:
        """Error while the patch itself shows its region, float64 [N]."""
        return RelevanceError().evaluate(hierarchy, self.seen)

    def inherited(self, hierarchy: Hierarchy, context: TokenContext) -> np.ndarray:
        """Error of the same region while its parent shows it, float64 [N]."""
        return RelevanceError().inherited(hierarchy, self.seen)
