"""Discrete levels of detail: chains of whole meshes, with errors and the distances to switch at.

What makes, chooses and writes whole levels belongs here. Cluster hierarchies belong to `building` and `selection`.
"""
