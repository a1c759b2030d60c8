"""Tiles for viewers: a mesh as a tree of tiles without cracks, written as 3D Tiles, GLB and USD.

What other programs read of a built mesh belongs here; the files of plain meshes are in `hra.domains.meshes.files`.
"""
