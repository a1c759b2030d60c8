"""Image files: what every image reader must take, and what it must refuse."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator

import numpy as np
from PIL import Image

from tests.helpers.hostile.cases import Case

_MODES = {
    "1": ("PNG", "TIFF"),
    "L": ("PNG", "JPEG"),
    "P": ("PNG", "GIF"),
    "RGBA": ("PNG", "WEBP", "TGA"),
    "CMYK": ("JPEG", "TIFF"),
}
FORMATS = {
    "PNG": ".png",
    "JPEG": ".jpg",
    "WEBP": ".webp",
    "TIFF": ".tif",
    "BMP": ".bmp",
    "GIF": ".gif",
    "TGA": ".tga",
    "PPM": ".ppm",
    "JPEG2000": ".jp2",
}


def picture(kind: str = "PNG", mode: str = "RGB", size: tuple[int, int] = (23, 17), **options: object) -> bytes:
    """A small image file of colours that vary."""
    values = np.random.default_rng(7).integers(0, 256, (size[1], size[0], 3), np.uint8)
    out = io.BytesIO()
    Image.fromarray(values).convert(mode).save(out, kind, **options)
    return out.getvalue()


def cases() -> Iterator[Case]:
    """All of them."""
    for kind, suffix in FORMATS.items():
        yield Case(f"image {kind}", picture(kind), suffix, size=(17, 23))
    for mode, kinds in _MODES.items():
        for kind in kinds:
            yield Case(f"image {kind} {mode}", picture(kind, mode), FORMATS[kind], size=(17, 23))
    yield Case("image of one pixel", picture(size=(1, 1)), ".png", size=(1, 1))
    yield Case("image of 20,000 x 1", picture(size=(20_000, 1)), ".png", size=(1, 20_000))
    yield Case("image of another suffix", picture("PNG"), ".jpg", size=(17, 23))
    yield Case("image of a blank page at 600 dpi", _blank(7016, 4960), ".png", size=(7016, 4960))
    rows, more = (struct.pack("<HHII", 257, 4, 1, count) for count in (17, 170))
    yield Case("image TIFF of rows that no strip holds", picture("TIFF", "1").replace(rows, more), ".tif")
    yield from _refused()


def _blank(height: int, width: int) -> bytes:
    out = io.BytesIO()
    Image.new("1", (width, height), 1).save(out, "PNG")
    return out.getvalue()


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png_header(width: int, height: int, depth: int = 8, color: int = 2) -> bytes:
    """A PNG file whose header claims a size and whose data is empty."""
    head = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", zlib.compress(b"")) + _chunk(b"IEND", b"")


def _refused() -> Iterator[Case]:
    webp, gif = picture("WEBP", lossless=True), picture("GIF")
    faulty = {
        "of no bytes": (b"", ".png"),
        "of 50,000 x 50,000 pixels": (png_header(50_000, 50_000), ".png"),
        "of 14,000 x 10,000 pixels that are not there": (png_header(14_000, 10_000), ".png"),
        "of 0 x 5 pixels": (png_header(0, 5), ".png"),
        "of 2**31 x 2**31 pixels": (png_header(2**31 - 1, 2**31 - 1), ".png"),
        "that is text": (b"not an image", ".png"),
        "that is a PNG's first bytes": (b"\x89PNG\r\n\x1a\n", ".png"),
        "that is SVG": (b"<svg xmlns='http://www.w3.org/2000/svg'/>", ".svg"),
        "that is EPS": (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", ".eps"),
        "WEBP of 16,384 x 16,384 pixels": (webp[:21] + b"\xff\xff\xff\x0f" + webp[25:], ".webp"),
        "GIF of 65,535 x 65,535 pixels": (gif[:6] + b"\xff" * 4 + gif[10:], ".gif"),
        "PPM of 10**9 x 10**9 pixels": (b"P6 1000000000 1000000000 255\n", ".ppm"),
        "PPM of 5,000 digits": (b"P6 " + b"9" * 5000 + b" 1 255\n", ".ppm"),
    }
    for name, (content, suffix) in faulty.items():
        yield Case(f"image {name}", content, suffix)
    for kind, suffix in FORMATS.items():
        content = picture(kind)
        for share in (0.3, 0.7):
            yield Case(f"image {kind}, {share:.0%} of it", content[: int(len(content) * share)], suffix)
