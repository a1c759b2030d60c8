"""The runtime suite: frames from a camera to pixels, part by part, and what culling saves.

Seconds are of the driver at hand, whose name stands in the record; a software driver's say how the parts compare and
nothing about a GPU. Triangles are the same everywhere.
"""
