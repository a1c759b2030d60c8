from .remaining import remaining as remaining
from .token_allocation import TokenAllocation as TokenAllocation
