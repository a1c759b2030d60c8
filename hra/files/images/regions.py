"""Image files of any size, read by rectangles of any of their levels: TIFF, whole slides, OME-Zarr, Deep Zoom.

A reader is a table of levels and a function that decodes one tile; all else, colours, the limited cache and errors
that name the tile, is here once.
"""

from __future__ import annotations

import math
import os
import re
import stat
import struct
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hra.errors import FileError, HraError, ImageError, OutOfMemory, needs, warn
from hra.files.images.arrays import over_white, unit_range
from hra.files.images.files import load_image
from hra.files.local_files import local_path, open_regular, read_regular

# Of TIFF: a tag, kinds of colours (black and white, RGB and palettes come before), and kinds of compression.
_ORIENTATION, _PALETTE, _YCBCR, _JPEG = 274, 3, 6, (6, 7)
# Axes of tifffile along which there are pictures, and its kinds of slides, whose labels and overviews are series.
_MANY, _WITH_LABELS = "IQZTR", ("bif", "ndpi", "philips", "qpi", "scn", "svs")
# Decoded bytes of a tile or strip; those of slides and maps have about 2**18.
_TILE_BYTES = 2**26
_PIXELS = 2**40  # of an image: its sides then multiply without loss, and its statistics still fit on a disk
_SIDE = 512  # of tiles where a format has none of its own
_SLIDES = (".bif", ".czi", ".dcm", ".mrxs", ".ndpi", ".scn", ".svslide", ".vms", ".vmu")
_TIFFS = (".tif", ".tiff", ".btf", ".tf8", ".svs", ".qptiff")
_MICRONS = {"micrometer": 1e-6, "µm": 1e-6, "um": 1e-6, "nanometer": 1e-9, "nm": 1e-9, "millimeter": 1e-3, "mm": 1e-3}
_UNITS = _MICRONS | {"meter": 1.0, "metre": 1.0, "m": 1.0, "centimeter": 1e-2, "cm": 1e-2, "kilometer": 1e3, "km": 1e3}


@dataclass(frozen=True)
class Grid:
    """One level in tiles: its (height, width) in pixels, and that of a tile; those at the border may be smaller."""

    size: tuple[int, int]
    tile: tuple[int, int]


_IN_MEMORY = "image"  # the format of what is read at once


@dataclass(frozen=True)
class _Reader:
    """What a format gives: its name, levels from the finest on, (level, row, column) -> pixels, metres per pixel.

    ``most`` is the largest number that there can be, None where that is the largest of its type. ``alpha`` is the
    channel that holds it; colours are ``multiplied`` by it already, or not.
    """

    format: str
    grids: Sequence[Grid]
    decode: Callable[[int, int, int], np.ndarray | None]
    spacing: float | None = None
    names: str = "tile"
    alpha: int | None = None
    multiplied: bool = False
    most: int | None = None


