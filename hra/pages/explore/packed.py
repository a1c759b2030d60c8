"""Arrays in JSON."""

from __future__ import annotations

import base64

import numpy as np

_NAMES = {"u1": "Uint8Array", "u2": "Uint16Array", "u4": "Uint32Array", "f4": "Float32Array", "f8": "Float64Array"}


def packed(array: np.ndarray) -> dict[str, str]:
    """A flat array for the page's ``unpack``: the name of JavaScript's typed array, and its bytes in base64."""
    flat = np.ascontiguousarray(array).ravel()
    name = _NAMES[flat.dtype.kind + str(flat.dtype.itemsize)]
    little = flat.astype(flat.dtype.newbyteorder("<"), copy=False)
    return {"type": name, "bytes": base64.b64encode(little.tobytes()).decode("ascii")}
