from __future__ import annotations

from pathlib import Path

import pytest

from hra.domains.meshes.files.gltf_files import read_buffers
from hra.domains.meshes.files.resolver import SiblingFiles, Textures
from hra.errors import FileError, RepairWarning
from tests.helpers.hostile import gltf
from tests.helpers.pbr_meshes import ktx2


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


def test_ktx2_of_basis_universal_is_kept_and_other_is_not(tmp_path: Path) -> None:
    textures = Textures(SiblingFiles(tmp_path))
    assert textures.read(ktx2(64, 32), "a.glb") == ktx2(64, 32)
    for content, said in ((ktx2(texels=37), "cannot be read"), (ktx2()[:40], "cannot be read")):
        with pytest.warns(RepairWarning, match=said):
            assert textures.read(content, "a.glb") is None
    with pytest.warns(RepairWarning, match="70000 x 70000 pixels"):
        assert textures.read(ktx2(70_000, 70_000), "a.glb") is None