class RegionFile:
    """An image file that is open, of which rectangles are read at any level; tiles are kept within a limit of memory.

    Attributes
    ----------
    path : of the file or folder; format : of it.
    levels : the image, finest first, each indexed by two slices, see `RegionLevel`.
    spacing : metres that a pixel of the finest level is wide, None where the file does not say.
    tiles_read : tiles decoded so far; one that was decoded twice counts twice.
    tiles : of the finest level, as many as there are.

    Examples
    --------
    >>> import hra
    >>> from hra.files.images import open_regions
    >>> image = open_regions(hra.samples.path("photo.jpg"))
    >>> image.levels[0].shape, image.levels[0][:2, :3].dtype
    ((1152, 2048, 3), dtype('uint8'))
    """

    def __init__(
        self,
        path: Path,
        reader: _Reader,
        cache_bytes: int,
        channels: Sequence[int] | None,
        window: tuple[float, float] | None,
        state: tuple[int, int] | None,
    ) -> None:
        self._state = None if reader.format == _IN_MEMORY else state
        self.path, self.format, self.spacing = path, reader.format, reader.spacing
        self._reader, self._limit, self._channels, self._window = reader, cache_bytes, channels, window
        self._kept: OrderedDict[tuple[int, int, int], np.ndarray] = OrderedDict()
        self._bytes, self.tiles_read, self._lock = 0, 0, threading.Lock()
        for grid in reader.grids:
            if min(*grid.size, *grid.tile) < 1 or math.prod(grid.size) > _PIXELS or max(grid.size) >= 2**31:
                what = f"a level of {grid.size[1]} x {grid.size[0]} pixels in tiles of {grid.tile[1]} x {grid.tile[0]}"
                raise ImageError(what, where=str(path), fix="check that the file is what it should be")
        self.levels = tuple(RegionLevel(self, number, grid) for number, grid in enumerate(reader.grids))
        rows, columns = self.levels[0].grid
        self.tiles = rows * columns

    def tile(self, level: int, row: int, column: int) -> np.ndarray:
        """One tile as RGB [h, w, 3], uint8, uint16 or float32 in [0, 1].

        Raises
        ------
        ImageError : it is damaged, cut off, or its values have no range; names the tile.
        FileError : the file has changed since it was opened.
        """
        key = level, row, column
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            try:
                tile = self._decode(*key)
            finally:  # a tile that looks damaged may be one of another file
                self._check_same()
            self.tiles_read += 1
            self._kept[key] = tile
            self._bytes += tile.nbytes
            while self._bytes > self._limit and len(self._kept) > 1:
                self._bytes -= self._kept.popitem(last=False)[1].nbytes
        return tile

    def _check_same(self) -> None:
        """Whoever chose by what was read before would get pixels that have nothing to do with it."""
        now = None if self._state is None else _state(self.path)
        if now is not None and now != self._state:
            fix = "open it again, and choose again"
            raise FileError("the file has changed since it was opened", where=str(self.path), fix=fix)

    def _decode(self, level: int, row: int, column: int) -> np.ndarray:
        grid = self._reader.grids[level]
        where = f"{self.path}, level {level}, {self._reader.names} in row {row}, column {column}"
        height, width = (
            min(side, size - at * side) for side, size, at in zip(grid.tile, grid.size, (row, column), strict=True)
        )
        try:
            pixels = self._reader.decode(level, row, column)
            if pixels is None:  # a sparse file leaves tiles out
                return np.zeros((height, width, 3), np.uint8 if self._window is None else np.float32)
            pixels = pixels[..., None] if pixels.ndim == 2 else pixels
            if pixels.ndim != 3 or pixels.shape[0] < height or pixels.shape[1] < width:
                raise ImageError(f"it has the shape {pixels.shape}, not {height} x {width}", where=where)
            return np.ascontiguousarray(
                _colours(pixels[:height, :width], self._reader, self._channels, self._window, where)
            )
        except HraError as error:
            if error.where:
                raise
            raise type(error)(error.what, where=where, fix="check that the file is complete") from error
        except MemoryError as error:
            raise OutOfMemory("the tile needs more memory than is free", where=where) from error
        except Exception as error:  # decoders raise errors of a dozen classes
            what = f"the {self._reader.names} cannot be decoded: {' '.join(str(error).split())[:200]}"
            raise ImageError(what, where=where, fix="check that the file is complete, or write it again") from error


