"""Image files as textures: levels that are read when they are needed, of any size and bit depth."""

from __future__ import annotations

import math
import os
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from hra.domains.textures.formats import RGBA8, TexelFormat
from hra.domains.textures.mips import build_mips, level_shapes
from hra.domains.textures.pages import MipLevel
from hra.domains.textures.sources.header import read_header
from hra.domains.textures.sources.stored import MadeLevel, MadeLevels, StoredLevel
from hra.domains.textures.sources.tile_cache import TileCache
from hra.errors import ImageError, MissingExtra, check_kind, warn
from hra.files.images import MAX_PIXELS, load_image
from hra.files.images.arrays import unit_range
from hra.files.images.opening import open_upright
from hra.files.limits import DEFAULT
from hra.files.local_files import local_path
from hra.kernels.pyramids.levels.reductions import colors, to_srgb
from hra.model.arrays import number_in

# The largest texture that Direct3D 11 and 12 guarantee is 16,384 texels high and wide.
MAX_TEXELS = DEFAULT.texels
_ONLY_OPENIMAGEIO = (".dds", ".exr", ".hdr", ".jxl", ".tx")
# Of BMP with 32 bits OpenImageIO 3.2 ignores which bits are red, green and blue, and takes bits without use for alpha.
_ONLY_PILLOW = (".bmp", ".dib")


@dataclass(frozen=True, eq=False)
class ImageSource:
    """An image file that is open.

    Attributes
    ----------
    mips : levels uint8 or float32 [H, W, C], C from 1 to 4, finest first, upright by the EXIF orientation.
    texels : the format of the file, or the nearest one that graphics interfaces have.
    srgb : whether colours are encoded in sRGB, as far as one can tell.

    Examples
    --------
    >>> import hra
    >>> from hra.domains.textures import TiledTexture, open_image
    >>> source = open_image(hra.samples.path("earth.jpg"))
    >>> source.mips[0].shape, source.texels.name
    ((2048, 4096, 3), 'RGBA8')
    >>> TiledTexture.from_source(source).read(5).shape
    (128, 128, 3)
    """

    mips: tuple[MipLevel, ...]
    texels: TexelFormat
    srgb: bool = True


def open_image(
    path: str | os.PathLike[str],
    *,
    cache: TileCache | None = None,
    srgb: bool | None = None,
    max_texels: int = MAX_TEXELS,
) -> ImageSource:
    """Open a TIFF, EXR, PNG, JPEG, DDS, WebP, HDR or other file; only its header is read.

    Texels are read tile by tile through a cache of limited size. Levels of the file are used as long as their sizes are
    halves rounded up; the others are made from the last of those when one is first read, into a temporary file. uint8
    files stay uint8; others become float32, integers in 0 .. 1, signed ones from about -1. Alpha is kept as a fourth
    channel, and colours are as in the file: EXR, and TIFF with associated alpha, have them multiplied by it. BMP is
    decoded at once. Without OpenImageIO so is all that Pillow reads, to RGB on white.

    Parameters
    ----------
    cache : shared by several files; by default a `TileCache` of the file's own.
    srgb : whether colours are encoded in sRGB, so that levels are made from light; by default those of integers
        without a sign are, except for BC4, BC5 and normals in DXT5.
    max_texels : larger images are refused before they are decoded.

    Raises
    ------
    FileError : missing, not a regular file, or not readable.
    ImageError : not an image, truncated, too large, more than 4 channels, or a kind of TIFF of which the decoder makes
        other colours: CIELab, LogLuv, JPEG with alpha, tiles of doubles, or white as 0 with alpha or more than 8 bits;
        or HDR of columns from the bottom left or the top right; when texels are read: corrupt or not finite.
    MissingExtra : OpenImageIO is not installed, and Pillow does not read such files.

    Warns
    -----
    RepairWarning : the first of several frames, layers or faces was taken, faces of a cube map were taken for one
        image, a mask was left out, an EXR file holds other texels than it shows, other channels than colours and alpha
        or colours of other primaries, an HDR file states an exposure or a correction of its light, corrupt EXIF data
        was ignored, the gain map of a JPEG file was applied, bytes of a TGA file that are no alpha by its header were
        taken for alpha, or its single bits of alpha were left out.

    Examples
    --------
    >>> import hra
    >>> from hra.domains.textures import open_image
    >>> source = open_image(hra.samples.path("photo.jpg"))
    >>> len(source.mips), source.mips[0][:2, :3].shape
    (12, (2, 3, 3))
    """
    suffix = local_path(path).suffix.lower()
    check_kind("cache", cache, (TileCache, type(None)), "pass a TileCache, or None for one of the file's own")
    try:
        cache = TileCache() if cache is None else cache
    except MissingExtra:
        if suffix in _ONLY_OPENIMAGEIO:
            raise
    if cache is None or suffix in _ONLY_PILLOW:
        texels = _decoded(path, max_texels) if suffix in _ONLY_PILLOW else load_texels(path, max_texels)
        return ImageSource(build_mips(texels, srgb is not False), RGBA8, srgb is not False)
    header = read_header(path, max_texels)
    levels = [StoredLevel(cache, header, index) for index in range(len(header.stored))]
    shapes = level_shapes(*levels[0].shape[:2])
    stored = [level for level, _ in takewhile(_fits, zip(levels, shapes, strict=False))]
    encoded = header.srgb if srgb is None else srgb
    made = MadeLevels(stored[-1], encoded)
    rest = [MadeLevel(made, index, shape) for index, shape in enumerate(shapes[len(stored) :], start=1)]
    return ImageSource((*stored, *rest), header.texels, encoded)


