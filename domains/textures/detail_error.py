"""Error of texture pages in intensities: the detail of the image that is missing on the screen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numba import njit

from hra.domains.textures.metrics import checked_feedback
from hra.domains.textures.page_detail import page_detail
from hra.domains.textures.pages import page_parents
from hra.domains.textures.texture_set import TextureSet
from hra.errors import MetricError
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric


@dataclass(frozen=True, eq=False)
class DetailError(ErrorMetric):
    """Mean squared difference that the missing pages make in the view: visible pixels times missing detail energy.

    A page's detail is the Laplacian band between its level and the next coarser one, expanded bilinearly. Where a pixel
    wants level w and level m is shown, the energies of the bands w .. m - 1 of its region are missing; as bands hardly
    correlate, they add up. Levels finer than the wanted one, rounded down, are missed by nobody.

    -10 log10 of a residual estimates the PSNR of the view. The unit is not the screen error of meshes: the two share no
    pool. The context is a `Feedback`, as for `TexelError`.

    Source: P. J. Burt and E. H. Adelson, "The Laplacian pyramid as a compact image code" (1983).

    Parameters
    ----------
    detail : float64 [N], mean squared band of each page (`DetailError.of`).
    """

    detail: np.ndarray
    unit: str = "mean squared difference"
    kind: Literal["error", "gain"] = "error"
    additive: bool = True

    @classmethod
    def of(cls, textures: TextureSet) -> DetailError:
        """Measure the detail of every page of ``textures`` once; it reads all texels."""
        return cls(np.concatenate([page_detail(texture) for texture in textures.textures]))

    def evaluate(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        """Error of every page's region shown at the page's own level, float64 [N]."""
        return self._missing(hierarchy, context)[0]

    def inherited(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        """Error of every page's region shown at its parent's level, float64 [N]; a mip tail's own error."""
        return self._missing(hierarchy, context)[1]

    def _missing(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        """Error at the own and at the parent's level, float64 [2, N]."""
        feedback, missing = checked_feedback(hierarchy, context), np.zeros((2, hierarchy.node_cost.size))
        if self.detail.shape != hierarchy.node_cost.shape:
            what = f"the detail of {self.detail.size} pages is known, but there are {hierarchy.node_cost.size}"
            raise MetricError(what, where="detail", fix="use DetailError.of(allocator.textures)")
        wanted = np.log2(feedback.footprint).astype(np.int32)
        levels, parents = hierarchy.attribute("level"), page_parents(hierarchy)
        _sum_missing(feedback.page, wanted, feedback.weighted_pixels, parents, levels, self.detail, missing)
        return missing / feedback.viewport_pixels


@njit(cache=True)
def _sum_missing(page, wanted, pixels, parent, level, detail, missing):
    """Add what every sample misses at its finest page and at all pages above that one."""
    for i in range(page.size):
        node, energy = page[i], 0.0
        while node >= 0:
            missing[0, node] += pixels[i] * energy
            if level[node] >= wanted[i] and parent[node] >= 0:
                energy += detail[node]
            missing[1, node] += pixels[i] * energy
            node = parent[node]
