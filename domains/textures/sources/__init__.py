"""Image files as textures, read tile by tile.

Headers and their checks, tiles decoded on demand, levels that a file lacks and that are made once, and images turned
upright belong here. Nothing here depends on the use of the texels.
"""
