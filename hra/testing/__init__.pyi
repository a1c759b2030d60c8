from .hierarchy import check_hierarchy as check_hierarchy
from .instances import CheckFailed as CheckFailed
from .metric import check_metric as check_metric
from .traversal import check_traversal as check_traversal
