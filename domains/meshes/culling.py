"""Which placed meshes a view may see at all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.camera import Camera
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

    def seen_by(self, camera: Camera) -> bool:
        """Whether a point of the source may be in view of a camera in the mesh's coordinates; conservative."""
        return bool(camera.boxes_visible(self.whole).any() and camera.boxes_visible(self.sources).any())
