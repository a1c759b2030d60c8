"""From a mesh to its cluster hierarchy.

Welding, grouping, simplification (bound to meshoptimizer), levels and their reports, and the whole-mesh chain for
comparison. Code that cuts or draws a built mesh needs only the welding and the report.
"""
