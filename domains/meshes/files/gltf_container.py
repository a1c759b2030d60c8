"""GLB: the container of a glTF header and its binary chunk (Khronos glTF 2.0, section 4)."""

from __future__ import annotations

import struct

from hra.errors import FileError

_MAGIC, _JSON, _BINARY = b"glTF", 0x4E4F534A, 0x004E4942
_HEADER, _CHUNK = struct.Struct("<4sII"), struct.Struct("<II")


def split_glb(data: bytes, where: str) -> tuple[bytes, memoryview | None]:
    """The JSON chunk of a GLB file, and the binary chunk if there is one, not copied.

    Lengths that are not multiples of 4 are read all the same, and so are bytes behind the stated length.

    Raises
    ------
    FileError : another magic or version, a length beyond the file, chunks in another order or twice.
    """
    if len(data) < _HEADER.size + _CHUNK.size:
        raise FileError("the file is too short for a GLB header", where=where)
    magic, version, length = _HEADER.unpack_from(data)
    if magic != _MAGIC or version != 2:
        what = f"this is GLB {version}, only 2 is read" if magic == _MAGIC else "this is not a GLB file"
        fix = "convert it: npx gltf-pipeline -i OLD.glb -o NEW.glb; or export it as glTF 2.0"
        raise FileError(what, where=where, fix=fix)
    if not _HEADER.size + _CHUNK.size <= length <= len(data):
        raise _damaged(where)
    chunks = _chunks(memoryview(data)[:length], where)
    kinds = [kind for kind, _ in chunks]
    if kinds[0] != _JSON or not len(chunks[0][1]) or kinds.count(_JSON) > 1 or _BINARY in kinds[2:]:
        raise FileError("the chunks of the GLB file are not one of JSON and then at most one binary one", where=where)
    return bytes(chunks[0][1]), chunks[1][1] if kinds[1:2] == [_BINARY] else None


def _chunks(data: memoryview, where: str) -> list[tuple[int, memoryview]]:
    chunks, at = [], _HEADER.size
    while at < len(data):
        if at + _CHUNK.size > len(data):
            raise _damaged(where)
        length, kind = _CHUNK.unpack_from(data, at)
        at += _CHUNK.size
        if at + length > len(data):
            raise _damaged(where)
        chunks.append((kind, data[at : at + length]))
        at += length
    return chunks


def _damaged(where: str) -> FileError:
    what = "a length in the GLB file does not fit: it is truncated or damaged"
    return FileError(what, where=where, fix="copy or export it again")
