"""The float32 constants of ONNX files, without a package that knows ONNX."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

# Numbers of fields in ONNX's messages (onnx.proto): a model's graph, a graph's constants, and what a constant has.
_GRAPH, _CONSTANT = 7, 5
_SHAPE, _TYPE, _NAME, _RAW = 1, 2, 8, 9
_FLOAT = 1
# How protocol buffers write a field: a number of any length, 8 bytes, a length and so many bytes, 4 bytes.
_VARINT, _EIGHT, _COUNTED, _FOUR = 0, 1, 2, 5


def float32_constants(model: memoryview) -> Iterator[tuple[str, list[int], np.ndarray]]:
    """Name, shape and values float32 [n] of each constant whose bytes are in the file; views of ``model``.

    Raises
    ------
    ValueError, IndexError : not a message of protocol buffers.
    """
    for part, graph in _fields(model):
        for number, constant in _fields(graph) if part == _GRAPH else ():
            if number == _CONSTANT:
                fields = list(_fields(constant))
                found = dict(fields)
                if found.get(_TYPE) == _FLOAT and _RAW in found:
                    shape = [value for field, value in fields if field == _SHAPE]
                    yield bytes(found[_NAME]).decode(), shape, np.frombuffer(found[_RAW], "<f4")


def _fields(message: memoryview) -> Iterator[tuple[int, Any]]:
    """(number, value) of a message of protocol buffers: whole numbers, and bytes of everything else.

    Source: https://protobuf.dev/programming-guides/encoding/.
    """
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        kind = key & 7
        if kind == _VARINT:
            value, at = _varint(message, at)
            yield key >> 3, value
            continue
        length, at = {_EIGHT: (8, at), _FOUR: (4, at)}.get(kind) or _varint(message, at)
        if kind not in (_EIGHT, _COUNTED, _FOUR) or at + length > len(message):
            raise ValueError("not a message of protocol buffers")
        yield key >> 3, message[at : at + length]
        at += length


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    """A number of seven bits a byte, the lowest first, and where it ends."""
    value = shift = 0
    while True:
        byte = message[at]
        value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
        if byte < 128:
            return value, at
