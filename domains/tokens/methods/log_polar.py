"""Log-polar tokens: many fine samples at the fixation, few coarse ones around."""

from __future__ import annotations

from functools import partial

from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.context.context import Relevance
from hra.domains.tokens.methods.sampled.rings import RingBuilder
from hra.domains.tokens.methods.sampled.tokens import SampledTokens
from hra.domains.tokens.patches.metrics import AttributeGain
from hra.domains.tokens.relevance.fixation import FixationFinder
from hra.solvers.apportionment import largest_remainder
from hra.traversals.apportion import Apportion


class LogPolar(TokenAllocator[SampledTokens]):
    """Samples of density rho0 / (e + e0) at the eccentricity e from a fixation.

    Where to look is by default the peak of a coarse 16 x 16 pass over the relevance.

    Fovea and periphery are strata. Inside each, the number of samples decides how many rings there are, so that cells
    stay about square, and every ring gets its part by largest remainders, which calibrates rho0 to the count. That
    density alone would put at most 5 % of the samples within 50 of 1024 pixels, whatever e0 is: so the foveal share is
    set apart, and the density holds on either side of the foveal radius. Only what lies inside the image counts, so
    that a fixation at the border loses no samples.

    Source: the retina's mapping, E. Schwartz, "Spatial mapping in the primate sensory projection" (1977). That fewer
    log-polar samples match more patches of a grid is a hypothesis. Our choices: the farthest corner as the
    end of the last ring, and e0 = 0.75 degrees (`hra.Eccentricity`).

    Parameters
    ----------
    relevance : see `Relevance`; by default `CueRelevance`.
    patch : samples along the side of a token.
    foveal_share, foveal_radius, field_of_view, fixation, growing : see `RingBuilder`.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.LogPolar()
    >>> allocation = allocator.allocate((image, "what is at the top left?"), budget=20)
    >>> allocator.realize(allocation).values.shape
    (20, 768)
    """

    def __init__(
        self,
        relevance: Relevance | None = None,
        *,
        patch: int = 16,
        foveal_share: float = 0.3,
        foveal_radius: float = 50.0,
        field_of_view: float = 20.0,
        fixation: FixationFinder | None = None,
        growing: bool = True,
    ) -> None:
        builder = RingBuilder(foveal_share, foveal_radius, field_of_view, fixation, growing)
        metric = AttributeGain("share", "share of the density")
        traversal = Apportion(partial(largest_remainder, minimum=0))
        super().__init__(builder, metric, traversal, relevance=relevance, patch=patch)
