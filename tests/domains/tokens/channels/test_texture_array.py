"""Every channel of the texture array on an image whose answer is known, and the array as a whole."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage

from hra.domains.tokens.channels.texture_array import CHANNELS, TextureArray, texture_array
from hra.domains.tokens.pyramid.blocks import block_means
from hra.errors import ArrayError, ImageError, MetricError

LINEAR = [
    "luminance",
    "red_green",
    "blue_yellow",
    "gradient_x",
    "gradient_y",
    "edges",
    "motion",
]
ROOTS = ["high_pass", "band_1", "band_2", "band_3", "oriented_0", "oriented_45", "oriented_90", "oriented_135"]


def grey(values: np.ndarray) -> np.ndarray:
    return np.repeat(values[..., None], 3, axis=2).astype(np.float32)


def waves(wavelength: float, degrees: float, size: int = 128, amplitude: float = 0.4) -> np.ndarray:
    """Sine waves that run along ``degrees`` from +x towards +y (down)."""
    y, x = np.indices((size, size))
    angle = np.deg2rad(degrees)
    return grey(0.5 + amplitude * np.sin(2 * np.pi * (x * np.cos(angle) + y * np.sin(angle)) / wavelength))


def inner(array: TextureArray, name: str) -> float:
    """Mean of a channel away from the border."""
    return float(array.channel(name)[2:-2, 2:-2].mean())


@pytest.mark.parametrize(
    ("color", "luminance", "red_green", "blue_yellow"),
    [
        ((1, 1, 1), 1, 0, 0),
        ((1, 0, 0), 0.299, 1, -0.5),
        ((0, 1, 0), 0.587, -1, -0.5),
        ((0, 0, 1), 0.114, 0, 1),
        ((1, 1, 0), 0.886, 0, -1),
    ],
)
def test_color_channels_oppose_red_to_green_and_blue_to_yellow(color, luminance, red_green, blue_yellow):
    array = texture_array(np.full((20, 30, 3), color, np.float32))
    for name, value in (("luminance", luminance), ("red_green", red_green), ("blue_yellow", blue_yellow)):
        assert array.channel(name) == pytest.approx(value, abs=1e-5)


def test_a_ramp_has_one_gradient_everywhere():
    y, x = np.indices((48, 48))
    array = texture_array(grey(0.01 * x + 0.005 * y))
    assert array.channel("gradient_x") == pytest.approx(0.01, abs=1e-5)
    assert array.channel("gradient_y") == pytest.approx(0.005, abs=1e-5)
    for name in ("edges", "structure_strength"):
        assert array.channel(name) == pytest.approx(np.hypot(0.01, 0.005), abs=1e-5)
    assert array.channel("corners") == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize("degrees", [0, 30, 45, 90, 120, 135])
def test_stripes_are_coherent_and_name_their_orientation(degrees):
    array = texture_array(waves(8, degrees))
    assert inner(array, "structure") == pytest.approx(1, abs=0.05)
    # A central difference shortens the steeper component a little, so that angles turn by up to two degrees.
    assert inner(array, "orientation_cos") == pytest.approx(np.cos(2 * np.deg2rad(degrees)), abs=0.1)
    assert inner(array, "orientation_sin") == pytest.approx(np.sin(2 * np.deg2rad(degrees)), abs=0.1)


def test_strength_is_the_root_mean_square_gradient():
    # The central difference of a sine of frequency k has the amplitude a sin(k).
    array = texture_array(waves(8, 0))
    assert inner(array, "structure_strength") == pytest.approx(0.4 * np.sin(2 * np.pi / 8) / np.sqrt(2), rel=0.01)


def test_crossed_waves_have_no_orientation_but_corners():
    array = texture_array((waves(8, 0) + waves(8, 90)) / 2)
    assert inner(array, "structure") == pytest.approx(0, abs=0.02)
    assert inner(array, "corners") > 10 * inner(texture_array(waves(8, 0)), "corners")


def test_the_corner_of_a_square_is_a_corner_and_its_sides_are_not():
    image = np.zeros((96, 96))
    image[40:, 40:] = 1  # the corner lies in cell (2, 2), a side in cell (2, 4)
    corners = texture_array(grey(image)).channel("corners")
    assert np.unravel_index(int(corners.argmax()), corners.shape) == (2, 2)
    assert corners[2, 4] < 0.1 * corners[2, 2]


def test_contrast_is_the_standard_deviation_of_luma():
    image = np.tile(np.array([0.2, 0.8]), (64, 32))
    # The blur over five pixels averages luma and its square alike: the deviation stays 0.3.
    assert texture_array(grey(image)).channel("contrast")[1:-1, 1:-1] == pytest.approx(0.3, abs=0.01)


@pytest.mark.parametrize(("wavelength", "name"), [(2.5, "high_pass"), (8, "band_1"), (16, "band_2"), (32, "band_3")])
def test_bands_answer_to_waves_of_their_octave(wavelength, name):
    array = texture_array(waves(wavelength, 0))
    assert max(("high_pass", "band_1", "band_2", "band_3"), key=lambda band: inner(array, band)) == name


def test_the_amplitude_of_a_fine_wave_is_its_root_mean_square():
    image = np.tile(np.array([0.2, 0.8]), (64, 32))  # the blur takes all of it away
    assert texture_array(grey(image)).channel("high_pass")[1:-1, 1:-1] == pytest.approx(0.3, abs=0.01)


@pytest.mark.parametrize("degrees", [0, 45, 90, 135])
def test_oriented_channels_answer_to_waves_of_their_direction(degrees):
    array = texture_array(waves(8, degrees))
    strongest, second = sorted(
        ("oriented_0", "oriented_45", "oriented_90", "oriented_135"), key=lambda name: -inner(array, name)
    )[:2]
    assert strongest == f"oriented_{degrees}"
    assert inner(array, strongest) > 1.5 * inner(array, second)


def test_oriented_channels_are_in_units_of_luma():
    # Of a wave's energy the band in line gets 8/10 and its neighbours 1/10 each; halving the image blurs it a little.
    blur = ((1 + np.cos(2 * np.pi / 16)) / 2) ** 2
    array = texture_array(waves(16, 0))
    assert inner(array, "oriented_0") == pytest.approx(blur * 0.4 / np.sqrt(2) * np.sqrt(0.8), rel=0.01)
    assert inner(array, "oriented_45") == pytest.approx(blur * 0.4 / np.sqrt(2) * np.sqrt(0.1), rel=0.01)


def test_the_borders_of_an_image_do_not_wrap_around():
    image = np.zeros((128, 128))
    image[:, :64] = 1  # its left and right border differ, but hold no edge
    array = texture_array(grey(image))
    oriented = array.channel("oriented_0")
    assert oriented[:, [0, -1]].max() < 0.05 * oriented[:, 3:5].max()


def test_a_blob_is_salient_and_strokes_are_text_like():
    image = np.full((160, 160), 0.4)
    image[32:48, 112:128] = 0.9
    image[96:128, 32:64:6] = image[96:128, 33:64:6] = 0.0
    array = texture_array(grey(image))
    saliency, text = array.channel("saliency"), array.channel("text_likeness")
    assert np.unravel_index(int(saliency.argmax()), saliency.shape) == (2, 7)
    assert text[6:8, 2:4].min() > 0.05
    assert text[2, 7] == 0


def test_motion_is_the_change_of_luma():
    before, after = np.full((40, 40, 3), 0.25, np.float32), np.full((40, 40, 3), 0.25, np.float32)
    after[:16, 16:32] = 0.5
    moved = texture_array(after, previous=before).channel("motion")
    expected = np.zeros((3, 3))
    expected[0, 1] = 0.25
    assert moved == pytest.approx(expected, abs=1e-6)
    assert (texture_array(after).channel("motion") == 0).all()


def test_eccentricity_is_the_distance_from_the_gaze():
    far = texture_array(np.zeros((40, 80, 3), np.float32), gaze=(8, 8)).channel("eccentricity")
    # Centres of cells lie at 8, 24, 40, ...; the last row of cells is 8 pixels high, centred at 36.
    assert far[0, 0] == 0
    assert far[0, 3] == pytest.approx(48 / 80)
    assert far[2, 1] == pytest.approx(np.hypot(16, 28) / 80)
    middle = texture_array(np.zeros((48, 48, 3), np.float32)).channel("eccentricity")
    assert middle[1, 1] == 0 and middle[0, 0] == middle[2, 2]


def test_model_features_fill_the_channels_17_to_32():
    features = np.random.default_rng(0).random((2, 3, 16), np.float32)
    array = texture_array(np.zeros((32, 48, 3), np.float32), model=features)
    assert array.values.shape == (2, 3, 40)
    assert array.names == tuple(CHANNELS.values())
    assert np.array_equal(array.complete()[..., 17:33], features)


def test_the_numbers_that_the_scorer_relies_on():
    assert sorted(CHANNELS) == list(range(40))
    fixed = {5: "saliency", 6: "edges", 7: "high_pass", 8: "structure", 10: "motion", 11: "eccentricity"}
    assert fixed.items() <= CHANNELS.items()
    assert CHANNELS[12] == "structure_strength"


def test_channels_without_a_model_stand_at_their_numbers():
    image = np.random.default_rng(0).random((40, 50, 3), np.float32)
    array = texture_array(image)
    assert len(array.names) == 24 and list(array.numbers) == sorted(array.numbers)
    full = array.complete()
    assert (full[..., 17:33] == 0).all()
    assert np.array_equal(full[..., 36], array.channel("oriented_0"))


def test_gradients_and_tensor_agree_with_plain_filters():
    image = np.random.default_rng(1).random((37, 50)).astype(np.float32)
    array = texture_array(grey(image), cell=1)
    dy, dx = np.gradient(image.astype(float))
    binomial = np.outer([1, 4, 6, 4, 1], [1, 4, 6, 4, 1]) / 256
    xx, yy, xy = (ndimage.convolve(part, binomial, mode="nearest") for part in (dx * dx, dy * dy, dx * dy))
    eigenvalues = np.linalg.eigvalsh(np.stack([np.stack([xx, xy], -1), np.stack([xy, yy], -1)], -1))
    smaller, larger = np.moveaxis(eigenvalues, -1, 0)
    assert array.channel("gradient_x") == pytest.approx(dx, abs=1e-5)
    assert array.channel("gradient_y") == pytest.approx(dy, abs=1e-5)
    assert array.channel("structure_strength") == pytest.approx(np.sqrt(xx + yy), abs=1e-4)
    assert array.channel("corners") == pytest.approx(np.sqrt(smaller), abs=1e-3)
    assert array.channel("structure") == pytest.approx((larger - smaller) / (larger + smaller + 255**-2), abs=1e-3)


@given(st.integers(1, 70), st.integers(1, 70), st.sampled_from([1, 3, 8, 16, 20]))
def test_every_size_and_cell_gives_finite_channels(height, width, cell):
    image = np.random.default_rng(height).random((height, width, 3), np.float32)
    array = texture_array(image, cell)
    assert array.values.shape == (-(-height // cell), -(-width // cell), 24)
    assert array.values.dtype == np.float32 and np.isfinite(array.values).all()


@given(st.integers(1, 70), st.integers(1, 70))
def test_cells_hold_the_means_of_their_pixels(height, width):
    first, second = np.random.default_rng(height).random((2, height, width, 3), np.float32)
    pixels, cells = (texture_array(first, cell, previous=second) for cell in (1, 16))
    for name in LINEAR:
        assert cells.channel(name) == pytest.approx(block_means(pixels.channel(name), 16), abs=1e-5)


def test_amplitudes_of_cells_are_the_root_mean_squares_of_their_pixels():
    image = np.random.default_rng(0).random((64, 96, 3), np.float32)
    pixels, cells = texture_array(image, 1), texture_array(image, 16)
    for name in ROOTS:
        assert cells.channel(name) == pytest.approx(np.sqrt(block_means(pixels.channel(name) ** 2, 16)), rel=1e-4)


def test_a_constant_image_has_no_structure():
    array = texture_array(np.full((50, 70, 3), 0.7, np.float32))
    for name in set(array.names) - {"luminance", "eccentricity"}:
        assert array.channel(name) == pytest.approx(0, abs=1e-3), name


@pytest.mark.parametrize(
    ("error", "arguments"),
    [
        (ArrayError, {"cell": 0}),
        (ArrayError, {"gaze": (np.nan, 0)}),
        (ImageError, {"previous": np.zeros((20, 21, 3), np.float32)}),
        (MetricError, {"model": np.zeros((3, 3))}),
    ],
)
def test_unusable_arguments_are_refused(error, arguments):
    with pytest.raises(error):
        texture_array(np.zeros((20, 20, 3), np.float32), **arguments)


def test_unknown_channels_are_refused_with_those_there_are():
    with pytest.raises(ArrayError, match="luminance"):
        texture_array(np.zeros((20, 20, 3), np.float32)).channel("model_0")
