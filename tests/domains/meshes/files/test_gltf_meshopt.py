from __future__ import annotations

from typing import Any

import pytest

from hra.domains.meshes.files.gltf_meshopt import check_compressed
from hra.errors import FileError


def test_compressed_data_ends_within_its_buffer() -> None:
    def header(offset: int, length: int) -> dict[str, Any]:
        entry = {"buffer": 0, "byteOffset": offset, "byteLength": length, "byteStride": 4, "count": 2}
        extensions = {"EXT_meshopt_compression": entry | {"mode": "ATTRIBUTES"}}
        return {
            "buffers": [{"byteLength": 20}, {"byteLength": 8}],
            "bufferViews": [{"buffer": 1, "byteLength": 8, "extensions": extensions}],
        }

    check_compressed(header(8, 12), "a.glb")
    for offset, length in ((9, 12), (8, 13), (20, 1)):
        with pytest.raises(FileError, match="compressed data reaches beyond its buffer") as caught:
            check_compressed(header(offset, length), "a.glb")
        assert caught.value.where == "a.glb, bufferViews[0]"
