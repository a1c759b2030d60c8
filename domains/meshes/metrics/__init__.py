"""Error metrics of meshes: what a cut is chosen by, in pixels or in units of the mesh.

A new error metric for meshes belongs here, in a file of its own. `hra.domains.meshes.allocator` makes the choice.
"""
