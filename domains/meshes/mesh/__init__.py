"""Meshes as data: triangles, their attributes and materials, and clusters of them at every level of detail.

What a mesh or a cluster hierarchy is belongs here, and how its vertices are welded. How one is built belongs to
`building`, how a cut is chosen to `selection`. Nothing here imports another room: what writes or draws a mesh is named
in `methods`.
"""
