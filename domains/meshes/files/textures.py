"""Texture images as they lie in files: kept as they are, converted only where glTF has no such format."""

from __future__ import annotations

import io
import warnings

from hra.domains.meshes.materials import image_type
from hra.errors import RepairWarning

# Larger images are dropped: nothing may unpack to gigabytes.
MAX_PIXELS = 2**26


def texture(content: bytes, where: str) -> bytes | None:
    """A base-colour image as PNG or JPEG bytes; None with a warning where it cannot be read.

    PNG and JPEG are kept byte by byte, after a look at their header; other formats that Pillow reads (WebP, BMP, TGA)
    are converted to PNG.

    Warns
    -----
    RepairWarning : the texture is left out: damaged, too large, or of an unknown format (KTX2).
    """
    try:
        from PIL import Image
    except ImportError:
        return content if image_type(content) else _dropped("needs Pillow to be converted", where)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            image = Image.open(io.BytesIO(content), formats=("PNG", "JPEG", "WEBP", "BMP", "TGA", "GIF", "TIFF"))
        if image.width * image.height > MAX_PIXELS:
            return _dropped(f"has {image.width} x {image.height} pixels", where)
        if image_type(content):
            return content
        out = io.BytesIO()
        image.convert("RGBA" if "A" in image.getbands() or "transparency" in image.info else "RGB").save(out, "PNG")
    except Exception as error:  # Pillow raises whatever its decoders stumble over
        return _dropped(f"cannot be read ({type(error).__name__})", where)
    return out.getvalue()


def _dropped(reason: str, where: str) -> None:
    warnings.warn(f"{where}: the texture {reason} and was left out", RepairWarning, stacklevel=3)
