"""Compressed buffer views of a glTF file: checked, counted, and decoded by the meshoptimizer package.

Source: Khronos, glTF extensions EXT_meshopt_compression and KHR_meshopt_compression. The second one has a filter for
colours more, which the package lacks, and a newer version of the vertex codec, which it knows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.domains.meshes.files.structure import Misfit, flag, index, record, text, whole
from hra.errors import FileError, needs

NAMES = ("EXT_meshopt_compression", "KHR_meshopt_compression")
_RECORD = record(
    {
        "buffer": index("buffers"),
        "byteOffset": whole(),
        "byteLength": whole(1),
        "byteStride": whole(1, 256),
        "count": whole(1),
        "mode": text("ATTRIBUTES|TRIANGLES|INDICES"),
        "filter": text("NONE|OCTAHEDRAL|QUATERNION|EXPONENTIAL|COLOR"),
    },
    required=["buffer", "byteLength", "byteStride", "count", "mode"],
)
_FALLBACK = record({"fallback": flag})
# Strides that filters work on; the third one takes every stride of attributes.
_FILTERED = {"OCTAHEDRAL": (4, 8), "QUATERNION": (8,)}


def is_fallback(buffer: dict[str, Any]) -> bool:
    """Whether a buffer is for readers that do not know the extension: it may be empty, and is not read."""
    return bool((compressed(buffer) or {}).get("fallback", False))


def compressed(entry: dict[str, Any]) -> dict[str, Any] | None:
    """What a view or a buffer says about compression, None where it says nothing."""
    extensions = entry.get("extensions", {})
    return next((extensions[name] for name in NAMES if name in extensions), None)


def decoded_bytes(header: dict[str, Any]) -> int:
    """What all compressed views of a checked header take when they are decoded."""
    return sum(view["byteLength"] for view in header.get("bufferViews", []) if compressed(view) is not None)


def check_compressed(header: dict[str, Any], where: str) -> None:
    """Refuse compressed views that contradict themselves or reach beyond their buffers.

    Raises
    ------
    FileError : names the view.
    """
    buffers = header.get("buffers", [])
    for number, buffer in enumerate(buffers):
        _check(_FALLBACK, compressed(buffer) or {}, header, f"{where}, buffers[{number}]")
    for number, view in enumerate(header.get("bufferViews", [])):
        place, entry = f"{where}, bufferViews[{number}]", compressed(view)
        if entry is not None:
            _check(_RECORD, entry, header, place)
            _check_form(entry, view, place)
        source = buffers[(view if entry is None else entry)["buffer"]]
        if is_fallback(source):
            raise FileError("a view reads a buffer that serves other readers only", where=place)
        if entry is not None and entry.get("byteOffset", 0) + entry["byteLength"] > source["byteLength"]:
            raise FileError("compressed data reaches beyond its buffer", where=place)


def _check(kind: Any, entry: Any, header: dict[str, Any], where: str) -> None:
    try:
        kind(entry, header)
    except Misfit as misfit:
        raise FileError(
            f"compression is described wrongly: {misfit.what}", where=f"{where}, {misfit.place}"
        ) from misfit


def _check_form(entry: dict[str, Any], view: dict[str, Any], where: str) -> None:
    stride, mode, chosen = entry["byteStride"], entry["mode"], entry.get("filter", "NONE")
    if chosen == "COLOR":
        raise FileError("compressed colours with the filter COLOR are not read", where=where, fix="export it without")
    if mode == "ATTRIBUTES":
        fits = stride % 4 == 0 and stride in _FILTERED.get(chosen, (stride,))
    else:
        fits = stride in (2, 4) and chosen == "NONE" and (mode == "INDICES" or entry["count"] % 3 == 0)
    if not fits:
        what = f"{entry['count']} elements of {stride} bytes cannot be compressed as {mode} with the filter {chosen}"
        raise FileError(what, where=where)
    if entry["count"] * stride != view["byteLength"] or view.get("byteStride", stride) != stride:
        what = f"{entry['count']} compressed elements of {stride} bytes are not those of the view they stand for"
        raise FileError(what, where=where)


def decode(entry: dict[str, Any], data: memoryview, where: str) -> np.ndarray:
    """The bytes of a compressed view, uint8.

    Raises
    ------
    FileError : the data is damaged; MissingExtra : the package is not installed.
    """
    codec, count, stride = meshopt_codec(), entry["count"], entry["byteStride"]
    source = np.frombuffer(data, np.uint8)
    try:
        if entry["mode"] == "ATTRIBUTES":
            raw = codec.decode_vertex_buffer(count, stride, source, np.dtype((np.void, stride)))
            return _unfiltered(codec, raw.view(np.uint8), entry)
        # The package's functions for two bytes fill half of their result only.
        indices = codec.decode_index_buffer if entry["mode"] == "TRIANGLES" else codec.decode_index_sequence
        return _narrowed(indices(count, 4, source), stride)
    except (RuntimeError, ValueError) as error:
        what = f"compressed data cannot be decoded ({error})"
        raise FileError(what, where=where, fix="copy or export it again") from error


def _unfiltered(codec: Any, raw: np.ndarray, entry: dict[str, Any]) -> np.ndarray:
    filters = {
        "OCTAHEDRAL": codec.decode_filter_oct,
        "QUATERNION": codec.decode_filter_quat,
        "EXPONENTIAL": codec.decode_filter_exp,
    }
    chosen = filters.get(entry.get("filter", "NONE"))
    return raw if chosen is None else chosen(raw, entry["count"], entry["byteStride"])


def _narrowed(indices: np.ndarray, stride: int) -> np.ndarray:
    if stride == 2 and indices.max() > np.iinfo(np.uint16).max:
        raise ValueError("an index does not fit into two bytes")
    return indices.astype(np.uint16 if stride == 2 else np.uint32).view(np.uint8)


def meshopt_codec() -> Any:
    """The package with the codecs.

    Raises
    ------
    MissingExtra : it is not installed.
    """
    with needs("meshoptimizer", "meshes"):
        import meshoptimizer
    return meshoptimizer
