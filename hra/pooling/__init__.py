"""Shared pools: several allocators under one budget.

Here are the union of the members' hierarchies, their least and largest shares, the bound of the whole and the reading
as an auction. A single allocator needs none of it.
"""
