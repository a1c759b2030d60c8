"""Meshes larger than memory: built in parts on disk, and written to one file.

Reading in blocks, the parts of each round, what they share, and the file belong here. A part is built by
`hra.domains.meshes.building` as a whole mesh is.
"""
