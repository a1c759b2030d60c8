"""What the header of an image file tells, checked before any texel is decoded.

An EXIF orientation turns or mirrors each rectangle that is read, never the whole image.
"""

from __future__ import annotations

import mmap
import os
import warnings
from dataclasses import dataclass, fields
from typing import IO, Any

import numpy as np

from hra.domains.textures import formats
from hra.domains.textures.formats import TexelFormat
from hra.domains.textures.sources.tile_cache import openimageio
from hra.errors import FileError, ImageError, RepairWarning
from hra.files.images.opening import as_image_error, corrupt_exif
from hra.files.local_files import local_path, open_regular

# Readers of OpenImageIO that decode a file by itself; others make up pixels or follow further files.
_FORMATS = (
    *("bmp", "dds", "gif", "hdr", "jpeg", "jpeg2000", "jpegxl", "openexr"),
    *("png", "pnm", "targa", "tiff", "webp"),
)
# Raw bytes per byte of a file that these formats can reach at most, rounded up: LZW of a GIF comes closest.
_LARGEST_RATIO, _RATIO_FORMATS = 4096, ("bmp", "dds", "gif", "jpeg", "png", "pnm", "targa")
_BLOCKS = {
    "DXT1": formats.BC1,
    "DXT3": formats.BC2,
    "DXT5": formats.BC3,
    "BC4": formats.BC4,
    "BC5": formats.BC5,
    "BC6HU": formats.BC6H,
    "BC6HS": formats.BC6H,
    "BC7": formats.BC7,
}
Span = tuple[int, int]


@dataclass(frozen=True)
class Orientation:
    """How the upright image follows from the stored one: transposed first, then mirrored along its axes."""

    transposed: bool = False
    flip_rows: bool = False
    flip_columns: bool = False

    @classmethod
    def of(cls, exif: int) -> Orientation:
        """The meaning of an EXIF orientation from 1 to 8 (Exif 2.32, tag 0x0112)."""
        return cls(exif >= 5, exif in (3, 4, 7, 8), exif in (2, 3, 6, 7))

    def upright_size(self, height: int, width: int) -> tuple[int, int]:
        """Height and width of the upright image from those of the stored one."""
        return (width, height) if self.transposed else (height, width)

    def store(self, rows: Span, columns: Span, size: tuple[int, int]) -> tuple[Span, Span]:
        """The stored rows and columns that hold a rectangle of the upright image of ``size`` (height, width)."""
        if self.flip_rows:
            rows = size[0] - rows[1], size[0] - rows[0]
        if self.flip_columns:
            columns = size[1] - columns[1], size[1] - columns[0]
        return (columns, rows) if self.transposed else (rows, columns)

    def turn(self, texels: np.ndarray) -> np.ndarray:
        """Stored texels [h, w, C] of a rectangle as they stand upright."""
        if self.transposed:
            texels = texels.swapaxes(0, 1)
        return texels[:: -1 if self.flip_rows else 1, :: -1 if self.flip_columns else 1]


@dataclass(frozen=True)
class StoredSize:
    """Where the texels of a stored level are: EXR files may have their first one elsewhere than at (0, 0)."""

    height: int
    width: int
    top: int
    left: int


@dataclass(frozen=True)
class ImageHeader:
    """The header of an image file.

    Attributes
    ----------
    stored : the levels that are in the file, finest first, not turned.
    dtype : uint8, or float32 for all else.
    srgb : whether colours are encoded in sRGB, as far as one can tell.
    texels : the format of the file, or the nearest one that graphics interfaces have.
    stamp : length and time of the last change, by which other processes tell that the file is still the same.
    """

    path: str
    stored: tuple[StoredSize, ...]
    channels: int
    dtype: np.dtype
    orientation: Orientation
    srgb: bool
    texels: TexelFormat
    stamp: tuple[int, int]

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy in another process reads the same file; what it may not read is another one of the same name.
        return _reopen, tuple(getattr(self, field.name) for field in fields(self))


def _reopen(*values: Any) -> ImageHeader:
    header = ImageHeader(*values)
    with open_regular(header.path) as stream:
        if _stamp(stream) != header.stamp:
            what = "the image has been replaced by another one since it was pickled"
            raise FileError(what, where=header.path, fix="open it again")
    return header


def _stamp(stream: IO[bytes]) -> tuple[int, int]:
    status = os.fstat(stream.fileno())
    return status.st_size, status.st_mtime_ns


