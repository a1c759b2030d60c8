"""Many placed copies of a few meshes under one budget: where each stands, what of it is seen, and its cut.

Anything that needs a placement belongs here; a single mesh in its own coordinates belongs to `selection`.
"""
