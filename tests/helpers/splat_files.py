"""Two splats, and the files that hold them by the descriptions of .splat, .spz and PlayCanvas' compressed PLY."""

from __future__ import annotations

import gzip
import struct
from importlib import import_module

import numpy as np

from hra.domains.points.files.splat_formats import HARMONIC


def bytes_of(values: np.ndarray) -> bytes:
    return np.rint(values).clip(0, 255).astype(np.uint8).tobytes()


def unit(turns: np.ndarray) -> np.ndarray:
    return turns / np.linalg.norm(turns, axis=1, keepdims=True)


PLACES, SCALES = np.array([[1.5, -2.25, 3], [0.125, 4, -8]]), np.array([[0.5, 0.25, 1], [2, 1, 0.125]])
TURNS, SHADES = unit(np.array([[0.9, 0.1, -0.3, 0.2], [-0.2, 0.8, 0.5, 0.1]])), np.array([[0.2, 0.4, 0.6], [1, 0, 0.5]])
OPACITIES = np.array([0.8, 0.4])


def splat_rows() -> bytes:
    """Both splats as a .splat file."""
    rows = b""
    for place, scale, shade, opacity, turn in zip(PLACES, SCALES, SHADES, OPACITIES, TURNS, strict=True):
        rows += (
            np.array([*place, *scale], "<f4").tobytes()
            + bytes_of(255 * np.array([*shade, opacity]))
            + bytes_of(turn * 128 + 128)
        )
    return rows


def spz(version: int, bands: int) -> bytes:
    """Both splats by the format's description; harmonics count up."""
    fixed = np.rint(PLACES * 4096).astype(np.int64)
    places = b"".join(int(value).to_bytes(3, "little", signed=True) for value in fixed.reshape(-1))
    colors = bytes_of(((SHADES - 0.5) / HARMONIC * 0.15 + 0.5) * 255)
    scales = bytes_of((np.log(SCALES) + 10) * 16)
    turns = b""
    for w, x, y, z in TURNS:
        if version == 2:
            sign = -1 if w < 0 else 1
            turns += bytes_of((sign * np.array([x, y, z]) + 1) * 127.5)
            continue
        four = np.array([x, y, z, w])
        largest = int(np.abs(four).argmax())
        packed, four = largest, four * np.sign(four[largest])
        for k in range(4):
            if k != largest:
                size = round(abs(four[k]) * 511 / np.sqrt(0.5))
                packed = packed << 10 | (four[k] < 0) << 9 | size
        turns += int(packed).to_bytes(4, "little")
    rest = bytes(range(100, 100 + 2 * 3 * bands))
    degree = (0, 3, 8, 15, 24).index(bands)
    parts = [places, bytes_of(OPACITIES * 255), colors, scales, turns, *([rest] if bands else [])]
    if version < 4:
        return gzip.compress(struct.pack("<IIIBBBB", 0x5053474E, version, 2, degree, 12, 0, 0) + b"".join(parts))
    zstandard = import_module("zstandard")
    packed = [zstandard.ZstdCompressor().compress(part) for part in parts]
    head = struct.pack("<IIIBBBBI12x", 0x5053474E, 4, 2, degree, 12, 0, len(parts), 32)
    table = b"".join(struct.pack("<QQ", len(a), len(b)) for a, b in zip(packed, parts, strict=True))
    return head + table + b"".join(packed)


def packed_ply(bands: int) -> bytes:
    """Both splats as PLY with quantised columns."""
    low, high = PLACES.min(axis=0), PLACES.max(axis=0)
    least, most = np.log(SCALES).min(axis=0), np.log(SCALES).max(axis=0)

    def three(shares: np.ndarray) -> np.ndarray:
        a, b, c = np.rint(shares * [2047, 1023, 2047]).astype(np.uint32).T
        return a << 21 | b << 11 | c

    turns = []
    for four in TURNS:
        largest = int(np.abs(four).argmax())
        packed, four = largest, four * np.sign(four[largest])
        for k in range(4):
            if k != largest:
                packed = packed << 10 | round((four[k] / np.sqrt(2) + 0.5) * 1023)
        turns.append(packed)
    r, g, b, a = np.rint(np.column_stack([SHADES, OPACITIES]) * 255).astype(np.uint32).T
    ranges = [f"{end}_{kind}{axis}" for kind in ("", "scale_") for end in ("min", "max") for axis in "xyz"]
    head = "ply\nformat binary_little_endian 1.0\nelement chunk 1\n" + "".join(f"property float {n}\n" for n in ranges)
    head += "element vertex 2\n"
    head += "".join(f"property uint packed_{n}\n" for n in ("position", "rotation", "scale", "color"))
    if bands:
        head += "element sh 2\n" + "".join(f"property uchar f_rest_{k}\n" for k in range(3 * bands))
    rows = np.column_stack(
        [three((PLACES - low) / (high - low)), turns, three((np.log(SCALES) - least) / (most - least))]
    )
    rows = np.column_stack([rows, r << 24 | g << 16 | b << 8 | a]).astype("<u4")
    content = np.concatenate([low, high, least, most]).astype("<f4").tobytes() + rows.tobytes()
    return (head + "end_header\n").encode() + content + bytes(range(1, 1 + 6 * bands))
