"""Subtrees of implicit tilesets: which tiles are there, and which have contents.

3D Tiles 1.1, section "Implicit tiling"; binary subtrees hold JSON and bit streams.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.domains.tiles.files.forms import well_formed
from hra.errors import FileError
from hra.files.json_text import parse_object

_MAGIC, _HEADER = b"subt", struct.Struct("<4sIQQ")


@dataclass(frozen=True, eq=False)
class Subtree:
    """Bits by place, which counts the tiles of a subtree level by level and along a Morton curve within each.

    Attributes
    ----------
    tiles : bool [T]; contents : bool [C, T], one row for each content of a tile; children : bool [B], child subtrees.
    """

    tiles: np.ndarray
    contents: np.ndarray
    children: np.ndarray


def read_subtree(data: bytes, read_buffer: Any, branching: int, levels: int, where: str) -> Subtree:
    """The subtree in ``data``, binary or JSON.

    Parameters
    ----------
    read_buffer : the bytes of an external buffer by its uri.
    branching : 4 or 8; levels : of a subtree.

    Raises
    ------
    FileError : damaged, or bits that do not fit.
    """
    record, binary = _split(data, where)
    count = (branching**levels - 1) // (branching - 1)

    def bits(entry: Any, size: int) -> np.ndarray:
        if "constant" in entry:
            return np.full(size, bool(entry["constant"]))
        view = record["bufferViews"][entry["bitstream"] if "bitstream" in entry else entry["bufferView"]]
        at = view.get("byteOffset", 0)
        packed = np.frombuffer(buffers[view["buffer"]], np.uint8)[at : at + view["byteLength"]]
        if packed.size * 8 < size:
            raise FileError(f"a subtree has {packed.size * 8} bits instead of {size}", where=where)
        return np.unpackbits(packed, bitorder="little")[:size].astype(bool)

    with well_formed(where):
        buffers = [binary if "uri" not in entry else read_buffer(entry["uri"]) for entry in record.get("buffers", [])]
        contents = record.get("contentAvailability", [])
        contents = [contents] if isinstance(contents, dict) else contents
        return Subtree(
            bits(record["tileAvailability"], count),
            np.array([bits(entry, count) for entry in contents], bool).reshape(len(contents), count),
            bits(record["childSubtreeAvailability"], branching**levels),
        )


def _split(data: bytes, where: str) -> tuple[dict[str, Any], bytes]:
    if data[:4] != _MAGIC:
        return parse_object(data, "subtree", where), b""
    if len(data) < _HEADER.size:
        raise FileError("the subtree is too short for its header", where=where)
    _, _, text, binary = _HEADER.unpack_from(data)
    if _HEADER.size + text + binary > len(data):
        raise FileError("the subtree is truncated", where=where)
    at = _HEADER.size + text
    return parse_object(data[_HEADER.size : at], "subtree", where), data[at : at + binary]
