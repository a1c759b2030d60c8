"""How points and splats are chosen: the allocator, and the errors that cameras see.

A new error metric belongs here.
"""
