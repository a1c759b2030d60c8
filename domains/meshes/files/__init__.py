"""Mesh files in and out: OBJ, PLY, STL, OFF, GLB and glTF.

Every foreign format is read, checked and written here, each reader in a file of its own, and whatever comes out has
passed `validate`. The library's own file is in ``asset``.
"""