@dataclass(frozen=True, eq=False)
class RegionLevel:
    """One level of a `RegionFile`, indexed by two slices: RGB [h, w, 3], uint8, uint16 or float32 in [0, 1]."""

    file: RegionFile
    number: int
    tiles: Grid

    @property
    def shape(self) -> tuple[int, int, int]:
        """Height, width and 3."""
        return *self.tiles.size, 3

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of tiles."""
        (height, width), (down, across) = self.tiles.size, self.tiles.tile
        return -(-height // down), -(-width // across)

    def __getitem__(self, key: tuple[slice, slice], /) -> np.ndarray:
        """The pixels of a rectangle; only the tiles that hold them are read."""
        (top, bottom), (left, right) = (each.indices(size)[:2] for each, size in zip(key, self.tiles.size, strict=True))
        down, across = self.tiles.tile
        parts = []
        for row in range(top // down, -(-bottom // down)):
            line = []
            for column in range(left // across, -(-right // across)):
                tile, y, x = self.file.tile(self.number, row, column), row * down, column * across
                line.append(tile[max(top - y, 0) : bottom - y, max(left - x, 0) : right - x])
            parts.append(np.concatenate(line, axis=1))
        return np.concatenate(parts) if parts else np.zeros((0, 0, 3), np.uint8)


def open_regions(
    path: Any,
    *,
    cache_bytes: int = 2**26,
    channels: Sequence[int] | None = None,
    window: tuple[float, float] | None = None,
) -> RegionFile:
    """Open an image file of any size: only what describes it is read.

    TIFF (tiled, in strips, BigTIFF, COG, OME-TIFF, SVS) needs tifffile, whole slides of other makers OpenSlide,
    OME-Zarr zarr (extra ``slides``). Deep Zoom (``.dzi``) and all that `load_image` reads, in memory, need Pillow. TIFF
    that its orientation turns, with inks (CMYK), Lab, or YCbCr without JPEG is read in memory, too.

    Parameters
    ----------
    cache_bytes : of decoded tiles that are kept.
    channels : which three, or which one, of many are shown as red, green and blue; by default the first three.
    window : (low, high), values shown as 0 and 1; needed where the type of the numbers has no range of its own: signed
        or 32-bit integers, floats beyond [0, 1].

    Raises
    ------
    FileError : missing, or not readable.
    ImageError : not an image, a layout that is not read, or a level of no size.
    MissingExtra : the reader's package is not installed.
    """
    if window is not None and not window[0] < window[1]:
        raise ImageError(f"a window from {window[0]:g} to {window[1]:g}", where="window", fix="pass (low, high)")
    file = local_path(path)
    kind, state = file.suffix.lower(), _state(file)
    if os.path.isdir(file):  # False for names that no system accepts; opening them says why
        reader = _zarr(file, channels)
    else:
        with open_regular(file) as stream:
            head = stream.read(4)
        if kind in _SLIDES:
            reader = _openslide(file)
        elif kind == ".dzi":
            reader = _deep_zoom(file)
        elif head[:2] in (b"II", b"MM") and kind in _TIFFS:
            reader = _tiff(file, channels)
        else:
            reader = _whole(file)
    return RegionFile(file, reader, cache_bytes, channels, window, state)


def _state(path: Path) -> tuple[int, int] | None:
    """Bytes of a file and when it was changed; None of a folder, and where nothing is known."""
    try:
        known = os.stat(path)
    except (OSError, ValueError):
        return None
    return None if stat.S_ISDIR(known.st_mode) else (known.st_size, known.st_mtime_ns)


def is_regions(path: Any) -> bool:
    """Whether a file or folder is read by regions: by its name; folders are OME-Zarr if they hold its files."""
    file = local_path(path)
    if os.path.isdir(file):  # False for names that no system accepts; opening them says why
        return any((file / name).exists() for name in ("zarr.json", ".zattrs", ".zgroup"))
    return file.suffix.lower() in (*_TIFFS, *_SLIDES, ".dzi")


def _whole(file: Path) -> _Reader:
    """What has no tiles of its own, read at once."""
    image = np.rint(load_image(file) * 255).astype(np.uint8)
    return _Reader(_IN_MEMORY, [Grid(image.shape[:2], (_SIDE, _SIDE))], _cut_from(image))


def _cut_from(image: np.ndarray) -> Callable[[int, int, int], np.ndarray]:
    return lambda level, row, column: image[row * _SIDE : (row + 1) * _SIDE, column * _SIDE : (column + 1) * _SIDE]


def _colours(
    pixels: np.ndarray,
    reader: _Reader,
    channels: Sequence[int] | None,
    window: tuple[float, float] | None,
    where: str,
) -> np.ndarray:
    """Pixels [h, w, C] of any type as RGB [h, w, 3]: bytes and 16 bits as they are, others as floats in [0, 1]."""
    count = pixels.shape[2]
    chosen = tuple(range(3 if count >= 3 else 1)) if channels is None else tuple(channels)
    if len(chosen) not in (1, 3) or not all(0 <= one < count for one in chosen):
        raise ImageError(f"channels {list(chosen)} of {count}", where=where, fix="name one or three of those there are")
    has_alpha = reader.alpha is not None and channels is None and reader.alpha == len(chosen) < count
    colours = _in_range(
        pixels if chosen == tuple(range(count)) else pixels[..., list(chosen)], reader.most, window, where
    )
    if has_alpha:
        colours = _over_white(colours, _unit(pixels[..., reader.alpha, None], reader.most), reader.multiplied)
    return colours if colours.shape[2] == 3 else np.repeat(colours, 3, axis=2)


def _in_range(pixels: np.ndarray, most: int | None, window: tuple[float, float] | None, where: str) -> np.ndarray:
    """Pixels whose brightest is the largest of their type, or 1; ``most`` is what it was."""
    if window is not None:
        pixels = ((pixels.astype(np.float32) - window[0]) / np.float32(window[1] - window[0])).clip(0, 1)
    elif pixels.dtype == np.bool_:
        pixels = pixels * np.uint8(255)
    elif most is not None and pixels.dtype in (np.uint8, np.uint16):  # 2, 4, 12 bits ...
        twice = np.minimum(pixels, most).astype(np.uint32) * np.uint32(2 * np.iinfo(pixels.dtype).max)
        pixels = ((twice + np.uint32(most)) // np.uint32(2 * most)).astype(pixels.dtype)
    elif pixels.dtype.kind == "f":
        pixels = pixels.astype(np.float32)
    elif pixels.dtype not in (np.uint8, np.uint16):
        fix = "pass window=(low, high), the values to show as black and white"
        raise ImageError(f"numbers of {pixels.dtype} have no range of their own", where=where, fix=fix)
    if pixels.dtype == np.float32 and not (pixels.min() >= 0 and pixels.max() <= 1):  # false for NaN
        what = f"values from {pixels.min():g} to {pixels.max():g} are not in [0, 1]"
        raise ImageError(what, where=where, fix="pass window=(low, high); values must be finite")
    return pixels


def _over_white(pixels: np.ndarray, alpha: np.ndarray, multiplied: bool) -> np.ndarray:
    """Colours [h, w, C] of any type on a white ground; ``multiplied`` ones hold their ``alpha`` [h, w, 1] already."""
    colours = pixels if pixels.dtype == np.float32 else unit_range(pixels)
    if multiplied:
        colours = np.minimum(colours + (1 - alpha), 1)
    else:
        colours = over_white(np.concatenate([colours, alpha], axis=2))
    if pixels.dtype == np.float32:
        return colours.astype(np.float32, copy=False)
    return np.rint(colours * np.float32(np.iinfo(pixels.dtype).max)).astype(pixels.dtype)


def _unit(values: np.ndarray, most: int | None) -> np.ndarray:
    """Alpha of any type as float32 in [0, 1]; ``most`` is opaque, by default the largest number of the type."""
    full = 1 if values.dtype.kind in "bf" else most or np.iinfo(values.dtype).max
    return (values.astype(np.float32) / np.float32(full)).clip(0, 1)


def _tiff(file: Path, channels: Sequence[int] | None) -> _Reader:
    """TIFF by tifffile: its series has the levels, wherever they are; segments are decoded one by one.

    An image that is turned, or whose colours are not those that segments are decoded to, is read at once.
    """
    with needs("tifffile", "slides"):
        import tifffile
    opened: Any = None
    try:
        opened = tifffile.TiffFile(file)
        _refuse_circles(opened, file)
        series = opened.series[0]
        if _is_turned(series.keyframe) or (channels is None and _has_other_colours(series.keyframe)):
            opened.close()
            return _whole(file)
        pages = [_planes(level, file) for level in series.levels]
        if series.kind not in _WITH_LABELS and _pictures(opened, series) > 1:
            warn(f"{file}: the first of several frames was taken")
        grids = [Grid((page[0].imagelength, page[0].imagewidth), _segment(page[0], file)) for page, _ in pages]
        spacing = _tiff_spacing(opened, pages[0][0][0])
    except Exception as error:  # its parser raises errors of many classes
        if opened is not None:
            opened.close()
        if isinstance(error, HraError):
            raise
        raise ImageError(f"not a TIFF file that can be read: {str(error)[:200]}", where=str(file)) from error
    name = f"{'BigTIFF' if opened.is_bigtiff else 'TIFF'}{', OME' if opened.is_ome else ''}"
    first = pages[0][0][0]
    has_alpha = first.extrasamples[:1] in ((1,), (2,))
    alpha = first.samplesperpixel - len(first.extrasamples) if has_alpha else None
    kind = "tile" if first.is_tiled else "strip"
    decode = _TiffTiles(opened.filehandle, file.stat().st_size, pages, grids)
    reader = _Reader(name, grids, decode, spacing, kind, alpha, first.extrasamples[:1] == (1,), decode.most)
    weakref.finalize(reader, opened.close)  # when nobody reads it any more
    return reader


class _TiffTiles:
    """(level, row, column) -> the pixels of a tile or strip, None where the file leaves it out.

    Parameters
    ----------
    stream, size : the file, and its bytes.
    pages : of each level, see `_planes`. grids : of each level.
    """

    def __init__(self, stream: Any, size: int, pages: Sequence[tuple[list[Any], bool]], grids: Sequence[Grid]) -> None:
        self._stream, self._size, self._pages, self._grids = stream, size, pages, grids
        first = pages[0][0][0]
        packed = first.dtype.kind == "u" and first.bitspersample < 8 * first.dtype.itemsize
        self.most = 2**first.bitspersample - 1 if packed and first.photometric != _PALETTE else None

    def __call__(self, level: int, row: int, column: int) -> np.ndarray | None:
        (planes, stacked), grid = self._pages[level], self._grids[level]
        columns = -(-grid.size[1] // grid.tile[1])
        index = row * columns + column
        first = planes[0]
        if stacked:
            per_plane = -(-grid.size[0] // grid.tile[0]) * columns
            segments = [(first, index + plane * per_plane) for plane in range(first.samplesperpixel)]
        else:
            segments = [(page, index) for page in planes]
        parts = [self._decoded(page, row, number) for page, number in segments]
        there = [part for part in parts if part is not None]
        if len(there) < len(parts):
            return None
        return self._shown(first, there[0] if len(there) == 1 else np.concatenate(there, axis=2))

    def _decoded(self, page: Any, row: int, index: int) -> np.ndarray | None:
        if not page.is_tiled and page.rowsperstrip * page.imagewidth * _pixel_bytes(page) > _TILE_BYTES:
            return _rows(page, self._stream, row * _SIDE, self._size)
        offset, count = page.dataoffsets[index], page.databytecounts[index]
        if not offset or not count:
            return None
        if count > self._size - offset:
            raise ImageError(f"it ends {count - self._size + offset:,} bytes beyond the end of the file")
        self._stream.seek(offset)
        data = self._stream.read(count)
        samples = page.samplesperpixel if page.planarconfig == 1 else 1
        least = page.tilelength * -(-page.tilewidth * samples * page.bitspersample // 8) if page.is_tiled else 0
        if page.compression == 1 and len(data) < least:
            raise ImageError(f"it has {len(data):,} bytes, too few for a tile")
        tables = {"jpegtables": page.jpegtables, "jpegheader": page.jpegheader} if page.compression in _JPEG else {}
        return page.decode(data, index, **tables)[0][0]

    def _shown(self, page: Any, tile: np.ndarray) -> np.ndarray:
        """Pixels as colours, the brightest of which is the largest number."""
        if page.photometric == _PALETTE:  # a palette of 16-bit colours
            numbers = tile[..., 0].astype(np.uint16)
            return (page.colormap[:, numbers] >> 8).astype(np.uint8).transpose(1, 2, 0)
        if page.bitspersample == 1:  # facsimile is decoded to bytes of 0 and 1
            tile = tile != 0
        if page.photometric == 0:  # white is zero
            tile = (self.most or np.iinfo(tile.dtype).max) - tile if tile.dtype != np.bool_ else ~tile
        return tile


def _is_turned(page: Any) -> bool:
    """Whether the first pixel of a page is not that at the top left of the picture."""
    return page.tags.valueof(_ORIENTATION, 1) not in (0, 1)


def _has_other_colours(page: Any) -> bool:
    """Whether a page has inks, lightness, or brightness and colour apart, which JPEG's own decoder makes RGB."""
    return page.photometric > _PALETTE and not (page.photometric == _YCBCR and page.compression in _JPEG)


