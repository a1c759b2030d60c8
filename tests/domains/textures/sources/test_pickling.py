"""Opened images in other processes: they read the file again, and no other one."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import hra
from hra.domains import textures
from hra.errors import FileError

pytest.importorskip("OpenImageIO")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    noise = np.random.default_rng(0).integers(0, 256, (300, 500, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "noise.png")
    return tmp_path / "noise.png"


def allocator_of(path: Path) -> tuple[textures.TextureAllocator, list[hra.Camera]]:
    texture = textures.TiledTexture.from_source(textures.open_image(path), 64)
    scene = textures.PlaneScene([textures.TexturedPlane.ground(texture, 100.0)])
    cameras = textures.flyover(scene.planes[0], 3, viewport=(160, 90))
    return textures.TextureAllocator(scene.textures, textures.AnalyticFeedback(scene)), list(cameras)


def test_an_allocator_over_an_opened_image_goes_to_other_processes(path: Path) -> None:
    allocator, cameras = allocator_of(path)
    first = allocator.allocate(cameras[0], 200_000)
    pickled = pickle.dumps(allocator)
    assert len(pickled) < 100_000
    other = pickle.loads(pickled)
    assert np.array_equal(other.allocate(cameras[0], 200_000).selected, first.selected)
    # Allocations come back, go on, and can be realized.
    back = pickle.loads(pickle.dumps(other.allocate(cameras[1], 200_000)))
    adopted = allocator.adopt(back, cameras[1])
    assert allocator.allocate(cameras[1], 200_000, previous=back).churn == 0
    assert allocator.realize(adopted).bytes == adopted.cost


def test_levels_that_were_made_are_left_out(path: Path) -> None:
    source = textures.open_image(path)
    coarse = np.asarray(source.mips[4][:])
    again = pickle.loads(pickle.dumps(source))
    assert len(pickle.dumps(source)) < 10_000
    assert np.array_equal(again.mips[4][:], coarse)
    assert np.array_equal(again.mips[0][:5, 7:9], source.mips[0][:5, 7:9])


def test_another_file_of_that_name_is_refused(path: Path) -> None:
    pickled = pickle.dumps(textures.open_image(path))
    os.utime(path, ns=(0, 0))
    with pytest.raises(FileError, match="replaced"):
        pickle.loads(pickled)
    path.unlink()
    with pytest.raises(FileError, match="the file does not exist"):
        pickle.loads(pickled)
