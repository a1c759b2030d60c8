"""A plan of one view: which pages of which texture are resident, and how far from the best possible that is.

`uniform_bias` is the usual remedy beside it: all textures one bias coarser than wanted, until they fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.allocating.allocation import Allocation
from hra.camera import Camera
from hra.compiling import njit
from hra.domains.textures.allocator import TextureAllocator
from hra.domains.textures.feedback.bounds import AnalyticFeedback
from hra.domains.textures.feedback.feedback import Feedback
from hra.domains.textures.metrics import TexelError, checked_feedback
from hra.domains.textures.pages import page_parents
from hra.domains.textures.resident import ResidentTextures, check_resident
from hra.domains.textures.texture_set import TextureSet, check_textures
from hra.domains.textures.views.scene import PlaneScene, check_scene
from hra.errors import BudgetTooSmall
from hra.model.metrics import ErrorMetric
from hra.model.problem import check_number
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
    HraError : something else in the place of the scene or the camera.

    Examples
    --------
    >>> import numpy as np
    >>> from hra import Camera
    >>> from hra.domains import textures
    >>> scene = textures.PlaneScene.ground(np.zeros((256, 256, 3), np.uint8), width=10.0)
    >>> textures.plan(scene, Camera.perspective(eye=(0, 2, 3), target=(0, 0, 0)), budget=2**18).resident.pages
    array([0, 3, 4])
    """
    check_scene(scene)
    source = AnalyticFeedback(scene)
    allocator, feedback = TextureAllocator(scene.textures, source, metric, traversal), source.observe(camera)
    allocation = allocator.allocate(feedback, budget)
    resident, bias = allocator.realize(allocation), uniform_bias(scene.textures, feedback, budget)
    return TexturePlan(resident, texel_residual(resident, feedback), allocation, bias, texel_residual(bias, feedback))


def texel_residual(resident: ResidentTextures, feedback: Feedback) -> float:
    """`TexelError` of a view with these pages resident, px2.

    Raises
    ------
    MetricError : feedback of other textures. HraError : something else than resident pages.

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
    check_resident(resident)
    hierarchy, metric = resident.textures.hierarchy, TexelError()
    own, inherited = metric.evaluate(hierarchy, feedback), metric.inherited(hierarchy, feedback)
    base = hierarchy.added_by < 0
    residual = own[base].sum() - (inherited - own)[resident.active & ~base].sum()
    return max(float(residual), 0.0)  # the sums may differ by rounding


def uniform_bias(textures: TextureSet, feedback: Feedback, budget: float) -> ResidentTextures:
    """The pages that the view wants when every level is raised by the smallest bias whose pages fit: a baseline.

    A page of level m is wanted if a pixel in its region wants a level w with floor(w + bias) <= m.

    Parameters
    ----------
    budget : bytes.

    Raises
    ------
    InvalidBudget : the budget is not a number >= 0.
    BudgetTooSmall : it does not hold the mip tails.
    MetricError : feedback of other textures. HraError : something else than a set of textures.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import textures
    >>> pages = textures.TextureSet([textures.TiledTexture.from_image(np.zeros((256, 256, 3), np.uint8))])
    >>> seen = textures.Feedback(np.array([1, 2]), np.ones(2), np.array([50, 1]), viewport_pixels=100)
    >>> textures.uniform_bias(pages, seen, budget=2**18).pages, textures.uniform_bias(pages, seen, budget=2**17).pages
    (array([0, 1, 2]), array([0]))
    """
    check_textures(textures)
    hierarchy = textures.hierarchy
    checked_feedback(hierarchy, feedback)
    budget = check_number(budget)
    parent, wanted = page_parents(hierarchy), np.full(hierarchy.node_cost.size, np.inf)
    _lower_to_finest(feedback.page, np.log2(feedback.footprint), parent, wanted)
    # The bias below which each page is wanted; mip tails always are.
    limit = np.where(parent < 0, np.inf, hierarchy.attribute("level") + 1.0 - wanted)
    order = np.argsort(-limit, kind="stable")
    spent = np.cumsum(hierarchy.node_cost[order])
    fitting = int(np.searchsorted(spent, budget, side="right"))
    if fitting < np.count_nonzero(parent < 0):
        tails = hierarchy.base_cost
        raise BudgetTooSmall(f"the mip tails take {tails:,.0f} bytes", where="budget", fix=f"use {tails:,.0f}")
    # Pages with one limit come and go together; those with a limit below 0 are not wanted without a bias.
    least = max(limit[order[fitting]], 0.0) if fitting < limit.size else 0.0
    return ResidentTextures(textures, limit > least)


@njit(cache=True)
def _lower_to_finest(page, level, parent, wanted):
    """Lower ``wanted`` to the finest level that a sample in every page's region wants."""
    for i in range(page.size):
        node = page[i]
        while node >= 0 and level[i] < wanted[node]:
            wanted[node] = level[i]
            node = parent[node]
