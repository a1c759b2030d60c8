"""Error of texture pages in intensities: the detail of the image that is missing on the screen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from hra.compiling import njit
from hra.domains.textures.metrics import checked_feedback
from hra.domains.textures.pages import StreamedTexture, page_parents
from hra.domains.textures.texture_set import TextureSet
from hra.domains.textures.views.rendering import bilinear, neighbours
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

    Examples
    --------
    >>> import numpy as np
    >>> from hra import Camera
    >>> from hra.domains.textures import AnalyticFeedback, DetailError, PlaneScene, TextureAllocator
    >>> image = np.zeros((256, 256, 3), np.uint8)
    >>> image[:, 128:] = np.random.default_rng(0).integers(0, 256, (256, 128, 1))
    >>> scene = PlaneScene.ground(image, width=10.0)
    >>> metric = DetailError.of(scene.textures)
    >>> allocator = TextureAllocator(scene.textures, AnalyticFeedback(scene), metric)
    >>> camera = Camera.perspective(eye=(0, 9, 1), target=(0, 0, 0))
    >>> allocator.allocate(camera, budget=2**18).cut
    array([0, 2, 4])
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


def page_detail(texture: StreamedTexture) -> np.ndarray:
    """Mean squared difference of each page's texels from the next coarser level, interpolated as a view shows it.

    Returns
    -------
    float64 [N], averaged over texels and channels, 0 for the mip tail; uint8 textures count as 0 .. 1.
    """
    pages, detail = texture.pages, np.zeros(texture.pages.bytes.size)
    white = 255.0 if texture.mips[0].dtype == np.uint8 else 1.0
    for level in range(pages.level.max()):
        strips = range(0, texture.mips[level].shape[0], pages.cell)
        sums = np.stack([_squared_band(texture, level, first) for first in strips])
        of_level = np.flatnonzero(pages.level == level)
        texels = pages.height[of_level].astype(np.int64) * pages.width[of_level] * texture.mips[0].shape[2]
        detail[of_level] = sums[pages.y[of_level], pages.x[of_level]] / (texels * white**2)
    return detail


def _squared_band(texture: StreamedTexture, level: int, first: int) -> np.ndarray:
    """Sum of squares of a Laplacian band in each page of the row of pages from row ``first`` on, float64 [GX]."""
    fine, coarse, cell = texture.mips[level], texture.mips[level + 1], texture.pages.cell
    (height, width), texels = texture.mips[0].shape[:2], fine[first : first + cell].astype(np.float32)
    # Positions of the texels' centres in level 0, which `neighbours` asks for.
    y = (np.arange(first, first + len(texels)) + 0.5) * (height / fine.shape[0])
    x = (np.arange(fine.shape[1]) + 0.5) * (width / fine.shape[1])
    above, below, down = (part[:, None] for part in neighbours(y, height, coarse.shape[0], cell, level + 1))
    along_x = neighbours(x, width, coarse.shape[1], cell, level + 1)
    start = int(above[0, 0])
    expanded = bilinear(coarse[start : int(below[-1, 0]) + 1], (above - start, below - start, down), along_x)
    squares = np.square(texels - expanded).sum(axis=(0, 2), dtype=np.float64)
    return np.add.reduceat(squares, np.arange(0, fine.shape[1], cell))
