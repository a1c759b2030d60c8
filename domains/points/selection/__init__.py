"""How points and splats are chosen: the allocator, and the errors that cameras see.

A new error metric for clouds belongs here, in a file of its own.
"""
