"""The allocator of clouds: which points or splats to draw within a budget."""

from __future__ import annotations

import hra
from hra.domains.points.cloud.cloud_tree import CloudTree
from hra.domains.points.cloud.clouds import PointCloud, SplatCloud
from hra.domains.points.metrics.cloud_error import CloudError
from hra.errors import HierarchyError, HraError, check_kind


class PointAllocator(hra.HierarchicalResourceAllocator):
    """Chooses the points or splats that a camera needs most.

    Parameters
    ----------
    tree : from `build`; its ``with_cost`` sets whether budgets are points, splats or bytes.
    metric : `CloudError` by default, which reads a `hra.Camera`; traversal : `hra.Hull` by default.

    Raises
    ------
    HraError : no tree, or another kind of metric or traversal.

    Examples
    --------
    >>> import numpy as np, hra
    >>> from hra.domains import points
    >>> tree = points.build(points.PointCloud(np.random.default_rng(0).random((1000, 3))))
    >>> allocator = points.PointAllocator(tree)
    >>> allocation = allocator.allocate(hra.Camera.orbit(tree.bounds), budget=100)
    >>> len(allocator.realize(allocation)) <= 100
    True
    """

    def __init__(
        self, tree: CloudTree, metric: hra.ErrorMetric | None = None, traversal: hra.Traversal | None = None
    ) -> None:
        if not isinstance(tree, CloudTree):
            what = f"a {type(tree).__name__} is not a tree of points"
            raise HraError(what, where="PointAllocator", fix="pass points.build(cloud) first")
        metric, traversal = CloudError() if metric is None else metric, hra.Hull() if traversal is None else traversal
        super().__init__(tree.hierarchy, metric, traversal)
        self.tree = tree

    def realize(self, allocation: hra.Allocation) -> PointCloud | SplatCloud:
        """The points or splats of the cut.

        Raises
        ------
        HierarchyError : the allocation is of another tree, or of a pool (realize the pool's parts instead).
        """
        check_kind("allocation", allocation, hra.Allocation, "pass what allocate(camera, budget) returned")
        if not allocation.hierarchy.same_as(self.tree.hierarchy):
            raise HierarchyError("the allocation belongs to another hierarchy", fix="realize it where it was allocated")
        return self.tree.take(allocation.cut)
