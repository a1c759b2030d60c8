"""Image files opened through Pillow, none of whose exceptions and warnings get out."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from hra.errors import HraError, ImageError, OutOfMemory, needs, warn
from hra.files.local_files import open_regular

if TYPE_CHECKING:
    from PIL import Image

# Only formats that Pillow decodes by itself: an EPS file, for one, would start Ghostscript.
FORMATS = ("PNG", "JPEG", "WEBP", "TIFF", "BMP", "GIF", "TGA", "JPEG2000", "PPM", "AVIF")
_ORIENTATION = 0x0112  # the EXIF tag
# Tags of TIFF, the last of which is 2 where channels lie one behind another.
_SAMPLES, _DEPTH, _PLANES, _APART = 277, 258, 284, 2
_PHOTOMETRIC, _SAMPLE_FORMAT, _SIGNED = 262, 339, 2  # tags of TIFF: the one is 0 where white is 0
# How YCbCr becomes RGB: shares of red, green and blue in Y, and the range of each channel. Pillow knows the usual ones.
_SHARES, _RANGES = (529, (0.299, 0.587, 0.114)), (532, (0, 255, 128, 255, 128, 255))
# Python's warning filters belong to the whole process, so threads take turns to change them. Decoding is outside.
_FILTERS = threading.Lock()
# Pixels that a byte of a file can stand for at most: runs of GIF (LZW) and JPEG, and a PNG's deflate at 1 bit a pixel.
_MOST_PIXELS_PER_BYTE = dict.fromkeys(("JPEG", "GIF", "BMP", "TGA", "PPM"), 4096) | {"PNG": 8 * 1032}
# A macroblock of VP8 spends three bits on its modes at least (RFC 6386, section 11).
_MOST_WEBP, _MOST_CHUNKS = 1024, 100
_TOO_LARGE = "scale the image down; in Python, {} if you trust the file"
_BITS = {"RGB": 24, "RGBA": 32, "LA": 16, "I;16": 16}


def _new_filters() -> None:
    """A lock of its own for a forked process: the thread that held the other one is not there to release it."""
    global _FILTERS
    _FILTERS = threading.Lock()


os.register_at_fork(after_in_child=_new_filters)


@contextmanager
def open_upright(path: str | os.PathLike[str], max_pixels: int) -> Iterator[Image.Image]:
    """The first frame of an image file, loaded and turned upright; parameters, errors and warnings as in `load_image`.

    Exceptions of any kind that are raised while it is open become ImageError.
    """
    with open_regular(path) as stream, decoded_upright(stream, path, max_pixels) as image:
        yield image


@contextmanager
def decoded_upright(stream: IO[bytes], path: str | os.PathLike[str], max_pixels: int) -> Iterator[Image.Image]:
    """`open_upright` for a stream that begins with the image; ``path`` names it in messages."""
    with as_image_error(path):
        image = _open(stream, path, max_pixels)
        image.load()
        image = upright(image, str(path))  # one name, so that the unturned pixels are not kept
        yield image


def upright(image: Image.Image, name: str) -> Image.Image:
    """A loaded image turned by its EXIF orientation; unturned with a RepairWarning where that is corrupt."""
    from PIL.Image import Transpose

    turns = {
        2: Transpose.FLIP_LEFT_RIGHT,
        3: Transpose.ROTATE_180,
        4: Transpose.FLIP_TOP_BOTTOM,
        5: Transpose.TRANSPOSE,
        6: Transpose.ROTATE_270,
        7: Transpose.TRANSVERSE,
        8: Transpose.ROTATE_90,
    }
    try:
        with _pillow_warnings() as problems:
            orientation = _orientation(image)
    except Exception as error:  # Pillow's EXIF parser raises a dozen kinds for corrupt data
        problems, orientation = [str(error)], 1
    if problems:
        _repair(name, f"corrupt EXIF data was ignored and the image not turned ({problems[0]})")
        return image
    return image.transpose(turns[orientation]) if orientation in turns else image


def _orientation(image: Image.Image, getexif: Callable[[Any], Any] = lambda image: image.getexif()) -> int:
    from PIL.Image import Exif

    exif = getexif(image)  # or XMP; a TIFF has turned itself when it was loaded
    if "exif" in image.info:
        # Parsed again: Image.open has swallowed the errors of a JPEG's EXIF data and keeps it as empty.
        exif = Exif()
        exif.load(image.info["exif"])
    orientation = exif.get(_ORIENTATION, 1)
    if orientation not in range(1, 9):
        raise ValueError(f"orientation {orientation!r}")
    return orientation


def stated_orientation(image: Image.Image) -> int:
    """The EXIF orientation of an image, 1 to 8; 1 where its EXIF data are corrupt."""
    try:
        with _pillow_warnings():
            return _orientation(image)
    except Exception:  # as in `upright`
        return 1


def header_orientation(stream: IO[bytes]) -> tuple[int | None, str]:
    """The EXIF orientation that the head of an image file states, 1 to 8, and what is wrong with its EXIF data.

    Pixels are not decoded. The orientation is that of `upright`, which may stand behind the pixels of a PNG or in its
    XMP data. It is None where Pillow is missing or does not know the file; the caller's own reader judges that one.
    """
    try:
        from PIL import Image

        with _pillow_warnings():
            image = Image.open(stream, formats=FORMATS)
            if image.format == "PNG" and "exif" not in image.info and (exif := _png_exif(stream)):
                image.info["exif"] = exif
    except Exception:  # without Pillow, or no file for it
        return None, ""
    try:
        with _pillow_warnings() as problems:
            orientation = _orientation(image, Image.Image.getexif)  # a PNG's own would decode all pixels first
    except Exception as error:  # as in `upright`
        return 1, str(error)
    return (1, problems[0]) if problems else (orientation, "")


def _png_exif(stream: IO[bytes]) -> bytes:
    """The EXIF data of a PNG file, which may stand anywhere in it; nothing where it has none."""
    stream.seek(8)
    while len(head := stream.read(8)) == 8 and head[4:] != b"IEND":
        length = int.from_bytes(head[:4])
        if head[4:] == b"eXIf":
            return stream.read(length)
        stream.seek(length + 4, os.SEEK_CUR)
    return b""


@contextmanager
def as_image_error(path: str | os.PathLike[str]) -> Iterator[None]:
    """Whatever a decoder raises within becomes ImageError, or OutOfMemory, that names the file."""
    try:
        yield
    except ImageError as error:
        if error.where:
            raise
        raise ImageError(error.what, where=str(path), fix=error.fix) from error
    except MemoryError as error:
        what = "the image is too large for this machine: it needs more memory than is free"
        raise OutOfMemory(what, where=str(path), fix="pass a smaller max_pixels, or scale the image down") from error
    except (HraError, Warning):  # a warning that the caller's filters have turned into an error
        raise
    except Exception as error:  # Pillow's decoders raise OSError, SyntaxError, ValueError, struct.error and others
        fix = "check that the file is a complete image of a known format"
        raise ImageError(f"the image cannot be decoded: {error}", where=str(path), fix=fix) from error


def _open(stream: IO[bytes], path: str | os.PathLike[str], max_pixels: int) -> Image.Image:
    with needs("pillow", "textures"):
        from PIL import Image, UnidentifiedImageError
    try:
        with _pillow_warnings():
            image = Image.open(stream, formats=FORMATS)
            several = bool(getattr(image, "is_animated", False))
            if image.format == "TIFF":
                image.getexif()  # loading it would parse this outside, where its warnings get out
    except UnidentifiedImageError as error:
        known = ", ".join(FORMATS)
        raise ImageError("not an image of a known format", where=str(path), fix=f"use one of {known}") from error
    except Image.DecompressionBombError as error:
        raise ImageError(
            f"too many pixels: {error}", where=str(path), fix=_TOO_LARGE.format("raise PIL.Image.MAX_IMAGE_PIXELS")
        ) from error
    _check_size(image, stream, path, max_pixels)
    if several:
        _repair(str(path), "the first of several frames was taken")
    return image


def _check_size(image: Image.Image, stream: IO[bytes], path: str | os.PathLike[str], max_pixels: int) -> None:
    """Refuse more pixels than allowed, or than the file can hold: Pillow takes the memory for all of them at once."""
    width, height = image.size
    if not width * height <= max_pixels:
        what = f"the image has {width} x {height} pixels, more than the limit of {max_pixels:,}"
        raise ImageError(what, where=str(path), fix=_TOO_LARGE.format("pass a larger max_pixels"))
    place = stream.tell()
    size = stream.seek(0, os.SEEK_END)
    stream.seek(place)
    most = _MOST_WEBP if is_lossy_webp(image, stream) else _MOST_PIXELS_PER_BYTE.get(image.format or "")
    bits = _BITS.get(image.mode, 1) if image.format == "PNG" else 1
    if most is not None and width * height * bits > most * size:
        what = f"the header claims {width} x {height} pixels, which {size:,} bytes cannot hold"
        raise ImageError(what, where=str(path), fix="check that the file is complete")
    if image.format == "TIFF":
        _check_tiff(image, str(path))


def _check_tiff(image: Image.Image, name: str) -> None:
    """Refuse what Pillow would make up or take for other shades."""
    tags = getattr(image, "tag_v2", {})
    depth = max(tags.get(_DEPTH, (1,)))
    if image.mode.startswith(("I", "F")) and tags.get(_PHOTOMETRIC) == 0:
        raise white_is_zero(name)
    if depth <= 16 and _SIGNED in tags.get(_SAMPLE_FORMAT, ()):
        # It would take numbers of 8 bits below 0 for those above 127, and show 16 bits half as bright as they may be.
        what = f"the TIFF file holds numbers of {depth} bits with a sign"
        raise ImageError(what, where=name, fix="write them without a sign, or as floating point in [0, 1]")
    if image.mode == "YCbCr" and not all(
        len(found := tags.get(tag, usual)) == len(usual)
        and all(abs(number - other) <= 1e-3 * other for number, other in zip(found, usual, strict=True))
        for tag, usual in (_SHARES, _RANGES)
    ):
        what = "the TIFF file has YCbCr of other coefficients or ranges than the usual ones (ITU-R BT.601)"
        fix = "convert it to RGB, or read it by hra.domains.textures.open_image"
        raise ImageError(what, where=name, fix=fix)
    if tags.get(_PLANES) == _APART and tags.get(_SAMPLES, 1) > 1:
        raw = any(tile[0] == "raw" for tile in getattr(image, "tile", []))
        # Of 16 bits it would take bytes for numbers, and of packed grey and alpha the rows of both in turns.
        if image.mode == "LA" or (raw and depth > 8):
            what = f"the channels of the TIFF file lie one behind another, {tags[_SAMPLES]} of {depth} bits"
            fix = "write them pixel by pixel (planar configuration 1), or read it by hra.domains.textures.open_image"
            raise ImageError(what, where=name, fix=fix)
    if (covered := _covered(image)) < image.width * image.height:
        # It leaves out the rows of strips that the file does not list, and calls them black.
        what = f"the strips of the file hold {covered} of its {image.width} x {image.height} pixels"
        raise ImageError(what, where=name, fix="check that the file is complete")


def stated_depth(image: Image.Image) -> int:
    """Bits of integers above 8 bits: what a TIFF file states, as Pillow hands out its 12 bits unscaled, or 16."""
    return min(16, max(getattr(image, "tag_v2", {}).get(_DEPTH, (16,))))


def white_is_zero(name: str) -> ImageError:
    """The error of a TIFF file that decoders get wrong: they do not invert more than 8 bits, but alpha, too."""
    fix = "convert it to grey in which black is 0"
    return ImageError("white is 0 in the TIFF file, of more than 8 bits or with alpha", where=name, fix=fix)


def _covered(image: Image.Image) -> int:
    """How many pixels the strips or tiles hold that the file lists; those of single channels lie one above another."""
    boxes = {tuple(tile[1]) for tile in getattr(image, "tile", []) if tile[1] is not None}
    return sum((right - left) * (lower - upper) for left, upper, right, lower in boxes)


def is_lossy_webp(image: Image.Image, stream: IO[bytes]) -> bool:
    """Whether it is one VP8 frame; lossless ones and canvases of animations may have any number of pixels."""
    if image.format != "WEBP" or getattr(image, "is_animated", False):
        return False
    stream.seek(12)  # Pillow has read all of the file
    for _ in range(_MOST_CHUNKS):
        head = stream.read(8)
        if len(head) < 8 or head[:4] in (b"VP8 ", b"VP8L"):
            return head[:4] == b"VP8 "
        length = int.from_bytes(head[4:], "little")
        stream.seek(length + length % 2, os.SEEK_CUR)
    return False


@contextmanager
def _pillow_warnings() -> Iterator[list[str]]:
    """Keep Pillow's warnings; the list that is yielded has them at the end."""
    messages: list[str] = []
    with _FILTERS, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield messages
        messages.extend(str(warning.message) for warning in caught)


def _repair(name: str, what: str) -> None:
    warn(f"{name}: {what}")
