"""Hi-Z occlusion culling: bounds as rectangles and depths, and what lies behind a depth buffer.

Projection of boxes and spheres, and tests against a depth pyramid that are conservative: nothing visible is culled. The
pyramid and the look-up in it are of ``pyramids.levels``.
"""