def _refuse_circles(opened: Any, file: Path) -> None:
    """Refuse a chain of pages that comes back to itself: tifffile would follow it without end."""
    form, stream, size, seen = opened.tiff, opened.filehandle, opened.filehandle.size, set[int]()
    offset = opened.pages.first.offset
    while 0 < offset <= size - form.tagnosize:
        if offset in seen:
            what = f"its pages come in a circle: one of {len(seen):,} is named again as the next"
            raise ImageError(what, where=str(file), fix="check that the file is complete, or write it again")
        seen.add(offset)
        stream.seek(offset)
        (tags,) = struct.unpack(form.tagnoformat, stream.read(form.tagnosize))
        stream.seek(offset + form.tagnosize + tags * form.tagsize)
        following = stream.read(form.offsetsize)
        offset = struct.unpack(form.offsetformat, following)[0] if len(following) == form.offsetsize else 0


def _planes(level: Any, file: Path) -> tuple[list[Any], bool]:
    """The pages that hold the channels of a level, and whether one page holds them plane by plane."""
    axes = "".join(axis for axis, extent in zip(level.axes, level.shape, strict=True) if extent > 1 or axis in "YX")
    plane = axes[1:] if axes[0] in _MANY else axes  # the first of many pictures
    if plane in ("YX", "YXS", "SYX"):
        return [level.keyframe], plane == "SYX"
    if axes == "CYX":  # channels, a page each
        return [
            level.keyframe if not n else level.pages[n].aspage() for n in range(level.shape[level.axes.index("C")])
        ], False
    fix = "write one picture to a file of its own, its channels last"
    what = f"the axes {level.axes or 'none'} of {level.shape} are not read"
    raise ImageError(what, where=str(file), fix=fix)


