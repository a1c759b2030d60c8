"""Arrays and pictures as a page holds them in its JSON."""

from __future__ import annotations

import base64
import io

import numpy as np

from hra.errors import needs

_NAMES = {"u1": "Uint8Array", "u2": "Uint16Array", "u4": "Uint32Array", "f4": "Float32Array", "f8": "Float64Array"}
# Colours as fine as brightness: in a coarse level each pixel is a part of the picture that counts.
_QUALITY = 82


def jpeg(pixels: np.ndarray) -> str:
    """An image, uint8 or float in [0, 1], [H, W, 3], as the URI of a JPEG file.

    Raises
    ------
    MissingExtra : Pillow is not installed.
    """
    with needs("pillow", "tokens"):
        from PIL import Image
    whole = pixels if pixels.dtype == np.uint8 else np.rint(255 * pixels).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(whole).save(file, "JPEG", quality=_QUALITY, subsampling=0)
    return "data:image/jpeg;base64," + base64.b64encode(file.getvalue()).decode("ascii")


def packed(array: np.ndarray) -> dict[str, str]:
    """A flat array for the page's ``unpack``: the name of JavaScript's typed array, and its bytes in base64."""
    flat = np.ascontiguousarray(array).ravel()
    name = _NAMES[flat.dtype.kind + str(flat.dtype.itemsize)]
    little = flat.astype(flat.dtype.newbyteorder("<"), copy=False)
    return {"type": name, "bytes": base64.b64encode(little.tobytes()).decode("ascii")}