def read_header(path: str | os.PathLike[str], max_texels: int) -> ImageHeader:
    """Read and check the header of an image file; parameters and errors as of `open_image`."""
    name = os.path.abspath(local_path(path))
    # OpenImageIO's texts need not be UTF-8, which its binding takes them for.
    with open_regular(path) as stream, as_image_error(name):
        image = _open(name)
        try:
            _check(image.spec(), name, max_texels)
            _check_length(image, os.fstat(stream.fileno()).st_size, name)
            if image.format_name() == "jpeg":
                _check_end(stream.fileno(), name)
            return _header(image, name, corrupt_exif(stream), _stamp(stream))
        finally:
            image.close()


def _open(name: str) -> Any:
    """The OpenImageIO reader of a file."""
    image = openimageio().ImageInput.open(name)
    if image is not None and image.format_name() in _FORMATS:
        return image
    reason = " ".join(openimageio().geterror().split()) if image is None else f"{image.format_name()} is not supported"
    raise ImageError(f"not an image of a known format: {reason}", where=name, fix=f"use one of {', '.join(_FORMATS)}")


def _header(image: Any, name: str, exif_problem: str, stamp: tuple[int, int]) -> ImageHeader:
    spec, kind = image.spec(), image.spec().format.basetype
    depth = {openimageio().UINT8: 0, openimageio().FLOAT: 2, openimageio().DOUBLE: 2}.get(kind, 1)
    sizes = _levels(image)
    if image.seek_subimage(1, 0):
        warnings.warn(f"{name}: the first of several frames was taken", RepairWarning, stacklevel=5)
    integers = kind not in (openimageio().HALF, openimageio().FLOAT, openimageio().DOUBLE)
    return ImageHeader(
        name,
        sizes,
        spec.nchannels,
        np.dtype(np.uint8 if depth == 0 else np.float32),
        _orientation(spec, name, exif_problem),
        integers and "lin" not in spec.get_string_attribute("oiio:ColorSpace").lower(),
        _texels(spec, depth),
        stamp,
    )


def _levels(image: Any) -> tuple[StoredSize, ...]:
    sizes: list[StoredSize] = []
    while image.seek_subimage(0, len(sizes)):
        spec = image.spec()
        sizes.append(StoredSize(spec.height, spec.width, spec.y, spec.x))
    return tuple(sizes)


def _texels(spec: Any, depth: int) -> TexelFormat:
    """The blocks of a DDS file, or the uncompressed format for 8, 16 or 32 bits (``depth`` 0, 1, 2)."""
    grey, colour = (formats.R8, formats.R16F, formats.R32F), (formats.RGBA8, formats.RGBA16F, formats.RGBA32F)
    plain = (grey if spec.nchannels == 1 else colour)[depth]
    return _BLOCKS.get(spec.get_string_attribute("compression"), plain)


def _orientation(spec: Any, name: str, exif_problem: str) -> Orientation:
    """The orientation in the EXIF data; upright, as by `load_image`, where those are corrupt."""
    exif = spec.get_int_attribute("Orientation", 1)
    # OpenImageIO skips corrupt EXIF data in silence.
    problem = exif_problem if exif in range(1, 9) else f"orientation {exif}"
    if problem:
        what = f"{name}: corrupt EXIF data was ignored and the image not turned ({problem})"
        warnings.warn(what, RepairWarning, stacklevel=6)
    return Orientation.of(1 if problem else exif)


def _check(spec: Any, name: str, max_texels: int) -> None:
    if spec.deep or spec.depth != 1 or not 1 <= spec.nchannels <= 4:
        what = f"{spec.nchannels} channels, depth {spec.depth}: not an image of 1 to 4 channels"
        raise ImageError(what, where=name, fix="write the channels of one texture to a file of their own")
    if spec.width < 1 or spec.height < 1 or not spec.width * spec.height <= max_texels:
        what = f"the image has {spec.width} x {spec.height} texels, not 1 .. {max_texels:,}"
        raise ImageError(what, where=name, fix="scale it down; in Python, pass a larger max_texels if you trust it")


def _check_length(image: Any, length: int, name: str) -> None:
    """Refuse a header that claims more than the file can hold: some decoders take the memory for it at once."""
    claimed = image.spec().image_bytes(True)
    if image.format_name() in _RATIO_FORMATS and claimed > _LARGEST_RATIO * length:
        what = f"the header claims {claimed:,} bytes of texels, but the file has {length:,}"
        raise ImageError(what, where=name, fix="check that the file is complete")


def _check_end(file: int, name: str) -> None:
    """Refuse a truncated JPEG: the decoder would make up the rest in grey."""
    with mmap.mmap(file, 0, access=mmap.ACCESS_READ) as data:
        scan, end = data.rfind(b"\xff\xda"), data.rfind(b"\xff\xd9")
    if end < scan:
        raise ImageError("the JPEG file ends within its last scan", where=name, fix="check that the file is complete")
