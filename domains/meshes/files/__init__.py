"""Mesh files in and out: OBJ, PLY, STL, OFF, GLB and glTF."""
