"""Compact files of splats: .splat, .spz, and PLY as PlayCanvas compresses it. A .ksplat is refused by its name.

The axes of SPZ lead right, up and back unless an extension names others, those of all others right, down and forward:
numbers of SPZ change their signs.

Sources: antimatter15/splat, README: 32 bytes for each splat. Niantic Spatial, spz, README: versions 2 to 4.
PlayCanvas, The Compressed PLY Format: chunks of 256 splats, whose numbers are shares of the chunk's ranges.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from hra.domains.points.cloud.clouds import BANDS, SplatCloud
from hra.domains.points.files.finite import checked_splats
from hra.errors import FileError, needs, warn
from hra.files.limits import DEFAULT
from hra.files.ply import Columns

# The constant harmonic: colours are 1/2 plus this times the coefficient.
HARMONIC = 0.28209479177387814
_SPLAT = np.dtype([("place", "<f4", 3), ("scale", "<f4", 3), ("color", "u1", 4), ("turn", "u1", 4)])
_CHUNK = 256
PACKED = ("packed_position", "packed_rotation", "packed_scale", "packed_color")
_NGSP, _SPZ_COLOR = 0x5053474E, 0.15
# Extensions of SPZ: the flag that there are some, and the one that names the axes. Of its numbers, less 1, the bits are
# right, up and forward; behind the first eight, axes lie crosswise.
# The first flag says that splats were trained with the filter of Mip-Splatting.
_FILTERED, _EXTENDED, _AXES, _USUAL_AXES, _ALONG = 1, 2, 0xADBE0003, 4, 8
# Harmonics of each degree; what is above `BANDS` is left out.
_SPZ_BANDS = (*BANDS, 24)
_FIX = "convert it to PLY, for example by splat-transform"


def read_compact(data: bytes, suffix: str, where: str) -> SplatCloud:
    """The splats of a file ``.splat``, ``.spz`` or ``.ksplat``.

    Raises
    ------
    FileError : its bytes are not those of the format, or it is a .ksplat, whose layout no document describes.
    LimitExceeded : it would unpack to too much. MissingExtra : an .spz of version 4, and zstandard is not installed.
    """
    if suffix == ".ksplat":
        raise FileError("KSPLAT files are not read: no document describes their layout", where=where, fix=_FIX)
    return read_splat(data, where) if suffix == ".splat" else read_spz(data, where)


def read_splat(data: bytes, where: str) -> SplatCloud:
    """Rows of position, deviations, colour and turn; they have no harmonics.

    Raises
    ------
    FileError : no splats, or a part of one.
    """
    if not data or len(data) % _SPLAT.itemsize:
        raise FileError(f"{len(data)} bytes are not rows of {_SPLAT.itemsize}", where=where, fix="copy it again")
    rows = np.frombuffer(data, _SPLAT)
    colors, turns = rows["color"] / 255, (rows["turn"].astype(float) - 128) / 128
    return checked_splats(where, rows["place"], rows["scale"], turns, colors[:, :3], colors[:, 3])


def read_spz(data: bytes, where: str) -> SplatCloud:
    """Splats with harmonics of up to three bands, on the axes of the splat PLY: y and z of the file change their signs.

    Other axes are read, too, if an extension names them and they lead along these.

    Warns
    -----
    RepairWarning : harmonics of a fourth band, or other extensions, were left out; or see `warn_of_filter`.

    Raises
    ------
    FileError : not SPZ of version 2, 3 or 4, of axes that lie crosswise, or it is damaged. LimitExceeded : it would
        unpack to too much. MissingExtra : version 4, and zstandard is not installed.
    """
    try:
        whole = _inflated(data, where) if data[:2] == b"\x1f\x8b" else data
        magic, version, count, degree, bits, flags, streams = struct.unpack_from("<IIIBBBB", whole)
        if magic != _NGSP or version not in (2, 3, 4) or degree >= len(_SPZ_BANDS) or not count:
            raise ValueError(f"version {version}, degree {degree}, {count} splats")
        sizes = [9, 1, 3, 3, 3 if version == 2 else 4, 3 * _SPZ_BANDS[degree]]
        lengths = [count * size for size in sizes]
        DEFAULT.check_archive(sum(lengths), len(data), where)
        parts = _streams(whole, streams, lengths) if version == 4 else _cut(whole[16:], lengths)
        extensions = whole[32 : struct.unpack_from("<I", whole, 16)[0]] if version == 4 else whole[16 + sum(lengths) :]
        x, y, z = signs = _axis_signs(extensions if flags & _EXTENDED else b"", where)
        warn_of_filter(bool(flags & _FILTERED), where)
        place, alpha, color, scale, turn, rest = (part.reshape(count, -1) for part in parts)
        # Three bytes each: moved to the upper end, the sign is the number's.
        wide = np.zeros((count, 3, 4), np.uint8)
        wide[..., 1:] = place.reshape(count, 3, 3)
        positions = (wide.view("<i4")[..., 0] >> 8) / 2.0**bits * signs
        kept = BANDS[min(degree, len(BANDS) - 1)]
        if degree >= len(BANDS):
            what = f"{where}: harmonics of band {degree} were left out, which are not read"
            warn(what[-500:])
        harmonics = (rest.reshape(count, _SPZ_BANDS[degree], 3)[:, :kept].astype(float) - 128) / 128
        harmonics *= np.array([y, z, x, x * y, y * z, 1, x * z, 1, y, x * y * z, y, z, x, z, x])[:kept, None]
        colors = 0.5 + HARMONIC * (color / 255 - 0.5) / _SPZ_COLOR
        shown = colors if degree else colors.clip(0, 1)
        turns = _quaternions_2(turn) if version == 2 else _quaternions_3(turn.copy().view("<u4")[:, 0])
        turns = turns * np.array([1, y * z, x * z, x * y])
        return checked_splats(where, positions, np.exp(scale / 16 - 10), turns, shown, alpha[:, 0] / 255, harmonics)
    except (ValueError, struct.error, zlib.error) as error:
        raise FileError(f"this is not an SPZ file of version 2 to 4: {error}", where=where, fix=_FIX) from error


def warn_of_filter(filtered: bool, where: str) -> None:
    """Warn of splats that ask their viewers for the filter of Mip-Splatting, if they do: it is not applied."""
    if filtered:
        what = f"{where}: splats were trained for antialiased drawing, which was left out: small ones look too opaque"
        warn(what[-500:])


def _axis_signs(extensions: bytes, where: str) -> tuple[int, int, int]:
    """What takes the axes of a file to right, down and forward: 1, or -1 for those that lead the other way.

    Raises
    ------
    ValueError : axes that lie crosswise, or of no known number. struct.error : a record is cut off.
    """
    axes, at, others = _USUAL_AXES, 0, list[str]()
    while at < len(extensions):
        kind, length = struct.unpack_from("<II", extensions, at)
        if kind == _AXES:
            axes = struct.unpack_from("<I", extensions, at + 8)[0] or _USUAL_AXES
        else:
            others.append(f"{kind:#010x}")
        at += 8 + length
    if axes > _ALONG:
        raise ValueError(f"axes of number {axes} are not read, only those along right, up and back")
    if others:
        what = f"{where}: the extensions {', '.join(others[:8])} of SPZ were left out"
        warn(what[-500:])
    right, up, forward = ((axes - 1) >> bit & 1 for bit in range(3))
    return 2 * right - 1, 1 - 2 * up, 2 * forward - 1


def _inflated(data: bytes, where: str) -> bytes:
    """A gzip stream, no more than an archive may unpack to."""
    engine, most = zlib.decompressobj(31), max(DEFAULT.memory_bytes, DEFAULT.archive_ratio * len(data))
    found = engine.decompress(data, most)
    if engine.unconsumed_tail:
        DEFAULT.check_archive(most + 1, len(data), where)
    return found


def _cut(data: bytes, lengths: list[int]) -> list[np.ndarray]:
    if len(data) < sum(lengths):
        raise ValueError(f"it has {len(data)} bytes behind its header, not {sum(lengths)}")
    ends = np.cumsum([0, *lengths])
    return [np.frombuffer(data, np.uint8, length, at) for at, length in zip(ends.tolist(), lengths, strict=False)]


def _streams(data: bytes, count: int, lengths: list[int]) -> list[np.ndarray]:
    """The parts of version 4, each packed by itself."""
    with needs("zstandard", "points"):
        import zstandard
    (at,) = struct.unpack_from("<I", data, 16)
    table = [struct.unpack_from("<QQ", data, at + 16 * k) for k in range(count)]
    at += 16 * count
    if [size for _, size in table] != [length for length in lengths if length]:
        raise ValueError("its streams have other lengths than its splats need")
    found = []
    for packed, size in table:
        if at + packed > len(data):
            raise ValueError("a stream reaches beyond its end")
        try:
            # What a stream says of its own size is allocated before it is read.
            if zstandard.frame_content_size(data[at : at + packed]) not in (-1, size):
                raise ValueError("a stream is shorter or longer than it states")
            content = zstandard.ZstdDecompressor().decompress(data[at : at + packed], max_output_size=size)
        except zstandard.ZstdError as error:
            raise ValueError(f"a stream is damaged: {error}") from error
        if len(content) != size:
            raise ValueError("a stream is shorter or longer than it states")
        found.append(np.frombuffer(content, np.uint8))
        at += packed
    return [*found, *[np.zeros(0, np.uint8)] * (len(lengths) - len(found))]


def _quaternions_2(turn: np.ndarray) -> np.ndarray:
    """x, y and z in bytes; w, x, y, z [P, 4]."""
    rest = turn / 127.5 - 1
    return np.column_stack([np.sqrt(np.maximum(1 - (rest**2).sum(axis=1), 0)), rest])


def _quaternions_3(packed: np.ndarray) -> np.ndarray:
    """Three components of ten bits, a sign and nine for the size, and which of x, y, z, w is left out."""
    largest, found = packed >> 30, np.zeros((len(packed), 4))
    for component in (3, 2, 1, 0):
        rows = np.flatnonzero(largest != component)
        size, minus = packed[rows] & 511, packed[rows] >> 9 & 1
        found[rows, component] = np.sqrt(0.5) * size / 511 * (1 - 2.0 * minus)
        packed = packed.copy()
        packed[rows] >>= 10
    found[np.arange(len(found)), largest] = np.sqrt(np.maximum(1 - (found**2).sum(axis=1), 0))
    return found[:, [3, 0, 1, 2]]


def read_compressed_ply(elements: Mapping[str, Columns], where: str) -> SplatCloud:
    """The splats of a PLY file of packed numbers.

    Raises
    ------
    FileError : its chunks or harmonics do not fit its splats.
    """
    vertex, chunk = elements["vertex"].scalars, elements.get("chunk", Columns()).scalars
    sh, count = elements.get("sh", Columns()).scalars, len(vertex[PACKED[0]])
    bands, tinted = len(sh) // 3, "min_r" in chunk  # the first files of the format have no ranges of colours
    _check_packed(vertex, chunk, sh, where)
    of_chunk = np.arange(count) // _CHUNK

    def ranged(shares: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
        low, high = (np.column_stack([chunk[f"{end}_{name}"] for name in names])[of_chunk] for end in ("min", "max"))
        return low * (1 - shares) + high * shares

    place, turn, scale, color = (vertex[name].astype(np.uint32) for name in PACKED)
    positions = ranged(_shares(place, (21, 11), (11, 10), (0, 11)), ("x", "y", "z"))
    deviations = np.exp(ranged(_shares(scale, (21, 11), (11, 10), (0, 11)), ("scale_x", "scale_y", "scale_z")))
    shades = _shares(color, (24, 8), (16, 8), (8, 8), (0, 8))
    colors = ranged(shades[:, :3], ("r", "g", "b")) if tinted else shades[:, :3]
    shown = colors if bands else colors.clip(0, 1)
    harmonics = _packed_harmonics(sh, bands) if bands else None
    return checked_splats(where, positions, deviations, _packed_turns(turn), shown, shades[:, 3], harmonics)


def _check_packed(
    vertex: Mapping[str, np.ndarray], chunk: Mapping[str, np.ndarray], sh: Mapping[str, np.ndarray], where: str
) -> None:
    """Refuse columns that are not those of packed splats, their chunks and harmonics."""
    count, bands = len(vertex[PACKED[0]]), len(sh) // 3
    chunks = -(-count // _CHUNK)
    fits = all(len(rows) == chunks for rows in chunk.values()) and all(len(rows) == count for rows in sh.values())
    named = {f"{end}_{kind}{axis}" for end in ("min", "max") for kind in ("", "scale_") for axis in "xyz"} <= set(chunk)
    tints = {f"{end}_{channel}" for end in ("min", "max") for channel in "rgb"} & set(chunk)
    if not (count and fits and named and len(tints) in (0, 6) and 3 * bands == len(sh) and bands in BANDS):
        raise FileError("its chunks or harmonics do not fit its splats", where=where, fix=_FIX)
    if not {f"f_rest_{k}" for k in range(3 * bands)} <= set(sh) or not set(PACKED) <= set(vertex):
        raise FileError("its harmonics have other names than theirs", where=where, fix=_FIX)


def _packed_turns(packed: np.ndarray) -> np.ndarray:
    """Unit quaternions (w, x, y, z): which of the four is largest and left out, then the others in ten bits each."""
    rest = (_shares(packed, (20, 10), (10, 10), (0, 10)) - 0.5) * np.sqrt(2)
    turns = np.empty((len(packed), 4))
    others = np.arange(4)[None] != (packed >> 30)[:, None]
    turns[others] = rest.reshape(-1)
    turns[~others] = np.sqrt(np.maximum(1 - (rest**2).sum(axis=1), 0))
    return turns


def _packed_harmonics(sh: Mapping[str, np.ndarray], bands: int) -> np.ndarray:
    """Harmonics [n, bands, 3] in bytes, whose first and last value stand for the ends of -4 .. 4."""
    coded = np.column_stack([sh[f"f_rest_{k}"] for k in range(3 * bands)]).astype(float)
    shares = np.where(coded == 0, 0, np.where(coded == 255, 1, (coded + 0.5) / 256))
    return ((shares - 0.5) * 8).reshape(-1, 3, bands).transpose(0, 2, 1)


def _shares(packed: np.ndarray, *places: tuple[int, int]) -> np.ndarray:
    """Numbers in 0 .. 1 by their lowest bit and length."""
    columns: list[Any] = [(packed >> low & (1 << bits) - 1) / ((1 << bits) - 1) for low, bits in places]
    return np.column_stack(columns)
