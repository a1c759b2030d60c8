"""PLY out: one element of numbers, binary."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

_NAMES = {"i1": "char", "u1": "uchar", "i2": "short", "u2": "ushort", "i4": "int", "u4": "uint"}
_NAMES |= {"f4": "float", "f8": "double"}


def binary_table(columns: Mapping[str, np.ndarray], element: str = "vertex") -> bytes:
    """A little-endian PLY file of one element; ``columns`` are arrays [N] of one length, in the file's order.

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
    return ("\n".join([*lines, "end_header"]) + "\n").encode() + rows.tobytes()
