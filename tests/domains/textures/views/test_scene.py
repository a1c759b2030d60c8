from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hra.domains.textures import PlaneScene, TexturedPlane, TiledTexture
from hra.errors import ArrayError, HraError, RepairWarning
from hra.files.images import save_png


@pytest.fixture
def texture(noise: Callable[..., np.ndarray]) -> TiledTexture:
    return TiledTexture.from_image(noise(30, 40))


def test_the_ground_has_square_texels_around_the_origin(texture: TiledTexture) -> None:
    ground = TexturedPlane.ground(texture, width=8.0)
    corners = ground.points([0, 1, 0, 1], [0, 0, 1, 1])
    np.testing.assert_allclose(corners, [[-4, 0, -3], [4, 0, -3], [-4, 0, 3], [4, 0, 3]])


def test_the_frame_maps_like_points(texture: TiledTexture) -> None:
    plane = TexturedPlane(texture, np.array([1.0, 2, 3]), np.array([1.0, 1, 0]), np.array([0.0, 2, 5]))
    np.testing.assert_allclose(plane.frame @ [0.25, 0.75, 1], [*plane.points(0.25, 0.75), 1])


@pytest.mark.parametrize("axis", [[0.0, 0, 0], [2.0, 0, 0], [np.nan, 0, 1], [1.0, 0]])
def test_axes_must_span_an_area(texture: TiledTexture, axis: list[float]) -> None:
    with pytest.raises(ArrayError):
        TexturedPlane(texture, np.zeros(3), np.array([1.0, 0, 0]), np.array(axis))


def test_a_scene_needs_a_plane() -> None:
    with pytest.raises(ArrayError):
        PlaneScene([])


@pytest.mark.parametrize("planes", [None, 5, "abc", [1], [None]], ids=repr)
def test_what_is_no_list_of_planes_is_refused(planes: Any) -> None:
    with pytest.raises(HraError, match=r"planes(\[0\])? must be a"):
        PlaneScene(planes)


@pytest.mark.parametrize("width", [None, "10", 0, -1.0, np.nan, np.inf], ids=repr)
def test_a_ground_has_a_width(texture: TiledTexture, width: Any) -> None:
    with pytest.raises(ArrayError, match="width must be a number above 0"):
        PlaneScene.ground(texture, width)


def test_planes_may_share_a_texture(texture: TiledTexture, noise: Callable[..., np.ndarray]) -> None:
    other = TiledTexture.from_image(noise(5, 5))
    scene = PlaneScene([TexturedPlane.ground(t, 1.0) for t in (texture, other, texture)])
    assert scene.texture_of == (0, 1, 0)
    assert list(scene.textures.textures) == [texture, other]


def test_a_ground_of_texels_of_a_texture_and_of_a_file(
    texture: TiledTexture, noise: Callable[..., np.ndarray], tmp_path: Path
) -> None:
    texels = noise(30, 40)
    save_png(tmp_path / "a.png", texels)
    for image in (texels, TiledTexture.from_image(texels), tmp_path / "a.png", str(tmp_path / "a.png")):
        scene = PlaneScene.ground(image, width=8.0)
        np.testing.assert_array_equal(scene.planes[0].texture.mips[0], texels)
        np.testing.assert_allclose(scene.planes[0].points(0, 0), [-4, 0, -3])
    assert PlaneScene.ground(texture).textures.textures == (texture,)


def test_a_ground_of_light_is_what_a_screen_shows(tmp_path: Path) -> None:
    oiio = pytest.importorskip("OpenImageIO")
    light = np.array([0.0, 0.18, 1.0, 7.5], np.float32)[None, :, None] * np.ones((4, 1, 4), np.float32)
    assert oiio.ImageBuf(light).write(str(tmp_path / "a.exr"), "half")
    with pytest.warns(RepairWarning, match="alpha"):
        texture = PlaneScene.ground(tmp_path / "a.exr").planes[0].texture
    np.testing.assert_allclose(texture.mips[0][0, :, 2], [0, 0.4614, 1, 1], atol=1e-3)
    assert texture.mips[0].shape == (4, 4, 3)
    assert texture.pages.bytes.sum() == 8 * (16 + 4 + 1), "half floats of four channels"
