"""Traversals: the strategies that choose refinements within a budget, one per file."""
