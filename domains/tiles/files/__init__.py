"""Tilesets from disk: explicit trees, tilesets within tilesets, and subtrees of implicit ones.

What turns files into a `Tileset` belongs here. Contents are not opened: only their sizes count.
"""
