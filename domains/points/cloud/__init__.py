"""Clouds of points and splats: what they are, the tree over one, and what its nodes hold of those below.

Nothing here knows files, cameras or budgets.
"""
