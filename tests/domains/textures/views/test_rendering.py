from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.camera import Camera
from hra.domains.textures import (
    AnalyticFeedback,
    MippedTexture,
    PlaneScene,
    ResidentTextures,
    TextureAllocator,
    TexturedPlane,
    TiledTexture,
    flyover,
    render,
)
from hra.errors import ImageError
from hra.files.images import psnr
from hra.model.hierarchy import Hierarchy


def everything(scene: PlaneScene) -> ResidentTextures:
    return ResidentTextures(scene.textures, np.ones(scene.textures.hierarchy.node_cost.size, np.bool_))


def tails(hierarchy: Hierarchy) -> np.ndarray:
    return hierarchy.added_by < 0


def from_above(width: float, viewport: tuple[int, int]) -> Camera:
    height = width * viewport[1] / viewport[0]
    return Camera.orthographic((0, 5, 0), (0, 0, 0), (0, 0, -1), height=height, far=10, viewport=viewport)


@given(seed=st.integers(0, 10**6))
def test_all_that_is_wanted_looks_like_full_residency(
    seed: int, scene: PlaneScene, camera_of: Callable[..., Camera]
) -> None:
    camera = camera_of(seed)
    allocator = TextureAllocator(scene.textures, AnalyticFeedback(scene, stride=1))
    wanted = allocator.realize(allocator.allocate(camera, float("inf")))
    np.testing.assert_array_equal(render(scene, wanted, camera), render(scene, everything(scene), camera))


def test_texels_as_large_as_pixels_show_the_image(noise: Callable[..., np.ndarray]) -> None:
    image = noise(30, 44)
    scene = PlaneScene([TexturedPlane.ground(TiledTexture.from_image(image, tile=8), 4.4)])
    view = render(scene, everything(scene), from_above(4.4, (44, 30)))
    np.testing.assert_allclose(view * 255, image, atol=1e-3)


def test_half_the_pixels_show_the_next_level(noise: Callable[..., np.ndarray]) -> None:
    image = noise(32, 64).astype(np.float32)
    texture = TiledTexture.from_image(image, tile=8)
    scene = PlaneScene([TexturedPlane.ground(texture, 4.0)])
    # A hair closer than two texels per pixel would still want level 0.
    view = render(scene, everything(scene), from_above(4.0 * (1 + 1e-9), (32, 16)))
    np.testing.assert_allclose(view, texture.mips[1], atol=1e-3)


def test_white_is_never_more_than_white(camera_of: Callable[..., Camera]) -> None:
    # Bilinear weights add up to a little more than 1 here and there; PSNR and FLIP take 0 .. 1.
    scene = PlaneScene.ground(TiledTexture.from_image(np.full((96, 96, 3), 255, np.uint8), tile=8), width=10.0)
    seen = [render(scene, everything(scene), camera_of(seed, viewport=(96, 64))) for seed in range(20)]
    assert max(float(picture.max()) for picture in seen) == 1


@pytest.mark.parametrize("size", [(1, 1), (1, 77), (75, 117)])
def test_one_colour_stays_one_colour(size: tuple[int, int], camera_of: Callable[..., Camera]) -> None:
    texture = TiledTexture.from_image(np.full((*size, 3), 51, np.uint8), tile=8)
    scene = PlaneScene([TexturedPlane.ground(texture, 10.0)])
    base = ResidentTextures(scene.textures, tails(scene.textures.hierarchy))
    views = np.array([render(scene, base, camera_of(seed)) for seed in range(10)])
    assert (views > 0).any()
    np.testing.assert_allclose(views[views > 0], 0.2, atol=1e-6)


@pytest.mark.parametrize("size", [(75, 117), (64, 128), (33, 33)])
def test_coarse_levels_stay_in_place(size: tuple[int, int]) -> None:
    # A ramp along u has nearly the same value at every level; a shift by a coarse texel would show.
    ramp = np.broadcast_to((np.arange(size[1], dtype=np.float32)[None, :, None] + 0.5) / size[1], (*size, 1))
    camera = from_above(10.0, (64, 32))
    for texture in (TiledTexture.from_image(ramp, tile=16), MippedTexture.from_image(ramp, tail=16)):
        scene = PlaneScene([TexturedPlane.ground(texture, 10.0)])
        hierarchy = scene.textures.hierarchy
        view = render(scene, ResidentTextures(scene.textures, tails(hierarchy)), camera)
        level = int(hierarchy.attribute("level")[0])
        seen = view[..., 0][view[..., 0] > 0].reshape(-1, 64)
        expected = (np.arange(64) + 0.5) / 64
        texel = 1 / texture.mips[level].shape[1]
        np.testing.assert_allclose(seen, np.broadcast_to(expected, seen.shape), atol=0.51 * texel)
        inside = (expected > texel) & (expected < 1 - texel)
        np.testing.assert_allclose(
            seen[:, inside], np.broadcast_to(expected[inside], (len(seen), inside.sum())), atol=0.01
        )


def test_more_memory_looks_better(noise: Callable[..., np.ndarray]) -> None:
    scene = PlaneScene([TexturedPlane.ground(TiledTexture.from_image(noise(256, 256), tile=32), 10.0)])
    camera = flyover(scene.planes[0], 10, viewport=(160, 90))[6]
    allocator = TextureAllocator(scene.textures, AnalyticFeedback(scene, stride=1))
    full = render(scene, everything(scene), camera)
    wanted = allocator.allocate(camera, float("inf")).cost
    quality = [
        psnr(render(scene, allocator.realize(allocator.allocate(camera, pool)), camera), full)
        for pool in (allocator.hierarchy_for(camera).base_cost, wanted / 2, wanted)
    ]
    assert quality[0] < quality[1] < quality[2] == float("inf")


def test_textures_of_one_view_have_the_same_channels(noise: Callable[..., np.ndarray]) -> None:
    textures = [TiledTexture.from_image(noise(4, 4, channels)) for channels in (1, 3)]
    scene = PlaneScene([TexturedPlane.ground(texture, 1.0) for texture in textures])
    with pytest.raises(ImageError):
        render(scene, everything(scene), from_above(1.0, (8, 8)))


def test_psnr_of_a_known_error() -> None:
    image = np.zeros((4, 4, 3), np.float32)
    assert psnr(image + np.float32(0.1), image) == pytest.approx(20, abs=1e-5)
