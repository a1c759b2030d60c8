"""The bytes behind the buffer views of a glTF file, as they lie there or decompressed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hra.domains.meshes.files.gltf_files import Bytes
from hra.domains.meshes.files.gltf_meshopt import compressed, decode


@dataclass(frozen=True, eq=False)
class Views:
    """The buffer views of a checked header over the contents of its buffers; compressed ones are decoded once."""

    header: dict[str, Any]
    buffers: Sequence[Bytes]
    where: str
    _decoded: dict[int, memoryview] = field(default_factory=dict)

    def place(self, number: int) -> tuple[Bytes, int]:
        """What view ``number`` lies in, and where it begins there.

        Raises
        ------
        FileError : compressed data is damaged.
        """
        view = self.header["bufferViews"][number]
        entry = compressed(view)
        if entry is None:
            return self.buffers[view["buffer"]], view.get("byteOffset", 0)
        if number not in self._decoded:
            begin = entry.get("byteOffset", 0)
            data = memoryview(self.buffers[entry["buffer"]])[begin : begin + entry["byteLength"]]
            self._decoded[number] = decode(entry, data, f"{self.where}, bufferViews[{number}]").data
        return self._decoded[number], 0

    def content(self, number: int) -> bytes:
        """The bytes of view ``number``, copied."""
        data, begin = self.place(number)
        return bytes(memoryview(data)[begin : begin + self.header["bufferViews"][number]["byteLength"]])
