"""Memory is bounded before it is taken: bombs, repetitions and conversions."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from hra.domains import meshes
from hra.errors import LimitExceeded, RepairWarning
from hra.files.limits import Limits
from tests.helpers.hostile import gltf, gltf_extensions
from tests.helpers.hostile.judging import measured, peak_memory


def write(path: Path, header: dict) -> Path:
    path.write_bytes(gltf.text(header))
    return path


def test_a_percent_encoded_buffer_takes_what_it_holds(tmp_path: Path) -> None:
    header, chunk = gltf.plain()
    padded = chunk + bytes(10_000_000)
    uri = "data:application/octet-stream," + "".join(f"%{byte:02x}" for byte in chunk) + "%00" * 10_000_000
    path = write(tmp_path / "a.gltf", gltf.edited({"buffers.0": {"byteLength": len(padded), "uri": uri}}, header))
    outcome, mesh = measured(lambda: meshes.load(path), path.stat().st_size)
    assert outcome.verdict == "accepted", outcome.detail
    assert len(mesh.triangles) == 4


def test_one_image_under_twenty_names_is_converted_once_and_within_the_limit(tmp_path: Path) -> None:
    out = io.BytesIO()
    Image.new("RGB", (4096, 4096), (9, 90, 200)).save(out, "GIF")
    (tmp_path / "big.gif").write_bytes(out.getvalue())
    changes = {"images": [{"uri": "big.gif"}] * 20, "textures": [{"source": number} for number in range(20)]}
    material = {"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}
    for number in range(20):
        entry = {"pbrMetallicRoughness": {"baseColorTexture": {"index": number}}} if number else material
        changes[f"materials.{number}"] = entry
    path = write(tmp_path / "a.gltf", gltf.edited(changes))
    with peak_memory() as peak, pytest.warns(RepairWarning, match="too large to be converted"):
        mesh = meshes.load(path)
    assert peak[0] < 2**28
    assert mesh.attributes is not None and mesh.attributes.materials[0].image is None
    mesh = meshes.load(path, limits=Limits(memory_bytes=2**30))
    image = mesh.attributes.materials[0].image if mesh.attributes else None
    assert image is not None and Image.open(io.BytesIO(image)).size == (4096, 4096)


def test_many_large_images_that_are_kept_take_no_memory(tmp_path: Path) -> None:
    """As avatars have them: two dozen pictures of 2,048 pixels in two megabytes."""
    contents = []
    for number in range(24):
        out = io.BytesIO()
        Image.new("RGB", (2048, 2048), (9, 90, number)).save(out, "WEBP", method=0)
        contents.append(out.getvalue())
        (tmp_path / f"{number}.webp").write_bytes(contents[-1])
    changes: dict[str, Any] = {
        "images": [{"uri": f"{number}.webp"} for number in range(24)],
        "textures": [{"source": number} for number in range(24)],
    }
    for number in range(24):
        changes[f"materials.{number}"] = {"pbrMetallicRoughness": {"baseColorTexture": {"index": number}}}
    path = write(tmp_path / "a.gltf", gltf.edited(changes))
    with peak_memory() as peak, warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*texture")
        mesh = meshes.load(path)
    assert peak[0] < 2**26
    assert mesh.attributes is not None and mesh.attributes.materials[0].image == contents[0]


def test_instances_are_counted_before_they_are_made(tmp_path: Path) -> None:
    bomb = next(case for case in gltf.cases() if "1,200 instances" in case.name)
    path = tmp_path / "bomb.gltf"
    path.write_bytes(bomb.content)
    with peak_memory() as peak, pytest.raises(LimitExceeded, match="memory") as caught:
        meshes.load(path)
    assert "1200 places" in caught.value.where and "memory_bytes" in caught.value.fix
    assert peak[0] < 2**24


def test_a_larger_limit_lets_instances_pass(tmp_path: Path) -> None:
    header = gltf.edited({"nodes": [{"mesh": 0, "translation": [i, 0, 0]} for i in range(50)]}, gltf.plain()[0])
    header["scenes"] = [{"nodes": list(range(50))}]
    path = tmp_path / "a.glb"
    path.write_bytes(gltf.glb(header, gltf.plain()[1]))
    assert len(meshes.load(path).triangles) == 200
    with pytest.raises(LimitExceeded, match="memory"):
        meshes.load(path, limits=Limits(memory_bytes=1, memory_per_byte=1))


def test_compressed_views_are_counted_before_they_are_decoded(tmp_path: Path) -> None:
    count = 2**26
    entry = {"count": count, "byteLength": 40, "buffer": 0, "byteStride": 12, "mode": "ATTRIBUTES"}
    changes = {
        "bufferViews.0.extensions.EXT_meshopt_compression": entry,
        "bufferViews.0.byteLength": 12 * count,
        "buffers.1.byteLength": 12 * count,
    }
    path = write(tmp_path / "a.gltf", gltf.edited(changes, gltf_extensions.compressed()))
    with peak_memory() as peak, pytest.raises(LimitExceeded, match="memory"):
        meshes.load(path)
    assert peak[0] < 2**24


def test_many_instances_are_made_at_once(tmp_path: Path) -> None:
    """Each taken by itself would take ten seconds."""
    places = np.zeros((200_000, 3), np.float32)
    places[:, 0] = 2 * np.arange(len(places))
    path = write(tmp_path / "a.gltf", gltf_extensions.instanced(places))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mesh = meshes.load(path, limits=Limits(memory_bytes=2**31))
    assert len(mesh.triangles) == 800_000 and mesh.bounds[1, 0] == 2 * len(places) - 1


def test_what_one_mesh_does_not_hold_of_a_scene_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "a.gltf", gltf.document())
    with pytest.warns(RepairWarning, match="one mesh at rest") as caught:
        meshes.load(path)
    (said,) = [str(one.message) for one in caught if "at rest" in str(one.message)]
    named = (
        "animations (1)",
        "skins (1)",
        "with morph targets (1)",
        "cameras (1)",
        "names (2)",
        "nodes (4)",
    )
    assert all(part in said for part in named)


@pytest.mark.parametrize(
    ("limits", "name"),
    [
        (Limits(vertices=3), "vertices"),
        (Limits(triangles=3), "triangles"),
        (Limits(json_values=20), "json values"),
        (Limits(json_depth=4), "json depth"),
        (Limits(instances=1), "instances"),
        (Limits(node_depth=1), "node depth"),
        (Limits(file_bytes=100), "file bytes"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_limit_is_checked(limits: Limits, name: str, tmp_path: Path) -> None:
    nodes = [{"mesh": 0, "children": [1]}, {"mesh": 0, "translation": [5, 0, 0]}]
    header = gltf.edited({"nodes": nodes, "buffers.0.uri": gltf.octets(gltf.plain()[1])}, gltf.plain()[0])
    path = write(tmp_path / "a.gltf", header)
    assert len(meshes.load(path).triangles) == 8
    with pytest.raises(LimitExceeded, match=name) as caught:
        meshes.load(path, limits=limits)
    assert "Limits(" in caught.value.fix and str(path) in caught.value.where


def test_the_number_of_buffers_and_images_is_limited(tmp_path: Path) -> None:
    path = write(tmp_path / "a.gltf", gltf.edited({"buffers.1": {"byteLength": 4, "uri": "data:,abcd"}}))
    with pytest.raises(LimitExceeded, match="2 buffers"):
        meshes.load(path, limits=Limits(buffers=1))
    path = write(tmp_path / "a.gltf", gltf.edited({"images.1": {"uri": "a.png"}}))
    with pytest.raises(LimitExceeded, match="2 images"):
        meshes.load(path, limits=Limits(images=1))


def test_a_ply_header_is_limited(tmp_path: Path) -> None:
    comment = "comment " + "x" * 500 + "\n"
    text = f"ply\nformat ascii 1.0\n{comment}element vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
    text += "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"
    (tmp_path / "a.ply").write_text(text)
    assert len(meshes.load(tmp_path / "a.ply").triangles) == 1
    with pytest.raises(LimitExceeded, match="header bytes"):
        meshes.load(tmp_path / "a.ply", limits=Limits(header_bytes=100))


_SMALL_MACHINE = """
import resource, sys
from hra.domains import meshes
from hra.files.images import load_image
from hra.errors import OutOfMemory
import PIL.Image, PIL.PngImagePlugin
PIL.Image.preinit()
read = {"mesh": meshes.load, "image": load_image}[sys.argv[1]]
read(sys.argv[2])
status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
room = 1024 * int(status["VmSize"].split()[0]) + 60 * 2**20
resource.setrlimit(resource.RLIMIT_AS, (room, room))
try:
    read(sys.argv[3])
