"""How a question was served: whether anything was made of it, by what, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

By = Literal["phrase", "words of place", "words of colour", "class", "relevance", "nothing"]


@dataclass(frozen=True)
class Served:
    """What became of a question.

    Attributes
    ----------
    by : what decided: text that was read, words such as "top left" or "red", a class of things, some other relevance
        that depends on the question, or nothing.
    confidence : probability that the most likely place is the right one if the page holds the answer, in [0, 1]; None
        where it is not estimated.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> context = tokens.PyramidSampling().context(np.zeros((64, 64, 3), np.float32), "what is at the top left?")
    >>> context.served.by, context.served.used
    ('words of place', True)
    """

    by: By = "nothing"
    confidence: float | None = None

    @property
    def used(self) -> bool:
        """Whether what the question says decided where tokens go."""
        return self.by != "nothing"
