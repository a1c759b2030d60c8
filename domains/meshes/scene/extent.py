"""Where the surface of a mesh is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.model.hierarchy import Hierarchy


@dataclass(frozen=True, eq=False)
class Extent:
    """Where the surface of a mesh is, in boxes.

    Attributes
    ----------
    whole : float32 [1, 2, 3], around all of it.
    sources : float32 [S, 2, 3], around its source clusters.
    """

    whole: np.ndarray
    sources: np.ndarray

    @classmethod
    def of(cls, hierarchy: Hierarchy) -> Extent:
        """From the nested boxes of a mesh's clusters."""
        boxes = hierarchy.attribute("box")
        base = boxes[hierarchy.added_by < 0]
        whole = np.stack([base[:, 0].min(axis=0), base[:, 1].max(axis=0)])
        return cls(whole[None], boxes[hierarchy.removed_by < 0])

    @property
    def center(self) -> np.ndarray:
        """The middle of the box around everything, float64 [3]."""
        return self.whole[0].astype(np.float64).mean(axis=0)

    @property
    def radius(self) -> float:
        """From the center to a corner."""
        return float(np.linalg.norm(self.whole[0, 1].astype(np.float64) - self.center))
