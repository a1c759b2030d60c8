"""Mesh files in and out: OBJ, PLY, STL, OFF, GLB and glTF.

Every foreign format is read, checked and written here, and whatever comes out has passed `validate`: OBJ, PLY and glTF
each by a reader of its own, OFF and STL in ``read``. The library's own file is in ``asset``.
"""
