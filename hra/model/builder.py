"""Hierarchies that depend on the context (an image's patches, a query's regions)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from hra.model.hierarchy import Hierarchy


class HierarchyBuilder(ABC):
    """Takes a hierarchy's place where the hierarchy has to be built from each context.

    Examples
    --------
    >>> import hra
    >>> class Letters(hra.HierarchyBuilder):
    ...     def build(self, context):
    ...         return hra.Hierarchy.flat([1] * len(context), cost_unit="letters")
    >>> Letters().build("word")
    Hierarchy(forest of 4 refinements over 4 nodes, cost in letters)
    """

    @abstractmethod
    def build(self, context: Any) -> Hierarchy:
        """The hierarchy for ``context``."""
