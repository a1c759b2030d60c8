"""Scenes whose geometry Draco has compressed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers.scenes import Scene

NAME = "KHR_draco_mesh_compression"


def compressed(path: Path, side: int = 33, **changes: Any) -> Scene:
    """A sheet of which only Draco's data is there, written to ``path``."""
    draco = pytest.importorskip("DracoPy")
    scene = Scene(side)
    data = draco.encode(scene.positions, scene.triangles.astype(np.uint32), quantization_bits=16, compression_level=1)
    mesh = draco.decode(data)
    position, indices = scene.primitive["attributes"]["POSITION"], scene.primitive["indices"]
    scene.primitive["attributes"] = {"POSITION": position}
    view = scene.add_bytes(data)
    for number, count in ((position, len(mesh.points)), (indices, mesh.faces.size)):
        entry = scene.header["accessors"][number]
        entry["count"] = count
        del entry["bufferView"]
    attributes = {"POSITION": mesh.attributes[0]["unique_id"]}
    scene.primitive["extensions"] = {NAME: {"bufferView": view, "attributes": attributes} | changes}
    scene.header |= {"extensionsUsed": [NAME], "extensionsRequired": [NAME]}
    scene.write(path)
    return scene
