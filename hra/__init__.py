"""hra: which level of detail where, within this budget?

One hierarchical resource allocator for meshes (triangles), textures (bytes) and visual tokens, exact in its budget and
with a bound on how far each answer is from the best possible one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hra.lazy_exports import lazy_exports

__version__ = "0.1.0"

# Exported lazily (PEP 562): a kernel may import hra.errors without pulling the core in, and `import hra` stays fast.
_EXPORTS = {
    "Allocation": "hra.allocating.allocation",
    "Apportion": "hra.traversals.apportion",
    "BestFirst": "hra.traversals.best_first",
    "Camera": "hra.camera",
    "Coherent": "hra.traversals.coherent",
    "Eccentricity": "hra.camera.eccentricity",
    "ErrorMetric": "hra.model.metrics",
    "Exact": "hra.traversals.exact",
    "Hierarchy": "hra.model.hierarchy",
    "HierarchicalResourceAllocator": "hra.allocating.allocator",
    "HierarchyBuilder": "hra.model.builder",
    "HraError": "hra.errors",
    "Hull": "hra.traversals.hull",
    "LazyBestFirst": "hra.traversals.lazy_best_first",
    "LazyHierarchy": "hra.model.lazy_hierarchy",
    "LazyMetric": "hra.model.lazy_hierarchy",
    "LevelShares": "hra.traversals.level_shares",
    "SoftCut": "hra.traversals.soft_cut",
    "Threshold": "hra.traversals.threshold",
    "Traversal": "hra.traversals.base",
    "allocate_batch": "hra.allocating.batch",
    "pool": "hra.pooling.pool",
    "samples": "hra.lab",
    "verify": "hra.allocating.verification",
}

__all__ = [
    "Allocation",
    "Apportion",
    "BestFirst",
    "Camera",
    "Coherent",
    "Eccentricity",
    "ErrorMetric",
    "Exact",
    "HierarchicalResourceAllocator",
    "Hierarchy",
    "HierarchyBuilder",
    "HraError",
    "Hull",
    "LazyBestFirst",
    "LazyHierarchy",
    "LazyMetric",
    "LevelShares",
    "SoftCut",
    "Threshold",
    "Traversal",
    "__version__",
    "allocate_batch",
    "pool",
    "samples",
    "verify",
]

if TYPE_CHECKING:
    from hra.allocating.allocation import Allocation as Allocation
    from hra.allocating.allocator import HierarchicalResourceAllocator as HierarchicalResourceAllocator
    from hra.allocating.batch import allocate_batch as allocate_batch
    from hra.allocating.verification import verify as verify
    from hra.camera import Camera as Camera
    from hra.camera.eccentricity import Eccentricity as Eccentricity
    from hra.errors import HraError as HraError
    from hra.lab import samples as samples
    from hra.model.builder import HierarchyBuilder as HierarchyBuilder
    from hra.model.hierarchy import Hierarchy as Hierarchy
    from hra.model.lazy_hierarchy import LazyHierarchy as LazyHierarchy
    from hra.model.lazy_hierarchy import LazyMetric as LazyMetric
    from hra.model.metrics import ErrorMetric as ErrorMetric
    from hra.pooling.pool import pool as pool
    from hra.traversals.apportion import Apportion as Apportion
    from hra.traversals.base import Traversal as Traversal
    from hra.traversals.best_first import BestFirst as BestFirst
    from hra.traversals.coherent import Coherent as Coherent
    from hra.traversals.exact import Exact as Exact
    from hra.traversals.hull import Hull as Hull
    from hra.traversals.lazy_best_first import LazyBestFirst as LazyBestFirst
    from hra.traversals.level_shares import LevelShares as LevelShares
    from hra.traversals.soft_cut import SoftCut as SoftCut
    from hra.traversals.threshold import Threshold as Threshold

__getattr__, __dir__ = lazy_exports(__name__, _EXPORTS)
