from __future__ import annotations

from pathlib import Path

import pytest

from hra.domains.meshes.files.gltf_files import read_buffers
from hra.domains.meshes.files.resolver import SiblingFiles
from hra.errors import FileError
from tests.helpers.hostile import gltf


def test_buffers_behind_one_for_other_readers_are_read(tmp_path: Path) -> None:
    fallback = {"byteLength": 9, "extensions": {"EXT_meshopt_compression": {"fallback": True}}}
    data = {"byteLength": 3, "uri": gltf.octets(b"abcd")}
    found = read_buffers({"buffers": [fallback, data, fallback, data]}, None, SiblingFiles(tmp_path), "a.gltf")
    assert found == [b"", b"abcd", b"", b"abcd"]


def test_a_buffer_without_data_is_named(tmp_path: Path) -> None:
    files, chunk = SiblingFiles(tmp_path), memoryview(b"abcd")
    assert read_buffers({"buffers": [{"byteLength": 4}]}, chunk, files, "a.glb") == [chunk]
    for buffers, what, where in (
        ([{"byteLength": 5}], "a buffer has 4 bytes, but the header states 5", "a.glb, buffer 0"),
        ([{"byteLength": 4}, {"byteLength": 1}], "a buffer has neither a file nor data", "a.glb, buffer 1"),
    ):
        with pytest.raises(FileError, match=what) as caught:
            read_buffers({"buffers": buffers}, chunk, files, "a.glb")
        assert caught.value.where == where