def _pictures(opened: Any, series: Any) -> int:
    """How many pictures a file holds, reduced ones and masks aside."""
    many = math.prod(size for axis, size in zip(series.axes, series.shape, strict=True) if axis in _MANY)
    return many + sum(not (each.keyframe.is_reduced or each.keyframe.is_mask) for each in opened.series[1:])


def _pixel_bytes(page: Any) -> int:
    return (page.samplesperpixel if page.planarconfig == 1 else 1) * -(-page.bitspersample // 8)


def _segment(page: Any, file: Path) -> tuple[int, int]:
    """(height, width) of a tile, or of a strip; one endless strip of plain numbers is cut into rows."""
    if page.dtype is None or page.imagedepth > 1:
        fix = "write it as bytes, 16-bit or 32-bit numbers, one picture deep"
        raise ImageError("its numbers have a type that is not read, or it has depth", where=str(file), fix=fix)
    tall, wide = (page.tilelength, page.tilewidth) if page.is_tiled else (page.rowsperstrip, page.imagewidth)
    if tall * wide * _pixel_bytes(page) <= _TILE_BYTES:
        return tall, wide
    if page.is_tiled or page.compression != 1 or page.planarconfig != 1 or page.bitspersample % 8:
        what = f"a tile or strip of {wide:,} x {tall:,} pixels would take more than {_TILE_BYTES:,} bytes"
        raise ImageError(what, where=str(file), fix="write the image as a tiled TIFF, with tiles of 256 or 512 pixels")
    return _SIDE, page.imagewidth


def _rows(page: Any, stream: Any, top: int, size: int) -> np.ndarray:
    """Rows of a plain image that lies in a file as one strip, or as strips too long to be read at once."""
    rows, line = min(_SIDE, page.imagelength - top), page.imagewidth * _pixel_bytes(page)
    parts = []
    while rows > 0:
        strip, within = divmod(top, page.rowsperstrip)
        count = min(rows, page.rowsperstrip - within)
        start = page.dataoffsets[strip] + within * line
        stream.seek(min(start, size))
        data = stream.read(count * line)
        if len(data) < count * line:
            raise ImageError(f"it ends {count * line - len(data):,} bytes beyond the end of the file")
        parts.append(np.frombuffer(data, page.dtype.newbyteorder(page.parent.byteorder)))
        top, rows = top + count, rows - count
    whole = np.concatenate(parts)
    whole = whole.astype(whole.dtype.newbyteorder("="), copy=False)
    return whole.reshape(-1, page.imagewidth, page.samplesperpixel)


def _tiff_spacing(opened: Any, page: Any) -> float | None:
    """Metres per pixel: of OME, Aperio, GeoTIFF (projected in metres), else of a resolution in centimetres."""
    text = opened.ome_metadata or ""
    if found := re.search(r'PhysicalSizeX="([\d.eE+-]+)"', text):
        unit = re.search(r'PhysicalSizeXUnit="([^"]*)"', text)
        return float(found[1]) * _UNITS.get(unit[1] if unit else "µm", math.nan) or None
    if opened.is_svs and (found := re.search(r"MPP\s*=\s*([\d.]+)", page.description)):
        return float(found[1]) * 1e-6
    scale, keys = page.tags.valueof(33550), opened.geotiff_metadata if page.is_geotiff else None
    if scale is not None:
        return float(scale[0]) if keys is None or int(keys.get("GTModelTypeGeoKey", 1)) == 1 else None
    resolution = page.tags.valueof(282)
    if page.tags.valueof(296) == 3 and resolution and resolution[0]:
        return resolution[1] / resolution[0] / 100
    return None


def _openslide(file: Path) -> _Reader:
    """Whole slides by OpenSlide, whose levels have tiles of many kinds: squares are read."""
    with needs("openslide-python", "slides"):
        import openslide
    try:
        slide = openslide.OpenSlide(file)
        microns = slide.properties.get(openslide.PROPERTY_NAME_MPP_X)
        sizes, scales = slide.level_dimensions, slide.level_downsamples
    except Exception as error:
        raise ImageError(f"not a slide that OpenSlide reads: {str(error)[:200]}", where=str(file)) from error

    def decode(level: int, row: int, column: int) -> np.ndarray:
        (width, height), scale = sizes[level], scales[level]
        place = round(column * _SIDE * scale), round(row * _SIDE * scale)
        extent = min(_SIDE, width - column * _SIDE), min(_SIDE, height - row * _SIDE)
        return np.asarray(slide.read_region(place, level, extent))

    grids = [Grid((height, width), (_SIDE, _SIDE)) for width, height in sizes]
    return _Reader("OpenSlide", grids, decode, float(microns) * 1e-6 if microns else None, alpha=3)


def _zarr(folder: Path, channels: Sequence[int] | None) -> _Reader:
    """OME-Zarr (NGFF 0.4 and 0.5) by zarr: the first time and depth of the first image."""
    with needs("zarr", "slides"):
        import zarr
    try:
        group: Any = zarr.open_group(folder, mode="r")
        attributes = group.attrs.asdict()
        scales = attributes.get("ome", attributes)["multiscales"][0]
        axes = [str(axis["name"]) for axis in scales["axes"]]
        arrays = [group[data["path"]] for data in scales["datasets"]]
        x, y = axes.index("x"), axes.index("y")
        grids = [Grid((each.shape[y], each.shape[x]), (each.chunks[y], each.chunks[x])) for each in arrays]
        transforms = scales["datasets"][0].get("coordinateTransformations", [])
        unit = _UNITS.get(str(scales["axes"][x].get("unit")))
        scale = next((float(each["scale"][x]) for each in transforms if each.get("type") == "scale"), None)
    except Exception as error:
        what = f"not an OME-Zarr image: {type(error).__name__} {str(error)[:200]}"
        raise FileError(what, where=str(folder), fix="name the folder with the multiscales of an image") from error
    for each, grid in zip(arrays, grids, strict=True):
        if math.prod(grid.tile) * each.dtype.itemsize > _TILE_BYTES:
            what = f"chunks of {grid.tile} pixels are too large"
            raise ImageError(what, where=str(folder), fix="write chunks of 1024 x 1024 pixels or less")

    def decode(level: int, row: int, column: int) -> np.ndarray:
        (height, width), (down, across) = grids[level].size, grids[level].tile
        spans = {
            "y": slice(row * down, min((row + 1) * down, height)),
            "x": slice(column * across, min((column + 1) * across, width)),
            "c": slice(0, 3 if channels is None else max(channels) + 1),
        }
        part = np.asarray(arrays[level][tuple(spans.get(axis, 0) for axis in axes)])
        kept = [axis for axis in axes if axis in spans]
        return part.transpose([kept.index(axis) for axis in ("y", "x", "c") if axis in kept])

    return _Reader("OME-Zarr", grids, decode, scale * unit if scale and unit else None, "chunk")


def _deep_zoom(file: Path) -> _Reader:
    """Deep Zoom: a description, and a folder of small images for each level; what overlaps is cut off."""
    with open_regular(file):
        text = read_regular(file)[: 2**16].decode("utf-8", "replace")
    # No parser of XML: a handful of attributes of two elements are all that there is.
    names = ("TileSize", "Overlap", "Width", "Height", "Format")
    found = {name: re.search(rf'\b{name}\s*=\s*"([^"]{{1,20}})"', text) for name in names}
    missing = [name for name, value in found.items() if value is None]
    numbers = [int(value[1]) for name, value in found.items() if value and name != "Format" and value[1].isdecimal()]
    kind = found["Format"][1] if found["Format"] else ""
    if missing or len(numbers) < 4 or not re.fullmatch(r"[a-z0-9]{2,5}", kind):
        raise ImageError(f"a Deep Zoom description without {', '.join(missing) or 'whole numbers'}", where=str(file))
    side, overlap, width, height = numbers
    if not 1 <= side <= 8192 or overlap >= side or not 0 < width * height <= _PIXELS:
        raise ImageError(f"tiles of {side}, overlap {overlap}, {width} x {height} pixels", where=str(file))
    top = (max(width, height) - 1).bit_length()
    grids = [Grid((-(-height // 2**n), -(-width // 2**n)), (side, side)) for n in range(top + 1)]
    folder = file.with_name(f"{file.stem}_files")

    def decode(level: int, row: int, column: int) -> np.ndarray:
        pixels = load_image(folder / str(top - level) / f"{column}_{row}.{kind}")
        cut = np.rint(pixels * 255).astype(np.uint8)
        return cut[overlap * (row > 0) :, overlap * (column > 0) :]

    return _Reader("Deep Zoom", grids, decode)
