"""Constants of ONNX files, beside files that are written here by the rules of protocol buffers."""

from __future__ import annotations

import numpy as np
import pytest

from hra.files.onnx_constants import float32_constants


def _constant(kind: int, values: np.ndarray) -> bytes:
    raw = values.tobytes()
    return bytes([1 << 3, 2, 1 << 3, 3, 2 << 3, kind, 8 << 3 | 2, 1]) + b"w" + bytes([9 << 3 | 2, len(raw)]) + raw


def _model(kind: int, values: np.ndarray) -> bytes:
    constant = _constant(kind, values)
    graph = bytes([5 << 3 | 2, len(constant)]) + constant
    return bytes([1 << 3, 8, 7 << 3 | 2, len(graph)]) + graph


def test_constants_have_names_shapes_and_values_that_are_views():
    values = np.arange(6, dtype=np.float32)
    model = bytearray(_model(1, values))
    ((name, shape, found),) = float32_constants(memoryview(model))
    assert (name, shape, found.tolist()) == ("w", [2, 3], values.tolist())
    found[:] = 7
    assert bytes(model) == _model(1, np.full(6, 7, np.float32))


def test_other_types_are_passed_over():
    assert list(float32_constants(memoryview(_model(6, np.arange(6, dtype=np.int32))))) == []


@pytest.mark.parametrize("end", [3, 10, 30])
def test_files_that_end_early_are_no_messages(end: int):
    with pytest.raises((ValueError, IndexError)):
        list(float32_constants(memoryview(_model(1, np.arange(6, dtype=np.float32))[:end])))
