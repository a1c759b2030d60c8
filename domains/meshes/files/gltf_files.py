"""What a glTF file consists of beside its header: the binary chunk, embedded data and files beside it."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote_to_bytes

from hra.domains.meshes.files.resolver import SiblingFiles
from hra.errors import FileError


def read_buffers(header: dict[str, Any], chunk: bytes | None, files: SiblingFiles, where: str) -> list[bytes]:
    """The content of all buffers; ``chunk`` is the binary part of a GLB, None if there is none.

    Raises
    ------
    FileError : a buffer is missing or shorter than the header states.
    """
    buffers = []
    for number, buffer in enumerate(header.get("buffers", [])):
        if "uri" in buffer:
            content = read_uri(buffer["uri"], files, where)
        elif number == 0 and chunk is not None:
            content = chunk
        else:
            raise FileError(f"buffer {number} has neither a file nor data", where=where)
        if len(content) < buffer["byteLength"]:
            what = f"buffer {number} has {len(content)} bytes, but the header states {buffer['byteLength']}"
            raise FileError(what, where=where, fix="copy or export it again")
        buffers.append(content)
    return buffers


def read_uri(uri: str, files: SiblingFiles, where: str) -> bytes:
    """The bytes behind a data URI or the name of a file beside the mesh.

    Raises
    ------
    FileError : bad base64; others see the resolver.
    """
    if not uri.startswith("data:"):
        return files.get(uri)
    head, _, body = uri.partition(",")
    try:
        return base64.b64decode(body, validate=True) if head.endswith(";base64") else unquote_to_bytes(body)
    except binascii.Error as error:
        raise FileError(f"an embedded file is damaged ({error})", where=where) from error


def view_bytes(header: dict[str, Any], view: int, buffers: Sequence[bytes]) -> bytes:
    """The bytes of buffer view number ``view``."""
    entry = header["bufferViews"][view]
    begin = entry.get("byteOffset", 0)
    return buffers[entry["buffer"]][begin : begin + entry["byteLength"]]
