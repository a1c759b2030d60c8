"""hra: which level of detail where, within this budget?

One hierarchical resource allocator for meshes (triangles), textures (bytes) and visual tokens, exact in its budget and
with a bound on how far each answer is from the best possible one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hra.forking import guard_forks
from hra.lazy_exports import lazy_exports

__version__ = "0.1.0"
guard_forks()

# Exported lazily (PEP 562): a kernel may import hra.errors without pulling the core in, and `import hra` stays fast.
_EXPORTS = {
    "Allocation": "hra.allocation",
    "Apportion": "hra.traversals.apportion",
    "BestFirst": "hra.traversals.best_first",
    "Camera": "hra.camera",
    "Coherent": "hra.traversals.coherent",
    "Eccentricity": "hra.eccentricity",
    "ErrorMetric": "hra.metrics",
    "Exact": "hra.traversals.exact",
    "Hierarchy": "hra.hierarchy",
    "HierarchicalResourceAllocator": "hra.allocator",
    "HierarchyBuilder": "hra.builder",
    "HraError": "hra.errors",
    "Hull": "hra.traversals.hull",
    "LazyBestFirst": "hra.traversals.lazy_best_first",
    "LazyHierarchy": "hra.lazy.hierarchy",
    "LazyMetric": "hra.lazy.hierarchy",
    "LevelShares": "hra.traversals.level_shares",
    "SoftCut": "hra.soft_cut.traversal",
    "Threshold": "hra.traversals.threshold",
    "Traversal": "hra.traversals.base",
    "allocate_batch": "hra.batch",
    "pool": "hra.pooling.pool",
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
]

if TYPE_CHECKING:
    from hra.allocation import Allocation as Allocation
    from hra.allocator import HierarchicalResourceAllocator as HierarchicalResourceAllocator
    from hra.batch import allocate_batch as allocate_batch
    from hra.builder import HierarchyBuilder as HierarchyBuilder
    from hra.camera import Camera as Camera
    from hra.eccentricity import Eccentricity as Eccentricity
    from hra.errors import HraError as HraError
    from hra.hierarchy import Hierarchy as Hierarchy
    from hra.lazy.hierarchy import LazyHierarchy as LazyHierarchy
    from hra.lazy.hierarchy import LazyMetric as LazyMetric
    from hra.metrics import ErrorMetric as ErrorMetric
    from hra.pooling.pool import pool as pool
    from hra.soft_cut.traversal import SoftCut as SoftCut
    from hra.traversals.apportion import Apportion as Apportion
    from hra.traversals.base import Traversal as Traversal
    from hra.traversals.best_first import BestFirst as BestFirst
    from hra.traversals.coherent import Coherent as Coherent
    from hra.traversals.exact import Exact as Exact
    from hra.traversals.hull import Hull as Hull
    from hra.traversals.lazy_best_first import LazyBestFirst as LazyBestFirst
    from hra.traversals.level_shares import LevelShares as LevelShares
    from hra.traversals.threshold import Threshold as Threshold

__getattr__, __dir__ = lazy_exports(__name__, _EXPORTS)
