"""Values of inner nodes from those of the leaves.

Sums, means, extrema, boxes and spheres, level by level from below, each with a module per backend.
"""
