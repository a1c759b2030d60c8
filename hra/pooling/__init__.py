"""Shared pools: several allocators under one budget."""
