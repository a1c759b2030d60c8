"""Error of texture pages in intensities: the detail of the image that is missing on the screen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from hra.compiling import njit
from hra.domains.textures.metrics import checked_feedback
from hra.domains.textures.mips import page_side, reduction
from hra.domains.textures.pages import PageTable, StreamedTexture, page_parents
from hra.domains.textures.texture_set import TextureSet, check_textures
from hra.domains.textures.tiles import tile_pages
from hra.domains.textures.views.rendering import neighbours
from hra.errors import ImageError, MetricError
from hra.kernels import Pyramid, build_pyramid, enlarged_squares
from hra.kernels.backends import adopt, fetch
from hra.kernels.pyramids.blocks.blocks import Along
from hra.model.arrays import to_numpy
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric


@dataclass(frozen=True, eq=False)
class DetailError(ErrorMetric):
    """Mean squared difference that the missing pages make in the view: visible pixels times missing detail energy.

    A page's detail is the Laplacian band between its level and the next coarser one, expanded bilinearly. Where a pixel
    wants level w and level m is shown, the energies of the bands w .. m - 1 of its region are missing; as bands hardly
    correlate, they add up. Levels finer than the wanted one, rounded down, are not missed.

    -10 log10 of a residual estimates the PSNR of the view. The unit is not the screen error of meshes: the two share no
    pool. The context is a `Feedback`, as for `TexelError`.

    Source: P. J. Burt and E. H. Adelson, "The Laplacian pyramid as a compact image code" (1983).

    Parameters
    ----------
    detail : float64 [N], mean squared band of each page (`DetailError.of`).

    Raises
    ------
    MetricError : something else than finite numbers >= 0.

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

    def __post_init__(self) -> None:
        detail = to_numpy(self.detail)
        if detail.ndim != 1 or detail.dtype.kind not in "iuf" or not (np.isfinite(detail) & (detail >= 0)).all():
            what = f"the detail must be finite numbers >= 0 [N], got {detail.dtype} {list(detail.shape)}"
            raise MetricError(what, where="detail", fix="use DetailError.of(allocator.textures)")
        object.__setattr__(self, "detail", detail.astype(np.float64, copy=False))

    @classmethod
    def of(cls, textures: TextureSet) -> DetailError:
        """Measure the detail of every page of ``textures`` once; it reads all texels.

        Raises
        ------
        HraError : something else than a set of textures.
        """
        check_textures(textures)
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
    rows = texture.pages.cell
    return _mean_bands(
        texture.pages,
        texture.mips,
        lambda level: np.concatenate(
            [_bands(texture.mips, level, rows, first) for first in range(0, texture.mips[level].shape[0], rows)]
        ),
    )


def detail_of_image(
    image: Any, tile: int = 128, *, srgb: bool = False, backend: str = "auto"
) -> tuple[Pyramid, np.ndarray]:
    """Mip levels of a texture and the detail of its pages, where the image is: on the host or on a CUDA device.

    Parameters
    ----------
    image : float32 or uint8 [H, W, C], any size from 1 x 1; NumPy, torch, Warp or any array with DLPack.
    tile, srgb : as for `TiledTexture.from_image`.
    backend : "auto", "reference", "numba" or "warp".

    Returns
    -------
    mips : the levels, of the kind and on the device of the image.
    detail : float64 [N], `page_detail` of the tiles of `tile_pages`, on the host: 8 bytes a tile, for `DetailError`.

    Raises
    ------
    ImageError : a tile below one texel. ArrayError : another layout or dtype. BackendUnavailable : Warp is missing.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import textures
    >>> mips, detail = textures.detail_of_image(np.zeros((256, 300, 3), np.uint8))
    >>> len(mips.levels), detail.shape
    (10, (9,))
    """
    mips = build_pyramid(image, reduction(srgb), backend=backend)
    if not mips.layout.size or len(mips.shapes[0]) != 3:
        raise ImageError(f"a texture is [H, W, C] with texels, not {list(mips.shapes[0])}")
    levels = tuple(adopt(level, "image") for level in mips.levels)
    tile = page_side(tile)
    pages = tile_pages(*mips.shapes[0][:2], tile)
    return mips, _mean_bands(pages, levels, lambda level: _bands(levels, level, tile, backend=backend))


def _mean_bands(pages: PageTable, levels: Sequence[Any], bands: Callable[[int], np.ndarray]) -> np.ndarray:
    """Squares of each level's bands [GY, GX], by page and averaged."""
    detail = np.zeros(pages.bytes.size)
    white = 255.0 if str(levels[0].dtype).endswith("uint8") else 1.0
    for level in range(pages.level.max()):
        of_level = np.flatnonzero(pages.level == level)
        texels = pages.height[of_level].astype(np.int64) * pages.width[of_level] * levels[0].shape[2]
        detail[of_level] = bands(level)[pages.y[of_level], pages.x[of_level]] / (texels * white**2)
    return detail


def _bands(levels: Sequence[Any], level: int, cell: int, first: int | None = None, backend: str = "auto") -> np.ndarray:
    """Sum of squares of a Laplacian band in each page, float64 [GY, GX]; only the row of pages from row ``first`` on.

    Strip by strip, so that levels in files are never whole in memory.
    """
    fine, coarse = levels[level], levels[level + 1]
    height, width = levels[0].shape[:2]
    rows = slice(0, fine.shape[0]) if first is None else slice(first, min(first + cell, fine.shape[0]))
    # Positions of the texels' centres in level 0, which `neighbours` asks for.
    y = (np.arange(rows.start, rows.stop) + 0.5) * (height / fine.shape[0])
    x = (np.arange(fine.shape[1]) + 0.5) * (width / fine.shape[1])
    above, below, down = neighbours(y, height, coarse.shape[0], cell, level + 1)
    along_x = Along(*neighbours(x, width, coarse.shape[1], cell, level + 1))
    if first is not None:
        start = int(above[0])
        fine, coarse, above, below = fine[rows], coarse[start : int(below[-1]) + 1], above - start, below - start
    sums = enlarged_squares(fine, coarse, Along(above, below, down), along_x, cell, backend=backend)
    return fetch(sums)
