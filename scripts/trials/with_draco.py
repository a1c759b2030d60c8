"""A sheet that Draco has compressed, read from a glTF file."""

import base64
import json
import tempfile
from importlib.metadata import version
from pathlib import Path

import DracoPy
import numpy as np

from hra.domains import meshes

points = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], np.float32)
data = DracoPy.encode(points, np.array([[0, 1, 2], [0, 2, 3]], np.uint32), quantization_bits=14)
name = "KHR_draco_mesh_compression"
number = DracoPy.decode(data).attributes[0]["unique_id"]
primitive = {
    "attributes": {"POSITION": 0},
    "indices": 1,
    "extensions": {name: {"bufferView": 0, "attributes": {"POSITION": number}}},
}
header = {
    "asset": {"version": "2.0"},
    "extensionsUsed": [name],
    "extensionsRequired": [name],
    "scenes": [{"nodes": [0]}],
    "scene": 0,
    "nodes": [{"mesh": 0}],
    "meshes": [{"primitives": [primitive]}],
    "accessors": [
        {"componentType": 5126, "count": 4, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]},
        {"componentType": 5123, "count": 6, "type": "SCALAR"},
    ],
    "bufferViews": [{"buffer": 0, "byteLength": len(data)}],
    "buffers": [
        {
            "byteLength": len(data),
            "uri": "data:application/octet-stream;base64," + base64.b64encode(data).decode(),
        }
    ],
}
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "sheet.gltf")
    path.write_text(json.dumps(header))
    assert len(meshes.load(path).triangles) == 2
print(f"DracoPy {version('DracoPy')}")
