"""The picture that a material's surface carries."""

from __future__ import annotations

import io

import numpy as np

from hra.domains.meshes.files.textures import MAX_PIXELS
from hra.domains.meshes.mesh.materials import Material
from hra.errors import ImageError


def base_color_image(material: Material) -> np.ndarray:
    """The base-colour image of a material that has one, uint8 [H, W, 3].

    Raises
    ------
    ImageError : it is damaged or too large.
    """
    from PIL import Image

    where = f"material {material.name!r}"
    try:
        image = Image.open(io.BytesIO(material.image or b""), formats=("PNG", "JPEG"))
        if image.width * image.height <= MAX_PIXELS:
            return np.asarray(image.convert("RGB"))
    except Exception as error:  # Pillow raises whatever its decoders stumble over
        raise ImageError(f"the texture cannot be decoded ({type(error).__name__})", where=where) from error
    raise ImageError(f"the texture has {image.width} x {image.height} pixels", where=where)
