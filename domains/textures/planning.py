"""A plan of one view: which pages of which texture are resident, and how far from the best possible that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.allocating.allocation import Allocation
from hra.camera import Camera
from hra.domains.textures.allocator import TextureAllocator
from hra.domains.textures.feedback.analytic import AnalyticFeedback
from hra.domains.textures.feedback.feedback import Feedback
from hra.domains.textures.metrics import TexelError
from hra.domains.textures.mip_bias import uniform_bias
from hra.domains.textures.resident import ResidentTextures
from hra.domains.textures.views.scene import PlaneScene
from hra.model.metrics import ErrorMetric
from hra.traversals.base import Traversal


@dataclass(frozen=True, eq=False)
class TexturePlan:
    """The resident pages of a view within a pool of bytes.

    Attributes
    ----------
    resident : the pages.
    residual : their error, px2.
    allocation : how they were chosen.
    bias : the pages of the uniform mip bias that fits the pool.
    bias_residual : their error, px2.

    Examples
    --------
    >>> import numpy as np
    >>> from hra import Camera
    >>> from hra.domains import textures
    >>> scene = textures.PlaneScene.ground(np.zeros((256, 256, 3), np.uint8), width=10.0)
    >>> chosen = textures.plan(scene, Camera.perspective(eye=(0, 2, 3), target=(0, 0, 0)), budget=2**18)
    >>> chosen.by_texture()[0]["resident_pages_of_level"]
    array([2, 1])
    >>> chosen.allocation.residual < chosen.bias_residual
    True
    """

    resident: ResidentTextures
    residual: float
    allocation: Allocation
    bias: ResidentTextures
    bias_residual: float

    @property
    def residual_bound(self) -> float:
        """No choice of pages within the pool has a smaller error than this, in the unit of the metric."""
        return self.allocation.least_residual

    def by_texture(self) -> list[dict[str, Any]]:
        """One record per texture: its size, resident and total bytes and pages, and resident pages of each level."""
        hierarchy, active = self.resident.textures.hierarchy, self.resident.active
        owner, level = hierarchy.attribute("texture"), hierarchy.attribute("level")
        records = []
        for index, texture in enumerate(self.resident.textures.textures):
            held = active & (owner == index)
            records.append(
                {
                    "size": list(texture.mips[0].shape),
                    "bytes": int(texture.pages.bytes.sum()),
                    "resident_bytes": int(hierarchy.node_cost[held].sum()),
                    "pages": int(texture.pages.bytes.size),
                    "resident_pages": int(np.count_nonzero(held)),
                    "resident_pages_of_level": np.bincount(level[held], minlength=int(texture.pages.level[0]) + 1),
                }
            )
        return records


def plan(
    scene: PlaneScene,
    camera: Camera,
    budget: float,
    *,
    metric: ErrorMetric | None = None,
    traversal: Traversal | None = None,
) -> TexturePlan:
    """Choose the resident pages of a view, and others by a uniform mip bias to compare with.

    Parameters
    ----------
    budget : bytes.
    metric, traversal : how pages are chosen, see `TextureAllocator`; whichever it is, both choices are judged by
        `TexelError`.

    Raises
    ------
    BudgetTooSmall : the budget does not hold the mip tails.

    Examples
    --------
    >>> import numpy as np
    >>> from hra import Camera
    >>> from hra.domains import textures
    >>> scene = textures.PlaneScene.ground(np.zeros((256, 256, 3), np.uint8), width=10.0)
    >>> textures.plan(scene, Camera.perspective(eye=(0, 2, 3), target=(0, 0, 0)), budget=2**18).resident.pages
    array([0, 3, 4])
    """
    source = AnalyticFeedback(scene)
    allocator, feedback = TextureAllocator(scene.textures, source, metric, traversal), source.observe(camera)
    allocation = allocator.allocate(feedback, budget)
    resident, bias = allocator.realize(allocation), uniform_bias(scene.textures, feedback, budget)
    return TexturePlan(resident, texel_residual(resident, feedback), allocation, bias, texel_residual(bias, feedback))


def texel_residual(resident: ResidentTextures, feedback: Feedback) -> float:
    """`TexelError` of a view with these pages resident, px2.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import textures
    >>> pages = textures.TextureSet([textures.TiledTexture.from_image(np.zeros((256, 256, 3), np.uint8))])
    >>> seen = textures.Feedback(np.array([1]), np.ones(1), np.array([50]), viewport_pixels=100)
    >>> coarse = textures.ResidentTextures(pages, np.array([True, False, False, False, False]))
    >>> textures.texel_residual(coarse, seen)
    0.125
    """
    hierarchy, metric = resident.textures.hierarchy, TexelError()
    own, inherited = metric.evaluate(hierarchy, feedback), metric.inherited(hierarchy, feedback)
    base = hierarchy.added_by < 0
    residual = own[base].sum() - (inherited - own)[resident.active & ~base].sum()
    return max(float(residual), 0.0)  # the sums may differ by rounding
