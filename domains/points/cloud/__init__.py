"""Clouds of points and splats: what they are, the tree over one, and what its nodes hold of those below.

What needs no file, camera or budget belongs here.
"""
