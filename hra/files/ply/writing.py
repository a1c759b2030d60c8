"""PLY out: one element of numbers and perhaps triangles, binary."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

_NAMES = {"i1": "char", "u1": "uchar", "i2": "short", "u2": "ushort", "i4": "int", "u4": "uint"}
_NAMES |= {"f4": "float", "f8": "double"}


def binary_table(
    columns: Mapping[str, np.ndarray], element: str = "vertex", triangles: np.ndarray | None = None
) -> bytes:
    """A little-endian PLY file of one element; ``columns`` are arrays [N] of one length, in the file's order.

    ``triangles`` uint32 [F, 3] become a second element, the faces.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.files.ply import binary_table, read_elements
    >>> data = binary_table({"x": np.float32([1, 2]), "red": np.uint8([0, 255])})
    >>> read_elements(data, "points.ply")["vertex"].scalars["red"].tolist()
    [0, 255]
    """
    kinds = {name: values.dtype.newbyteorder("<") for name, values in columns.items()}
    rows = np.empty(len(next(iter(columns.values()))), list(kinds.items()))
    for name, values in columns.items():
        rows[name] = values
    lines = ["ply", "format binary_little_endian 1.0", f"element {element} {len(rows)}"]
    lines += [f"property {_NAMES[kind.str[1:]]} {name}" for name, kind in kinds.items()]
    content = rows.tobytes()
    if triangles is not None:
        lines += [f"element face {len(triangles)}", "property list uchar int vertex_indices"]
        faces = np.zeros(len(triangles), [("count", "u1"), ("corners", "<i4", 3)])
        faces["count"], faces["corners"] = 3, triangles
        content += faces.tobytes()
    return ("\n".join([*lines, "end_header"]) + "\n").encode() + content
