from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

from hra.domains.meshes.files.gltf_accessors import Accessors, Views, check_accessors
from hra.errors import FileError
from tests.helpers.gltf_structure_cases import BYTE, FLOAT, SHORT, UBYTE, UINT, USHORT


def last_byte(component: int, side: int) -> int:
    """Behind the last number of a square matrix, by columns that begin at multiples of four (glTF 2.0, 3.6.2.4)."""
    at = 0
    for _ in range(side):
        at += -at % 4
        at += side * component
    return at


@pytest.mark.parametrize(("kind", "side"), [("MAT2", 2), ("MAT3", 3), ("MAT4", 4)])
@pytest.mark.parametrize(("component", "size"), [(BYTE, 1), (UBYTE, 1), (SHORT, 2), (USHORT, 2), (UINT, 4), (FLOAT, 4)])
@pytest.mark.parametrize(("count", "stride"), [(1, {}), (3, {"byteStride": 64})])
def test_columns_of_matrices_are_padded_to_four_bytes(
    component: int, size: int, kind: str, side: int, count: int, stride: dict[str, int]
) -> None:
    def header(room: int) -> dict[str, Any]:
        return {
            "buffers": [{"byteLength": room}],
            "bufferViews": [{"buffer": 0, "byteLength": room} | stride],
            "accessors": [{"bufferView": 0, "componentType": component, "count": count, "type": kind}],
        }

    needed = last_byte(size, side) + (count - 1) * 64
    check_accessors(header(needed), "a.glb")
    with pytest.raises(FileError, match=f"it claims {count} elements, which its {needed - 1} bytes") as caught:
        check_accessors(header(needed - 1), "a.glb")
    assert caught.value.where == "a.glb, accessors[0]"


@pytest.mark.parametrize(("kind", "side"), [("MAT2", 2), ("MAT3", 3), ("MAT4", 4)])
@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "f4"])
def test_numbers_of_matrices_are_read_from_padded_columns(dtype: str, kind: str, side: int) -> None:
    rows = np.arange(2 * side * side).reshape(2, side, side).astype(dtype)
    size = rows[0, 0].nbytes
    cells = np.full((2, side, size + -size % 4), 99, np.uint8)
    cells[..., :size] = rows.view(np.uint8)
    component = {"i1": BYTE, "u1": UBYTE, "i2": SHORT, "u2": USHORT, "f4": FLOAT}[dtype]
    header = {
        "bufferViews": [{"buffer": 0, "byteLength": cells.nbytes, "byteStride": cells[0].nbytes}],
        "accessors": [{"bufferView": 0, "componentType": component, "count": 2, "type": kind}],
    }
    found = Accessors(Views(header, [cells.tobytes()], "a.glb")).array(0)
    assert found.dtype == rows.dtype and (found == rows.reshape(2, -1)).all()


def sparse(**view: int) -> dict[str, Any]:
    """A header whose sparse values lie in a view of its own."""
    entry = {"indices": {"bufferView": 0, "componentType": UBYTE}, "values": {"bufferView": 1}, "count": 2}
    return {
        "buffers": [{"byteLength": 64}],
        "bufferViews": [{"buffer": 0, "byteLength": 2}, {"buffer": 0, "byteOffset": 4, "byteLength": 24} | view],
        "accessors": [{"componentType": FLOAT, "count": 3, "type": "VEC3", "sparse": entry}],
    }


def test_sparse_values_lie_close() -> None:
    check_accessors(sparse(), "a.glb")
    with pytest.raises(FileError, match="sparse data lies in a view with a stride"):
        check_accessors(sparse(byteStride=12), "a.glb")
    with pytest.raises(FileError, match="it claims 2 elements, which its 23 bytes"):
        check_accessors(sparse(byteLength=23), "a.glb")


@pytest.mark.parametrize(("component", "least"), [(BYTE, -1.0), (UBYTE, 0.0), (SHORT, -1.0), (USHORT, 0.0)])
def test_what_is_stored_beyond_the_range_reads_as_its_end(component: int, least: float) -> None:
    class Views:
        header: ClassVar = {"accessors": [{"componentType": component, "normalized": True, "type": "VEC3", "count": 1}]}

    accessors = Accessors(Views(), {})  # pyright: ignore[reportArgumentType]
    found = accessors.rounded(0, np.array([[-1.02, 0.0, 1.02]]))
    assert found.tolist() == [[least, 0.0, 1.0]]
