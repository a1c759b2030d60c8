from __future__ import annotations

import struct

import pytest

from hra.domains.meshes.files.gltf_files import split_glb
from hra.errors import FileError


def test_the_shortest_container_has_an_empty_header() -> None:
    chunk = struct.pack("<I4s", 0, b"JSON")
    for data, what in ((chunk, "the chunks of the GLB file are not one of JSON"), (chunk[:-1], "too short for a GLB")):
        with pytest.raises(FileError, match=what):
            split_glb(b"glTF" + struct.pack("<II", 2, 20) + data, "a.glb")
    assert split_glb(b"glTF" + struct.pack("<II", 2, 24) + struct.pack("<I4s", 4, b"JSON") + b"{}  ", "")[0] == b"{}  "
