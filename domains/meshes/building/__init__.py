"""From a mesh to its cluster hierarchy.

Grouping, simplification and levels belong here. Welding and meshoptimizer's functions are in `mesh`, because all that
reads meshes needs them; the chain of whole meshes that is the peer is in `lods`.
"""
