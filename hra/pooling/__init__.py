"""Shared pools: several allocators under one budget.

The union of the members' hierarchies, their least and largest shares, the bound of the whole and the reading as an
auction. One allocator alone needs nothing of it.
"""
