"""Texture streaming as an allocation: which pages are resident within a pool of bytes."""

from __future__ import annotations

from typing import Any

from hra.allocating.allocation import Allocation
from hra.allocating.allocator import HierarchicalResourceAllocator
from hra.domains.textures.feedback.feedback import Feedback, FeedbackSource, check_source
from hra.domains.textures.metrics import TexelError
from hra.domains.textures.resident import ResidentTextures
from hra.domains.textures.texture_set import TextureSet, check_textures
from hra.errors import HierarchyError, MetricError, check_kind
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric
from hra.model.problem import Problem
from hra.traversals.base import Traversal
from hra.traversals.hull import Hull


class TextureAllocator(HierarchicalResourceAllocator):
    """Chooses the resident pages of a texture set for a camera and a budget in bytes.

    Parameters
    ----------
    textures : what may be resident; the mip tails always are.
    source : tells which pages the view of a camera wants; None if every context is a `Feedback`.
    metric : reads the hierarchy of pages and a `Feedback`; by default `TexelError`.
    traversal : by default `hra.Hull`.

    Raises
    ------
    HraError : something else in the place of one of the four.

    Examples
    --------
    >>> import numpy as np
    >>> from hra import Camera
    >>> from hra.domains.textures import AnalyticFeedback, PlaneScene, TexturedPlane, TextureAllocator, TiledTexture
    >>> image = np.zeros((512, 1024, 3), np.uint8)
    >>> scene = PlaneScene([TexturedPlane.ground(TiledTexture.from_image(image), width=100.0)])
    >>> allocator = TextureAllocator(scene.textures, AnalyticFeedback(scene))
    >>> allocation = allocator.allocate(Camera.perspective(eye=(0, 20, 30), target=(0, 0, 0)), budget=2**20)
    >>> allocator.realize(allocation).bytes <= 2**20
    True
    """

    def __init__(
        self,
        textures: TextureSet,
        source: FeedbackSource | None = None,
        metric: ErrorMetric | None = None,
        traversal: Traversal | None = None,
    ) -> None:
        check_textures(textures)
        if source is not None:
            check_source("source", source)
        metric, traversal = TexelError() if metric is None else metric, Hull() if traversal is None else traversal
        super().__init__(textures.hierarchy, metric, traversal)
        self.textures = textures
        self.source: FeedbackSource = _NoSource() if source is None else source

    def problem_for(self, hierarchy: Hierarchy, context: Any, budget: float) -> Problem:
        """Observe the feedback of ``context`` (a camera, or a `Feedback` as it is) and evaluate the metric on it."""
        feedback = context if isinstance(context, Feedback) else self.source.observe(context)
        return super().problem_for(hierarchy, feedback, budget)

    def realize(self, allocation: Allocation) -> ResidentTextures:
        """The resident pages of ``allocation``.

        Raises
        ------
        HierarchyError : the allocation is of other textures, or of a pool (realize the pool's parts instead).
        HraError : no allocation.
        """
        check_kind("allocation", allocation, Allocation, "pass what allocate(camera, budget) returned")
        if not allocation.hierarchy.same_as(self.textures.hierarchy):
            raise HierarchyError("the allocation belongs to another hierarchy", fix="realize it where it was allocated")
        return ResidentTextures(self.textures, allocation.hierarchy.active_nodes(allocation.selected))


class _NoSource:
    """Stands where the feedback of every view is given."""

    def observe(self, camera: Any) -> Feedback:
        """Refuse a camera."""
        fix = "give the allocator a source such as AnalyticFeedback(scene), or allocate for a Feedback"
        raise MetricError("there is no source of feedback for cameras", where=type(camera).__name__, fix=fix)
