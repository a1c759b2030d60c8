"""Compressed views and instances, damaged at random: read or refused, never a crash, a guess or memory without end."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hra.domains import meshes
from tests.helpers.hostile import gltf, gltf_extensions
from tests.helpers.hostile.judging import measured
from tests.helpers.hostile.mutation import mutated

# Whole runs are longer: HRA_DAMAGED=20000 pytest ... (each example damages one file).
_EXAMPLES = int(os.environ.get("HRA_DAMAGED", "150"))


FILES = gltf_extensions.seeds()


@settings(max_examples=_EXAMPLES)
@given(st.integers(0, 2**32 - 1))
def test_damage_is_found_or_harmless(seed: int) -> None:
    rng = np.random.default_rng(seed)
    content, suffix = FILES[int(rng.integers(len(FILES)))]
    content = mutated(rng, content, FILES[int(rng.integers(len(FILES)))][0])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"damaged{suffix}")
        path.write_bytes(content)
        outcome, _ = measured(lambda: meshes.load(path), len(content))
    assert outcome.verdict in ("accepted", "refused"), outcome.detail


@pytest.mark.parametrize("place", range(0, 40, 3))
def test_every_byte_of_compressed_data_may_be_wrong(place: int, tmp_path: Path) -> None:
    header = gltf.edited({"buffers.0.uri": gltf.REMOVE}, gltf_extensions.compressed())
    content = bytearray(gltf_extensions.packed_bytes())
    path = tmp_path / "a.glb"
    for value in (0, 1, 0x7F, 0x80, 0xFF):
        content[place] = value
        path.write_bytes(gltf.glb(header, bytes(content)))
        outcome, _ = measured(lambda: meshes.load(path), len(content))
        assert outcome.verdict in ("accepted", "refused"), outcome.detail


def test_normals_come_out_of_their_filter(tmp_path: Path) -> None:
    case = next(case for case in gltf_extensions.cases() if "shorts and normals" in case.name)
    path = tmp_path / "a.gltf"
    path.write_bytes(case.content)
    mesh = meshes.load(path)
    assert mesh.attributes is not None and mesh.attributes.normals is not None
    assert np.abs(mesh.attributes.normals - [0, 0.6, 0.8]).max() < 0.01
