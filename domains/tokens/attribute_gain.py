"""A gain that the builder of a hierarchy already knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric


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
        return hierarchy.attribute(self.attribute)