def _decoded(path: str | os.PathLike[str], max_texels: int) -> np.ndarray:
    """An image of 8 bits decoded by Pillow, with its alpha: uint8 [H, W, 3 or 4]."""
    with open_upright(path, min(max_texels, MAX_PIXELS)) as image:
        return np.array(image.convert("RGBA" if image.has_transparency_data else "RGB"))


def shown_texels(path: str | os.PathLike[str]) -> tuple[np.ndarray, TexelFormat]:
    """An image file as a screen shows it, and the format of its texels; errors as of `load_texels` and `open_image`.

    What Pillow does not read comes by `open_image`. Light is cut off at 1 and encoded in sRGB.

    Returns
    -------
    uint8 or float32 [H, W, C], C 1 or 3; sRGB.

    Warns
    -----
    RepairWarning : alpha was left out, besides what `open_image` warns of.
    """
    if local_path(path).suffix.lower() not in _ONLY_OPENIMAGEIO:
        with suppress(ImageError):  # Pillow lacks many kinds of TIFF; what nothing reads is refused below
            return load_texels(path), RGBA8
    source = open_image(path, max_texels=MAX_PIXELS)
    texels = np.array(source.mips[0])
    kept = colors(texels.shape[2])
    if kept < texels.shape[2]:
        warn(f"{path}: alpha was left out")
    texels = texels[..., :kept]
    if not source.srgb:
        light = texels / np.float32(255) if texels.dtype == np.uint8 else texels
        texels = to_srgb(np.clip(light, 0, 1)).astype(np.float32)
    return texels, source.texels


def load_texels(path: str | os.PathLike[str], max_texels: int = MAX_PIXELS) -> np.ndarray:
    """An image file decoded by Pillow: uint8 [H, W, 3] where that is exact, else float32; errors as of `load_image`.

    Examples
    --------
    >>> import hra
    >>> from hra.domains.textures import load_texels
    >>> texels = load_texels(hra.samples.path("page.png"))
    >>> texels.shape, texels.dtype
    ((1754, 1240, 3), dtype('uint8'))
    """
    limit = number_in("max_texels", max_texels, 1, math.inf, ImageError)
    samples = load_image(path, max_pixels=min(limit, MAX_PIXELS))
    texels = np.empty(samples.shape, np.uint8)
    for rows, exact in zip(np.array_split(samples, 64), np.array_split(texels, 64), strict=True):
        np.rint(rows * 255, out=exact, casting="unsafe")
        if not np.array_equal(unit_range(exact), rows):
            return samples
    return texels


def _fits(pair: tuple[StoredLevel, tuple[int, int]]) -> bool:
    level, shape = pair
    return level.shape[:2] == shape