except OutOfMemory as error:
    print("\\n".join(error.lines()))
"""


@pytest.mark.case(93)
@pytest.mark.parametrize("kind", ["mesh", "image"])
def test_too_little_memory_is_a_typed_error(kind: str, tmp_path: Path) -> None:
    small, large = tmp_path / "a", tmp_path / "b"
    if kind == "mesh":
        small, large = small.with_suffix(".stl"), large.with_suffix(".stl")
        for path, count in ((small, 2), (large, 1_000_000)):
            corners = np.zeros(count, np.dtype([("n", "<f4", 3), ("c", "<f4", (3, 3)), ("a", "<u2")]))
            corners["c"] = np.random.default_rng(0).random((count, 3, 3), np.float32)
            path.write_bytes(bytes(80) + np.uint32(count).tobytes() + corners.tobytes())
    else:
        small, large = small.with_suffix(".png"), large.with_suffix(".png")
        Image.new("L", (4, 4)).save(small)
        Image.new("L", (6000, 6000)).save(large)
    run = [sys.executable, "-W", "ignore", "-c", _SMALL_MACHINE, kind, str(small), str(large)]
    done = subprocess.run(run, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert "is too large for this machine: it needs" in done.stdout, done.stdout + done.stderr
    assert f"where: {large}" in done.stdout and "fix: " in done.stdout


def test_json_of_empty_lists_is_refused_before_it_is_parsed(tmp_path: Path) -> None:
    (tmp_path / "a.gltf").write_text(json.dumps({"extras": [[]] * 3_000_000}))
    with peak_memory() as peak, pytest.raises(LimitExceeded, match="json values"):
        meshes.load(tmp_path / "a.gltf")
    assert peak[0] < 2**26
