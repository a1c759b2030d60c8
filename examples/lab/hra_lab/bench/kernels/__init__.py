"""The kernels suite: pyramids, occlusion and hierarchy building against what others run.

Cases of one kind of kernel per file, and one file for each library that is timed beside it.
"""
