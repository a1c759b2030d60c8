from .token_allocation import TokenAllocation as TokenAllocation
