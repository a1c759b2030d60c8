from .allocating.allocation import Allocation as Allocation
from .allocating.allocator import HierarchicalResourceAllocator as HierarchicalResourceAllocator
from .allocating.batch import allocate_batch as allocate_batch
from .allocating.verification import verify as verify
from .camera import Camera as Camera
from .camera.eccentricity import Eccentricity as Eccentricity
from .errors import HraError as HraError
from .lab import samples as samples
from .model.builder import HierarchyBuilder as HierarchyBuilder
from .model.hierarchy import Hierarchy as Hierarchy
from .model.lazy_hierarchy import LazyHierarchy as LazyHierarchy
from .model.lazy_hierarchy import LazyMetric as LazyMetric
from .model.metrics import ErrorMetric as ErrorMetric
from .pooling.pool import pool as pool
from .traversals.apportion import Apportion as Apportion
from .traversals.base import Traversal as Traversal
from .traversals.best_first import BestFirst as BestFirst
from .traversals.coherent import Coherent as Coherent
from .traversals.exact import Exact as Exact
from .traversals.hull import Hull as Hull
from .traversals.lazy_best_first import LazyBestFirst as LazyBestFirst
from .traversals.level_shares import LevelShares as LevelShares
from .traversals.soft_cut import SoftCut as SoftCut
from .traversals.threshold import Threshold as Threshold

__version__: str
