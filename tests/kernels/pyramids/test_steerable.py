"""The steerable pyramid: tight frame, reconstruction, which band sees what, and the pyramid of pyrtools."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hra.errors import ArrayError, BackendUnavailable, HraError
from hra.kernels import SteerablePyramid, steerable_pyramid
from hra.kernels.pyramids.spectra import reference

IMAGES = hnp.arrays(
    np.float32,
    st.tuples(st.integers(1, 2), st.integers(1, 20), st.integers(1, 20), st.integers(1, 3)),
    elements=st.floats(-1e6, 1e6, width=32),
)


def energy(array: np.ndarray) -> float:
    return float(np.sum(array.astype(np.float64) ** 2))


def total_energy(pyramid: SteerablePyramid) -> float:
    return energy(pyramid.highpass) + sum(map(energy, pyramid.bands)) + energy(pyramid.lowpass)


def grating(degrees: float, period: float, size: int = 128) -> np.ndarray:
    """Waves [H, W, 1] that run ``degrees`` from +x towards +y (down), a whole number of them along each axis."""
    y, x = np.mgrid[:size, :size]
    along_x, along_y = (np.rint(f(np.deg2rad(degrees)) * size / period) for f in (np.cos, np.sin))
    return np.cos(2 * np.pi * (along_x * x + along_y * y) / size).astype(np.float32)[..., None]


def assert_tight_and_exact(image: np.ndarray, scales: int | None, orientations: int) -> None:
    pyramid = steerable_pyramid(image, scales, orientations)
    scale = np.abs(image.astype(np.float64)).max()
    assert total_energy(pyramid) == pytest.approx(energy(image), rel=2e-6, abs=1e-30)
    np.testing.assert_allclose(pyramid.reconstruct(), image.astype(np.float32), rtol=0, atol=2e-6 * scale)


def test_the_frame_is_tight_and_the_reconstruction_exact(size, make_image):
    for scales in (None, 1):
        assert_tight_and_exact(make_image((*size, 1), np.float32), scales, 4)


@pytest.mark.parametrize("orientations", [1, 2, 3, 6])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.uint8])
def test_any_number_of_orientations_is_tight_and_exact(orientations, dtype, make_image):
    assert_tight_and_exact(make_image((2, 37, 48, 3), dtype), 3, orientations)


@given(image=IMAGES, scales=st.sampled_from([1, 2, 5, None]), orientations=st.integers(1, 5))
def test_any_image_is_tight_and_exact(image, scales, orientations):
    assert_tight_and_exact(image, scales, orientations)


def test_shapes_halve_rounded_up(make_image):
    pyramid = steerable_pyramid(make_image((2, 37, 50, 3), np.float32), scales=3)
    assert pyramid.highpass.shape == (2, 37, 50, 3)
    assert [band.shape for band in pyramid.bands] == [(4, 2, 37, 50, 3), (4, 2, 19, 25, 3), (4, 2, 10, 13, 3)]
    assert pyramid.lowpass.shape == (2, 5, 7, 3)
    assert pyramid.orientations == 4


@pytest.mark.parametrize("band", range(4))
@pytest.mark.parametrize("scale", [0, 1, 2])
def test_a_grating_is_seen_by_the_band_of_its_direction_and_scale(band, scale):
    # Radius 1/2 of the Nyquist frequency, where the finest bands peak, is a period of 4 pixels.
    pyramid = steerable_pyramid(grating(45 * band, 4 * 2**scale), scales=3)
    energies = np.array([[energy(level[k]) for k in range(4)] for level in pyramid.bands])
    assert np.unravel_index(energies.argmax(), energies.shape) == (scale, band)
    # Squared filters are cos^6 of the angle between, over a sum of 5/4: 0.8 on, 0.1 beside, 0 across.
    shares = energies[scale] / energies[scale].sum()
    assert shares[band] == pytest.approx(0.8, abs=1e-3)
    assert shares[(band + 2) % 4] < 1e-6


def test_lines_of_text_are_in_the_band_of_90_degrees():
    rows = np.zeros((64, 64, 1), np.float32)
    rows[::8] = rows[1::8] = rows[2::8] = 1
    energies = [sum(energy(level[k]) for level in steerable_pyramid(rows, scales=3).bands) for k in range(4)]
    assert np.argmax(energies) == 2


@pytest.mark.parametrize("size", [(64, 64), (128, 32), (96, 160)])
@pytest.mark.parametrize("orientations", [2, 4])
def test_pyrtools_computes_the_same(size, orientations, make_image):
    pyrtools = pytest.importorskip("pyrtools")
    image = make_image((*size, 1), np.float32)
    found = steerable_pyramid(image, scales=2, orientations=orientations)
    theirs = pyrtools.pyramids.SteerablePyramidFreq(image[..., 0], height=2, order=orientations - 1).pyr_coeffs
    np.testing.assert_allclose(found.highpass[..., 0], theirs["residual_highpass"], atol=3e-4)
    # Theirs keeps the amplitude of a wave from scale to scale, ours its energy; its filters are interpolated tables.
    np.testing.assert_allclose(found.lowpass[..., 0], theirs["residual_lowpass"] / 4, atol=3e-4)
    for scale, bands in enumerate(found.bands):
        for k, band in enumerate(bands):
            np.testing.assert_allclose(band[..., 0], theirs[scale, k] / 2**scale, atol=3e-4)
            assert energy(band) == pytest.approx(energy(theirs[scale, k]) / 4**scale, rel=1e-3)


def test_batches_and_channels_are_independent(make_image):
    image = make_image((2, 3, 20, 17, 2), np.float32)
    alone, together = steerable_pyramid(image[1, 2, :, :, 1:], scales=2), steerable_pyramid(image, scales=2)
    for one, all_of_them in zip(alone.bands, together.bands, strict=True):
        np.testing.assert_allclose(all_of_them[:, 1, 2, :, :, 1:], one, rtol=0, atol=1e-6)


def test_the_same_kind_of_array_comes_back(make_image):
    torch, warp = pytest.importorskip("torch"), pytest.importorskip("warp")
    image = make_image((7, 6, 2), np.float32)
    expected = steerable_pyramid(image, scales=2)
    for given_image, kind in ((torch.from_numpy(image), torch.Tensor), (warp.array(image, device="cpu"), warp.array)):
        found = steerable_pyramid(given_image, scales=2)
        assert isinstance(found.highpass, kind) and isinstance(found.reconstruct(), kind)
        np.testing.assert_array_equal(found.bands[1].numpy(), expected.bands[1])
    with pytest.raises(ArrayError, match="five axes"):
        steerable_pyramid(warp.array(image[None], device="cpu"))


def test_strided_images_are_read(make_image):
    view = make_image((24, 14, 3), np.float32)[::2, ::-1, 1:]
    found, expected = steerable_pyramid(view), steerable_pyramid(np.ascontiguousarray(view))
    np.testing.assert_array_equal(found.bands[0], expected.bands[0])


@pytest.mark.parametrize("shape", [(0, 5, 1), (5, 0, 1), (4, 4, 0), (0, 4, 4, 1)])
def test_images_without_pixels_give_empty_bands(shape):
    found = steerable_pyramid(np.zeros(shape, np.float32), scales=2)
    assert found.reconstruct().shape == shape
    assert [band.size for band in found.bands] == [0, 0]


@pytest.mark.parametrize("argument", ["scales", "orientations"])
@pytest.mark.parametrize("value", [0, -1, 1.5, True, 99])
def test_bad_numbers_are_refused(argument, value):
    with pytest.raises(HraError, match=argument):
        steerable_pyramid(np.zeros((4, 4, 1), np.float32), **{argument: value})


def test_other_dtypes_and_backends_are_refused():
    with pytest.raises(ArrayError, match="float64"):
        steerable_pyramid(np.zeros((4, 4, 1)))
    for backend in ("numba", "gl"):
        with pytest.raises(BackendUnavailable, match=backend):
            steerable_pyramid(np.zeros((4, 4, 1), np.float32), backend=backend)


def test_without_scipy_bands_are_the_same(monkeypatch):
    image = np.random.default_rng(0).random((40, 56, 3), np.float32)
    with_scipy = steerable_pyramid(image, 3)
    monkeypatch.setattr(reference, "find_spec", lambda name: None)
    plain = steerable_pyramid(image, 3)
    for one, other in zip(with_scipy.bands, plain.bands, strict=True):
        assert one == pytest.approx(other, abs=2e-6)
    assert plain.reconstruct() == pytest.approx(image, abs=1e-5)
