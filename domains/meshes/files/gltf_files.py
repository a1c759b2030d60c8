"""What a glTF file consists of beside its header: the binary chunk, embedded data and files beside it.

GLB is the container of a header and its binary chunk (Khronos glTF 2.0, section 4).
"""

from __future__ import annotations

import base64
import binascii
import struct
from typing import Any
from urllib.parse import unquote_to_bytes

from hra.domains.meshes.files.gltf_meshopt import compressed, is_fallback
from hra.domains.meshes.files.resolver import SiblingFiles
from hra.errors import FileError

Bytes = bytes | memoryview
# Texts that are decoded at a time: each three letters of one would take 40 bytes on the way.
_PIECE = 2**16
_MAGIC, _JSON, _BINARY = b"glTF", 0x4E4F534A, 0x004E4942
_HEADER, _CHUNK = struct.Struct("<4sII"), struct.Struct("<II")


def read_buffers(header: dict[str, Any], chunk: memoryview | None, files: SiblingFiles, where: str) -> list[Bytes]:
    """The content of all buffers; ``chunk`` is the binary part of a GLB, None if there is none.

    Buffers for readers that cannot decompress, declared as such or by what views say, are left empty.

    Raises
    ------
    FileError : a buffer is missing or shorter than the header states; LimitExceeded : too many.
    """
    entries = header.get("buffers", [])
    files.limits.check("buffers", len(entries), where)
    buffers, known = [], {}
    views = header.get("bufferViews", [])
    unpacked = {view["buffer"] for view in views if compressed(view)}
    unpacked -= {(compressed(view) or view)["buffer"] for view in views}
    for number, buffer in enumerate(entries):
        place = f"{where}, buffer {number}"
        if is_fallback(buffer):
            buffers.append(b"")
            continue
        if "uri" in buffer:
            content = known.get(buffer["uri"])
            if content is None:
                content = known[buffer["uri"]] = read_uri(buffer["uri"], files, place)
        elif number == 0 and chunk is not None:
            content = chunk
        elif number in unpacked:
            buffers.append(b"")
            continue
        else:
            raise FileError("a buffer has neither a file nor data", where=place)
        if len(content) < buffer["byteLength"]:
            what = f"a buffer has {len(content)} bytes, but the header states {buffer['byteLength']}"
            raise FileError(what, where=place, fix="copy or export it again")
        buffers.append(content)
    return buffers


def read_uri(uri: str, files: SiblingFiles, where: str) -> bytes:
    """The bytes behind a data URI or the name of a file beside the mesh.

    Raises
    ------
    FileError : a data URI without data, or bad base64; others see the resolver.
    """
    if not uri.startswith("data:"):
        return files.get(uri)
    begin = uri.find(",") + 1
    if not begin:
        raise FileError("an embedded file has no data", where=where)
    if not uri[:begin].endswith(";base64,"):
        return _percent_decoded(uri, begin)
    try:
        return base64.b64decode(uri[begin:], validate=True)
    except (binascii.Error, ValueError) as error:
        raise FileError(f"an embedded file is damaged ({error})", where=where) from error


def _percent_decoded(text: str, begin: int) -> bytes:
    out = bytearray()
    while begin < len(text):
        end = begin + _PIECE
        # Not within "%41".
        cut = text.rfind("%", end - 2, end)
        end = cut if cut > begin else end
        out += unquote_to_bytes(text[begin:end])
        begin = end
    return bytes(out)


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
