"""What the header of an image file tells, checked before any texel is decoded.

An EXIF orientation turns or mirrors each rectangle that is read, never the whole image.
"""

from __future__ import annotations

import mmap
import os
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import IO, Any

import numpy as np

from hra.domains.textures import formats
from hra.domains.textures.formats import TexelFormat
from hra.domains.textures.sources.tile_cache import openimageio
from hra.errors import FileError, ImageError, warn
from hra.files.images.opening import as_image_error, header_orientation, white_is_zero
from hra.files.local_files import local_path, open_regular

# Readers of OpenImageIO that decode a file by itself; others make up pixels or follow further files.
_FORMATS = (
    *("bmp", "dds", "gif", "hdr", "jpeg", "jpeg2000", "jpegxl", "openexr"),
    *("png", "pnm", "targa", "tiff", "webp"),
)
# Pixels that a byte of a file can stand for at most, see `hra.files.images.opening`; of PNG at 1 bit for each.
_MOST_PIXELS_PER_BYTE = dict.fromkeys(("bmp", "dds", "gif", "jpeg", "pnm", "targa"), 4096) | {"png": 8 * 1032}
_REDUCED, _MASK, _MOST_PARTS = 1, 4, 256  # bits of what a picture of a TIFF file is beside the first; how many are seen
_PNG_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # of each colour type
_DDS_BLOCKS = 4  # the flag of DDS files whose texels a code names, not masks
_DDS_CUBE, _DX10_CUBE = 0x200, 4
_NORMALS = (("BC4", 1), ("BC5", 2), ("DXT5", 3))
# The line of an HDR file that tells its size, and how much of the file is searched for it.
_TURNED_HDR, _HDR_HEAD = re.compile(rb"\n\n(\+X +\d+ +\+Y|-X +\d+ +-Y) +\d+\n"), 2**16
# What the head of an HDR file says of its colours.
_HDR_COLORS = re.compile(rb"\n(EXPOSURE|COLORCORR|GAMMA|PRIMARIES)=([^\n]*)")
# Photometric interpretations of TIFF: those from 8 on are kinds of CIELab, the last two LogL and LogLuv.
_WHITE_IS_0, _PALETTE, _NO_COLORS = 0, 3, (8, 9, 10, 32844, 32845)
# What the channels of an EXR file are by their number; names behind the layer's that mean the same, and the primaries
# and the white of sRGB.
_MEANINGS = {2: "grey and alpha", 3: "red, green and blue", 4: "red, green, blue and alpha"}
_USUAL_CHANNELS = ("YA", "RGB", "RGBA")
_PRIMARIES, _ALIKE = (0.64, 0.33, 0.3, 0.6, 0.15, 0.06, 0.3127, 0.329), 0.025
_BLOCKS = {
    "DXT1": formats.BC1,
    "DXT2": formats.BC2,  # this and DXT4 have their colours multiplied by alpha
    "DXT3": formats.BC2,
    "DXT4": formats.BC3,
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
            with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
                _check_bytes(image, data, name)
            return _header(image, name, header_orientation(stream), _stamp(stream))
        finally:
            image.close()


def _open(name: str) -> Any:
    """The OpenImageIO reader of a file."""
    image = openimageio().ImageInput.open(name)
    if image is not None and image.format_name() in _FORMATS:
        return image
    reason = " ".join(openimageio().geterror().split()) if image is None else f"{image.format_name()} is not supported"
    raise ImageError(f"not an image of a known format: {reason}", where=name, fix=f"use one of {', '.join(_FORMATS)}")


def _header(image: Any, name: str, stated: tuple[int | None, str], stamp: tuple[int, int]) -> ImageHeader:
    spec, kind = image.spec(), image.spec().format.basetype
    depth = {openimageio().UINT8: 0, openimageio().FLOAT: 2, openimageio().DOUBLE: 2}.get(kind, 1)
    sizes = _levels(image)
    _warn_of_parts(image, spec, name)
    # Signed integers are directions or heights, floats are light, and no interface has BC4 or BC5 in sRGB. A DDS file
    # whose blocks of DXT5 hold three channels says that they are normals.
    coded = kind in (openimageio().UINT8, openimageio().UINT16, openimageio().UINT32)
    coded = coded and (spec.get_string_attribute("compression"), spec.nchannels) not in _NORMALS
    return ImageHeader(
        name,
        sizes,
        spec.nchannels,
        np.dtype(np.uint8 if depth == 0 else np.float32),
        _orientation(spec, name, *stated),
        coded and "lin" not in spec.get_string_attribute("oiio:ColorSpace").lower(),
        _texels(spec, depth),
        stamp,
    )


def _warn_of_parts(image: Any, spec: Any, name: str) -> None:
    """Say which pictures of a file are not read, and that what is read is not what the file shows.

    The reduced pictures of a TIFF lose nothing: levels are made of the first.
    """
    number, masks = 1, False
    while number < _MOST_PARTS and image.seek_subimage(number, 0):
        kind = image.spec().get_int_attribute("tiff:subfiletype")
        if not kind & (_REDUCED | _MASK):
            warn(f"{name}: the first of several frames was taken")
            break
        masks, number = masks or not kind & _REDUCED, number + 1
    if masks:
        warn(f"{name}: its mask of transparent places was left out")
    if image.format_name() == "openexr":
        _warn_of_colors(spec, name)
    if spec.get_string_attribute("textureformat") == "CubeFace Environment":
        warn(f"{name}: the faces of the cube map were taken for one image, one below another")
    elif (held := (spec.width, spec.height, spec.x, spec.y)) != (
        shown := (spec.full_width, spec.full_height, spec.full_x, spec.full_y)
    ):
        kept, whole = ("{} x {} texels from ({}, {})".format(*window) for window in (held, shown))
        warn(f"{name}: the {kept} that it holds were taken, not the {whole} that it shows")


def _warn_of_colors(spec: Any, name: str) -> None:
    """Say what an EXR file means by its channels where that is not what they are taken for."""
    channels = spec.channelnames
    if len(channels) > 1 and "".join(channel.rpartition(".")[2] for channel in channels) not in _USUAL_CHANNELS:
        what = f"its channels {', '.join(channels)} were taken for {_MEANINGS[len(channels)]}"
        warn(f"{name}: {what}"[-500:])
    if not _alike(spec.getattribute("chromaticities") or _PRIMARIES, _PRIMARIES):
        warn(f"{name}: its colours have other primaries than those of sRGB, and were taken as they are")


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


def _orientation(spec: Any, name: str, stated: int | None, problem: str) -> Orientation:
    """The orientation that the file states; upright, as by `load_image`, where its EXIF data are corrupt."""
    # OpenImageIO skips corrupt EXIF data in silence, and what stands behind the pixels of a PNG.
    exif = spec.get_int_attribute("Orientation", 1) if stated is None else stated
    problem = problem if exif in range(1, 9) else f"orientation {exif}"
    if problem:
        what = f"{name}: corrupt EXIF data was ignored and the image not turned ({problem})"
        warn(what)
    return Orientation.of(1 if problem else exif)


def _check(spec: Any, name: str, max_texels: int) -> None:
    if spec.deep or spec.depth != 1 or not 1 <= spec.nchannels <= 4:
        what = f"{spec.nchannels} channels, depth {spec.depth}: not an image of 1 to 4 channels"
        raise ImageError(what, where=name, fix="write the channels of one texture to a file of their own")
    if spec.width < 1 or spec.height < 1 or not spec.width * spec.height <= max_texels:
        what = f"the image has {spec.width} x {spec.height} texels, not 1 .. {max_texels:,}"
        raise ImageError(what, where=name, fix="scale it down; in Python, pass a larger max_texels if you trust it")


def _check_bytes(image: Any, data: mmap.mmap, name: str) -> None:
    """Refuse or name what the decoder would make up from the bytes of the file.

    Warns
    -----
    RepairWarning : a TGA file whose fourth bytes are no alpha by its header, which are taken for alpha, as by engines;
        or whose bit of alpha is left out; a DDS file of several layers or faces; a JPEG file with a gain map.
    """
    spec, kind = image.spec(), image.format_name()
    most, bits = _MOST_PIXELS_PER_BYTE.get(kind), 1
    if kind == "png":
        bits = data[24] * _PNG_CHANNELS.get(data[25], 1)
    if most is not None and spec.width * spec.height * bits > most * len(data):
        # Some decoders take the memory for all that a header claims at once.
        what = f"the header claims {spec.width} x {spec.height} texels, which {len(data):,} bytes cannot hold"
        raise ImageError(what, where=name, fix="check that the file is complete")
    if kind == "jpeg" and data.rfind(b"\xff\xd9") < data.rfind(b"\xff\xda"):
        # The decoder would make up the rest in grey.
        raise ImageError("the JPEG file ends within its last scan", where=name, fix="check that the file is complete")
    if kind == "jpeg" and spec.format.basetype != openimageio().UINT8:
        what = f"{name}: its gain map (Ultra HDR) was applied: texels are light as floats, not the picture of 8 bits"
        warn(what)
    if kind == "hdr":
        _check_hdr(data, name)
    if kind == "dds":
        _check_dds(data, name)
    if kind == "tiff":
        _check_tiff(spec, name)
    if kind == "targa":
        _check_targa(spec, data, name)


def _check_hdr(data: mmap.mmap, name: str) -> None:
    head = data[:_HDR_HEAD]
    if _TURNED_HDR.search(head):
        # The decoder takes the turn to the left for one to the right, and the other way round.
        what = "the lines of the HDR file are columns of a picture that is turned"
        raise ImageError(what, where=name, fix="write it from the top left, line by line (-Y +X)")
    for key, text in _HDR_COLORS.findall(head.partition(b"\n\n")[0]):
        numbers = text.split()
        usual = _PRIMARIES if key == b"PRIMARIES" else (1.0,) * len(numbers)
        if not _alike(numbers, usual):
            what = f"its {key.decode()} of {text.decode('ascii', 'replace').strip()[:80]} was not applied to its light"
            warn(f"{name}: {what}")


def _alike(numbers: Sequence[Any], usual: Sequence[float]) -> bool:
    """Whether numbers, or texts of numbers, are those that change nothing."""
    try:
        return all(abs(float(own) - other) <= _ALIKE for own, other in zip(numbers, usual, strict=True))
    except ValueError:
        return False


def _check_tiff(spec: Any, name: str) -> None:
    """Refuse what the decoder would take for other colours than the file has."""
    meaning = spec.get_int_attribute("tiff:PhotometricInterpretation", 1)
    deep = spec.format.basetype != openimageio().UINT8
    if meaning == _PALETTE and spec.alpha_channel >= 0:
        # It would take indices and alpha for colours.
        what = "the TIFF file has a palette and an alpha channel"
        raise ImageError(what, where=name, fix="convert it to RGBA, without a palette")
    if spec.alpha_channel >= 0 and spec.get_string_attribute("compression") == "jpeg":
        # It would multiply colours by alpha.
        what = "the TIFF file has alpha and is compressed as JPEG"
        raise ImageError(what, where=name, fix="write it with another compression, such as deflate")
    if meaning in _NO_COLORS:
        # It would make 8 bits, of light that is cut off at 1 or with another white.
        what = f"the TIFF file has colours in {spec.get_string_attribute('tiff:ColorSpace')}, not RGB"
        raise ImageError(what, where=name, fix="convert it to RGB; light to floats, as in EXR")
    if spec.format.basetype == openimageio().DOUBLE and spec.tile_width > 0:
        # It would take other bytes for them.
        what = "the TIFF file holds tiles of floating-point numbers of 64 bits"
        raise ImageError(what, where=name, fix="write it with 32 bits, or in strips")
    if meaning == _WHITE_IS_0 and (deep or spec.alpha_channel >= 0):
        raise white_is_zero(name)


def _check_targa(spec: Any, data: mmap.mmap, name: str) -> None:
    bits = data[17] & 15
    if spec.alpha_channel >= 0 and not bits:
        what = f"{name}: its header says that it has no alpha; the fourth byte of each texel was taken for alpha"
        warn(what)
    if spec.alpha_channel < 0 and bits and 16 in (data[7], data[16]):
        what = f"{name}: the bit of alpha that its texels of 16 bits have was left out"
        warn(what)


def _check_dds(data: mmap.mmap, name: str) -> None:
    if not _masks_fit(data):
        # The decoder would read zeros.
        what = "the header names bits of channels that its texels do not have"
        raise ImageError(what, where=name, fix="write the file again by another program")
    if data[84:88] == b"DX10":
        misc, layers = struct.unpack_from("<2I", data, 136)
        if layers > 1 or misc & _DX10_CUBE:
            what = f"{name}: the first of several layers or faces was taken"
            warn(what)
    elif struct.unpack_from("<I", data, 112)[0] & _DDS_CUBE:
        what = f"{name}: the faces of the cube map were taken for one image, one below another"
        warn(what)


def _masks_fit(data: mmap.mmap) -> bool:
    """Whether the masks of channels of a DDS header lie within the bits of a texel, where it has masks."""
    flags, bits, *masks = struct.unpack_from("<I4x5I", data, 80)
    return bool(flags & _DDS_BLOCKS) or not any(mask >> bits for mask in masks)
