"""The textures suite: splits, replays, plans and views beside what engines do.

One file per row, and the scenes that they share.
"""
