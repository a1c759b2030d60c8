"""What an OBJ file says, as it is collected line by line."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

NONE = np.iinfo(np.int64).min


@dataclass(eq=False)
class ObjLines:
    """What an OBJ file says, line by line.

    Attributes
    ----------
    positions : three numbers a vertex; colors : three a vertex, empty if no vertex has any.
    uv : two a coordinate; normals : three a normal.
    corners : three numbers a corner: vertex, coordinate and normal from 0, NONE where there is none.
    sizes : corners of each face; face_lines : of each face; face_material : number of its name among ``materials``.
    libraries, materials : names, the first material is none at all.
    passed_over : how many lines were, by their first word.
    """

    positions: array = field(default_factory=lambda: array("d"))
    colors: array = field(default_factory=lambda: array("d"))
    uv: array = field(default_factory=lambda: array("d"))
    normals: array = field(default_factory=lambda: array("d"))
    corners: array = field(default_factory=lambda: array("q"))
    sizes: array = field(default_factory=lambda: array("q"))
    face_lines: array = field(default_factory=lambda: array("q"))
    face_material: array = field(default_factory=lambda: array("q"))
    libraries: list[str] = field(default_factory=list)
    materials: dict[str | None, int] = field(default_factory=lambda: {None: 0})
    passed_over: Counter[bytes] = field(default_factory=Counter)
    material: int = 0
