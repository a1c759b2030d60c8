"""Distances, areas and borders of surfaces, and the check of a built mesh.

What can be said of surfaces without a camera: how far apart they are, with proof, how large, where they end. The
builder uses it for its errors, `check` to verify a built mesh.
"""
