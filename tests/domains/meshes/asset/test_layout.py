"""docs/mesh-format.md is true: a file is read by its tables with plain ``struct``."""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from hra.domains import meshes
from tests.helpers import mesh_file
from tests.helpers.scripts import ROOT

STREAMS = {"position": ("<f", 3), "uv": ("<f", 2), "normals": ("<f", 3), "colors": ("<B", 4), "material": ("<i", 1)}


@pytest.mark.parametrize("name", ["tiny", "dressed", "skull_clusters"])
def test_a_file_is_what_its_documentation_says(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    mesh: meshes.ClusterMesh = request.getfixturevalue(name)
    mesh.save(tmp_path / "a.hra")
    content = (tmp_path / "a.hra").read_bytes()

    head, entries = mesh_file.header(content), mesh_file.entries(content)
    assert head["magic"] == b"\x89HRA\r\n\x1a\n" and head["byte_order"] == 0x01020304 and head["version"] == 1
    assert head["file_bytes"] == len(content) and head["reserved"] == 0
    assert head["header_crc"] == zlib.crc32(content[:60])
    assert head["directory_crc"] == zlib.crc32(content[64 : 64 + 48 * head["sections"]])
    for entry in entries.values():
        if entry["kind"] != 3:
            size = entry["rows"] * max(entry["columns"], 1) * max(entry["layers"], 1) * int(entry["type"][2:3])
            assert entry["offset"] % 64 == 0
            assert entry["crc"] == zlib.crc32(content[entry["offset"] : entry["offset"] + size])

    order = sorted(range(head["clusters"]), key=mesh_file.section(content, "added_by").tolist().__getitem__)
    streams = [key for key, entry in entries.items() if entry["kind"] == 3]
    read = read_pages(content, order, streams)
    triangles, vertices = read.pop("triangles"), range(head["vertices"])
    assert sum(map(len, triangles.values())) == head["triangles"]
    for cluster, corners in triangles.items():
        expected = mesh.indices[mesh.offsets[cluster] : mesh.offsets[cluster + 1]].reshape(-1, 3)
        assert np.array_equal(corners, expected)
    assert np.array_equal([read["position"][v] for v in vertices], mesh.positions)
    for key in streams[1:]:
        values = np.array([read[key][v] for v in vertices])
        assert np.array_equal(values.reshape(getattr(mesh.attributes, key).shape), getattr(mesh.attributes, key))
    assert np.array_equal(mesh_file.section(content, "bounds"), mesh.bounds)


def test_its_documentation_names_every_section_and_every_later_field_of_a_material(
    dressed: meshes.ClusterMesh, tmp_path: Path
) -> None:
    meshes.with_appearance(dressed).save(tmp_path / "a.hra", grid_bits=16)
    first = json.loads(mesh_file.section((tmp_path / "a.hra").read_bytes(), "info").tobytes())["materials"][0]
    names = {*mesh_file.entries((tmp_path / "a.hra").read_bytes())}
    names |= {field.name for field in fields(meshes.Material)} - {*first}
    page = (ROOT / "docs/mesh-format.md").read_text("utf-8")
    assert {"facing", "grid", "images", "other"} <= names
    assert not {name for name in names if f"`{name}`" not in page}


def read_pages(content: bytes, order: list[int], streams: list[str]) -> dict[str, dict]:
    """Triangles of each cluster in vertex numbers, and the values of each stream by vertex number."""
    counts, triangles = (mesh_file.section(content, name).tolist() for name in ("vertex_count", "triangle_count"))
    result: dict[str, dict] = {"triangles": {}, **{name: {} for name in streams}}
    begin = 0
    columns = [mesh_file.section(content, f"page_{name}").tolist() for name in ("end", "offset", "bytes", "crc")]
    for end, offset, size, crc in zip(*columns, strict=True):
        assert offset % 4096 == 0 and size <= 2**17
        page, clusters, at = content[offset : offset + size], order[begin:end], 0
        assert zlib.crc32(page) == crc
        total = sum(counts[c] for c in clusters)
        vertices = struct.unpack_from(f"<{total}I", page, at)
        at += 4 * total
        for name in streams:
            kind, width = STREAMS[name]
            values = struct.unpack_from(f"<{total * width}{kind[1]}", page, at)
            at += total * width * struct.calcsize(kind)
            for k, vertex in enumerate(vertices):
                row = values[k * width : (k + 1) * width]
                assert result[name].setdefault(vertex, row) == row
        first = 0
        for cluster in clusters:
            local = page[at : at + 3 * triangles[cluster]]
            corners = [vertices[first + corner] for corner in local]
            result["triangles"][cluster] = list(zip(corners[0::3], corners[1::3], corners[2::3], strict=True))
            at, first = at + len(local), first + counts[cluster]
        assert at == size
        begin = end
    assert begin == len(order)
    return result


def test_the_info_carries_the_report(dressed: meshes.ClusterMesh, tmp_path: Path) -> None:
    dressed.save(tmp_path / "a.hra")
    content = (tmp_path / "a.hra").read_bytes()
    info = json.loads(mesh_file.section(content, "info").tobytes())
    assert info["mesh"]["triangles"] == dressed.triangle_count
    assert info["mesh"]["root_triangles"] == dressed.root_triangle_count
    report = info["report"]
    assert report["cpu_s"] > 0 and report["wall_s"] > 0 and report["rss_mb"] >= 0
    assert (report["levels"], report["clusters"], report["groups"]) == tuple(
        info["mesh"][name] for name in ("levels", "clusters", "groups")
    )
    offset, size = info["materials"][1]["image"]
    assert mesh_file.section(content, "images").tobytes()[offset : offset + size].startswith(b"\x89PNG")
    assert info["materials"][1]["name"] == "Wäsche" and info["materials"][0]["image"] is None
