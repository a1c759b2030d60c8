"""Splats that PlayCanvas' splat-transform wrote as SOG."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial import KDTree

from hra.domains.points import SplatCloud, load_points
from hra.errors import FileError, HraError, RepairWarning
from tests.helpers.hostile.clouds import SOG


@pytest.fixture(scope="module")
def written() -> SplatCloud:
    """What splat-transform was given, in another order."""
    rng = np.random.default_rng(0)
    places, scales = rng.normal(0, 2, (300, 3)), np.exp(rng.normal(-2, 0.7, (300, 3)))
    turns, colors = rng.normal(size=(300, 4)), rng.random((300, 3))
    return SplatCloud.of(places, scales, turns, colors, rng.random(300) * 0.98 + 0.01)


def _parts() -> dict[str, bytes]:
    with zipfile.ZipFile(SOG) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _archive(parts: dict[str, bytes], path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def test_splats_are_those_that_were_written(written: SplatCloud):
    found = load_points(SOG)
    assert isinstance(found, SplatCloud)
    pairs = KDTree(written.positions).query(found.positions)
    far, order = np.asarray(pairs[0]), np.asarray(pairs[1])
    assert sorted(order.tolist()) == list(range(300))
    assert far.max() < 1e-3  # 16 bits of a logarithm
    # Steps of codebooks with 256 entries, and of 8 bits.
    assert np.abs(found.covariances - written.covariances[order]).max() < 0.02 * written.covariances.max()
    assert np.abs(found.colors - written.colors[order]).max() < 0.005
    assert np.abs(found.opacities - written.opacities[order]).max() < 0.5 / 255 + 0.003


def test_a_description_with_pictures_beside_it_is_the_archive(tmp_path: Path):
    for name, content in _parts().items():
        (tmp_path / name).write_bytes(content)
    found, archive = load_points(tmp_path / "meta.json"), load_points(SOG)
    assert isinstance(found, SplatCloud) and isinstance(archive, SplatCloud)
    for name in ("positions", "covariances", "colors", "opacities"):
        assert np.array_equal(getattr(found, name), getattr(archive, name))


def _changed(change: Callable[[dict[str, Any]], object]) -> dict[str, bytes]:
    parts = _parts()
    meta = json.loads(parts["meta.json"])
    change(meta)
    return parts | {"meta.json": json.dumps(meta).encode()}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda meta: meta.update(version=1), "version 1"),
        (lambda meta: meta.update(count=0), "count 0"),
        (lambda meta: meta.update(count=True), "count True"),
        (lambda meta: meta.update(count=321), "smaller than the 321 splats"),
        (lambda meta: meta.pop("quats"), "quats"),
        (lambda meta: meta["means"].update(mins=[0, 0]), "3 numbers"),
        (lambda meta: meta["scales"].update(codebook=[0.0] * 255), "256 numbers"),
        (lambda meta: meta["sh0"].update(files=["../secret.webp"]), "does not lie beside"),
        (lambda meta: meta["sh0"].update(files=["/etc/passwd"]), "does not lie beside"),
        (lambda meta: meta["sh0"].update(files=[7]), "does not lie beside"),
        (lambda meta: meta["quats"].update(files=["none.webp"]), "none.webp"),
        (lambda meta: meta["quats"].update(files=["sh0.webp"]), "which component"),
    ],
)
def test_what_is_wrong_is_said(change: Callable[[dict[str, Any]], object], said: str, tmp_path: Path):
    path = _archive(_changed(change), tmp_path / "a.sog")
    with pytest.raises(FileError, match=said) as caught:
        load_points(path)
    assert str(path) in str(caught.value.where) and caught.value.fix


@pytest.mark.parametrize("said", [{"antialias": True}, {"model": "antialiased"}])
def test_splats_that_ask_for_antialiased_drawing_are_named(said: dict[str, Any], tmp_path: Path):
    path = _archive(_changed(lambda meta: meta.update(said)), tmp_path / "a.sog")
    with pytest.warns(RepairWarning, match="trained for antialiased drawing, which was left out"):
        load_points(path)


def test_no_archive_and_damaged_pictures_are_refused(tmp_path: Path):
    path = tmp_path / "a.sog"
    path.write_bytes(b"not an archive")
    with pytest.raises(FileError, match="not an SOG file"):
        load_points(path)
    parts = _parts()
    with pytest.raises(HraError, match=r"quats\.webp"):
        load_points(_archive(parts | {"quats.webp": parts["quats.webp"][:100]}, path))
    with pytest.raises(FileError, match=r"meta\.json"):
        load_points(_archive({"a": b""}, path))
