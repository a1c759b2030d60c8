"""What a glTF file consists of beside its header: the binary chunk, embedded data and files beside it."""

from __future__ import annotations

import base64
import binascii
from typing import Any
from urllib.parse import unquote_to_bytes

from hra.domains.meshes.files.gltf_meshopt import is_fallback
from hra.domains.meshes.files.resolver import SiblingFiles
from hra.errors import FileError

Bytes = bytes | memoryview
# Texts that are decoded at a time: each three letters of one would take 40 bytes on the way.
_PIECE = 2**16


def read_buffers(header: dict[str, Any], chunk: memoryview | None, files: SiblingFiles, where: str) -> list[Bytes]:
    """The content of all buffers; ``chunk`` is the binary part of a GLB, None if there is none.

    Buffers for readers that cannot decompress are left empty.

    Raises
    ------
    FileError : a buffer is missing or shorter than the header states; LimitExceeded : too many.
    """
    entries = header.get("buffers", [])
    files.limits.check("buffers", len(entries), where)
    buffers, known = [], {}
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
