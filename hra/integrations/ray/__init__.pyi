from .token_allocation import TokenAllocation as TokenAllocation
from .token_allocation import remaining as remaining
