"""From a mesh to its cluster hierarchy.

Welding, grouping, simplification (bound to meshoptimizer), levels and their reports, and the whole-mesh chain that is
the peer. What cuts or draws a built mesh needs of it only how vertices are welded and the report.
"""
