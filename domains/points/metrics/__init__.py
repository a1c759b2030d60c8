"""Error metrics of points and splats: what cameras see of what was left out.

A new error metric for clouds belongs here, in a file of its own. `hra.domains.points.allocator` makes the choice.
"""
