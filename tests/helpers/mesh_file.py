"""Mesh assets by the tables of docs/mesh-format.md, with ``struct`` and nothing of the reader: to read and to forge."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from hra.domains import meshes
from hra.errors import FileError

HEADER = struct.Struct("<8sIIQQQIIIIII")
HEADER_FIELDS = (
    *("magic", "byte_order", "version", "file_bytes", "vertices", "triangles"),
    *("clusters", "pages", "sections", "directory_crc", "reserved", "header_crc"),
)
ENTRY = struct.Struct("<16s4sHHQQII")
ENTRY_FIELDS = ("name", "type", "columns", "layers", "offset", "rows", "crc", "kind")


def header(content: bytes) -> dict[str, Any]:
    return dict(zip(HEADER_FIELDS, HEADER.unpack_from(content), strict=True))


def entries(content: bytes) -> dict[str, dict[str, Any]]:
    found = {}
    for k in range(header(content)["sections"]):
        entry = dict(zip(ENTRY_FIELDS, ENTRY.unpack_from(content, 64 + 48 * k), strict=True))
        found[entry["name"].rstrip(b"\0").decode()] = entry
    return found


def section(content: bytes, name: str) -> np.ndarray:
    entry = entries(content)[name]
    dtype, columns = np.dtype(entry["type"].rstrip(b"\0").decode()), entry["columns"]
    shape = [size for size in (entry["rows"], columns, entry["layers"]) if size]
    return np.frombuffer(content, dtype, int(np.prod(shape)), entry["offset"]).reshape(shape)


def forged(content: bytes, **fields: Any) -> bytes:
    """With other header fields, and checksums that fit."""
    directory = content[64 : 64 + 48 * header(content)["sections"]]
    values = {**header(content), "directory_crc": zlib.crc32(directory), **fields}
    head = HEADER.pack(*values.values())
    return head[:60] + struct.pack("<I", zlib.crc32(head[:60])) + content[64:]


def with_entry(content: bytes, name: str, /, **fields: Any) -> bytes:
    """With other fields in one entry of the directory, and checksums that fit."""
    names = list(entries(content))
    at = 64 + 48 * names.index(name)
    entry = ENTRY.pack(*{**entries(content)[name], **fields}.values())
    return forged(content[:at] + entry + content[at + 48 :])


def with_section(content: bytes, name: str, values: np.ndarray) -> bytes:
    """With other values in one section, and checksums that fit; a section of another length goes to the end."""
    entry, data = entries(content)[name], np.ascontiguousarray(values).tobytes()
    offset = entry["offset"]
    if len(data) == section(content, name).nbytes:
        content = content[:offset] + data + content[offset + len(data) :]
        return with_entry(content, name, crc=zlib.crc32(data))
    content += bytes(-len(content) % 64)
    fields = {"offset": len(content), "rows": len(values), "crc": zlib.crc32(data)}
    return forged(with_entry(content + data, name, **fields), file_bytes=len(content) + len(data))


def with_page_byte(content: bytes, page: int, at: int, value: int) -> bytes:
    """With another byte in a page, and a checksum that fits."""
    offset, size = int(section(content, "page_offset")[page]), int(section(content, "page_bytes")[page])
    changed = bytearray(content)
    changed[offset + at % size] = value
    sums = section(content, "page_crc").copy()
    sums[page] = zlib.crc32(changed[offset : offset + size])
    return with_section(bytes(changed), "page_crc", sums)


def refused(target: Path, content: bytes, match: str | None = None) -> None:
    """Fail unless a file with this content is refused with an error that names it and a remedy."""
    target.write_bytes(content)
    with pytest.raises(FileError, match=match) as caught:
        meshes.load_clusters(target)
    assert str(target) in caught.value.where and caught.value.fix


def with_drawn_bytes(data: st.DataObject, content: bytes, name: str) -> bytes:
    """With one to four bytes of a section replaced by drawn ones, under a checksum that fits."""
    values = section(content, name).copy()
    flat = values.reshape(-1).view(np.uint8)
    for _ in range(data.draw(st.integers(1, 4))):
        flat[data.draw(st.integers(0, flat.size - 1))] = data.draw(st.integers(0, 255))
    return with_section(content, name, values)


def use(path: Path) -> None:
    """Do what is done with files; a FileError is the only error allowed."""
    try:
        asset = meshes.open_asset(path)
        asset.mesh([0])
        mesh = asset.read()
    except FileError:
        return
    mesh.mesh(np.arange(len(mesh.offsets) - 1))
    assert mesh.indices.max() < len(mesh.positions)
