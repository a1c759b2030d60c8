"""Clouds larger than memory: built in parts on disk, and written to one file.

Reading in blocks, the trees of parts, the tree above them, and the file belong here. What a node is, is decided where
clouds are built in memory, and comes out the same.
"""
