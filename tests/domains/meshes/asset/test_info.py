"""The info of a file: no JSON, no report, no materials are refused like any other damage."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from hra.domains import meshes
from tests.helpers import mesh_file
from tests.helpers.mesh_file import refused

HUGE = 2**62


def with_info(content: bytes, **changes: object) -> bytes:
    info = {**json.loads(mesh_file.section(content, "info").tobytes()), **changes}
    return mesh_file.with_section(content, "info", np.frombuffer(json.dumps(info).encode(), np.uint8))


@pytest.mark.parametrize(
    "changes",
    [
        {"mesh": None},
        {"mesh": {}},
        {"report": 3},
        {"report": {"cpu_s": 1.0}},
        {"materials": None},
        {"materials": 4},
        {"materials": ["red"]},
        {"materials": [{"name": "red"}]},
        {"materials": []},
    ],
    ids=json.dumps,
)
def test_an_invalid_info_is_refused(changes: dict, target: Path, dressed_file: Path) -> None:
    refused(target, with_info(dressed_file.read_bytes(), **changes))


def test_fields_of_later_versions_are_passed_over(target: Path, dressed_file: Path) -> None:
    content = dressed_file.read_bytes()
    report = json.loads(mesh_file.section(content, "info").tobytes())["report"]
    target.write_bytes(with_info(content, extra=1, report={**report, "watts": [1]}))
    assert meshes.open_asset(target).report == meshes.open_asset(dressed_file).report


@pytest.mark.parametrize("image", [[0, HUGE], [-1, 4], [5, 0], [1, 9], [0.5, 1.5], "a", [1]], ids=json.dumps)
def test_images_outside_of_the_file_are_refused(image: object, target: Path, dressed_file: Path) -> None:
    content = dressed_file.read_bytes()
    materials = json.loads(mesh_file.section(content, "info").tobytes())["materials"]
    materials[1]["image"] = image
    refused(target, with_info(content, materials=materials), "material")


TEXTURE = {"image": [0, 0], "coordinates": 0}


@pytest.mark.parametrize(
    "fields",
    [
        {"normal_texture": 3},
        {"normal_texture": {}},
        {"normal_texture": TEXTURE | {"image": None}},
        {"normal_texture": TEXTURE | {"image": [0, HUGE]}},
        {"normal_texture": TEXTURE | {"coordinates": 2}},
        {"normal_texture": TEXTURE | {"coordinates": [0]}},
        {"normal_texture": TEXTURE | {"width": 4}},
        {"normal_texture": TEXTURE | {"sampler": {"wrap_s": "CLAMP"}}},
        {"normal_texture": TEXTURE | {"sampler": {"wrap": 1}}},
        {"normal_texture": TEXTURE | {"sampler": 7}},
        {"sampler": {"mag_filter": []}},
        {"sampler": None},
        {"normal_scale": 10**400},
        {"normal_scale": "1"},
        {"occlusion_strength": -1},
        {"anisotropy": 0.5},
    ],
    ids=lambda fields: json.dumps(fields)[:60],
)
def test_other_textures_and_samplers_are_refused(fields: dict, target: Path, dressed_file: Path) -> None:
    content = dressed_file.read_bytes()
    materials = json.loads(mesh_file.section(content, "info").tobytes())["materials"]
    place = next(material["image"] for material in materials if material["image"])
    texture = fields.get("normal_texture")
    if isinstance(texture, dict) and texture.get("image") == [0, 0]:
        fields = {"normal_texture": texture | {"image": place}}
    refused(target, with_info(content, materials=[materials[0] | fields, *materials[1:]]), "material")


@pytest.mark.parametrize("text", [b"", b"{", b"[" * 100_000, b"\xff\xfe", b"3"], ids=["", "{", "deep", "bytes", "3"])
def test_an_info_that_is_no_json_is_refused(text: bytes, target: Path, tiny_file: Path) -> None:
    content = tiny_file.read_bytes()
    refused(target, mesh_file.with_section(content, "info", np.frombuffer(text, np.uint8)))
