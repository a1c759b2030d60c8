from __future__ import annotations

import numpy as np
import pytest

from hra.domains.tokens.methods.frequency.frames import LaplacianFrame, SteerableFrame
from hra.domains.tokens.methods.frequency.residual_frame import HaarFrame


def stripes(across: bool) -> np.ndarray:
    """A wave of 8 pixels that runs along x (or along y, if ``across``)."""
    wave = 0.5 + 0.4 * np.sin(np.arange(128) * np.pi / 4)
    image = np.repeat(np.tile(wave, (128, 1))[..., None], 3, axis=2).astype(np.float32)
    return np.ascontiguousarray(image.transpose(1, 0, 2)) if across else image


@pytest.mark.parametrize("frame", [SteerableFrame(), HaarFrame(5)])
def test_norms_make_energies_those_of_the_image(smooth_noise, frame):
    image = smooth_noise(96, 128)
    bands = zip(frame.bands((96, 128), 16), frame.analyse(image, 16), strict=True)
    energy = sum(band.norm * np.square(values, dtype=np.float64).sum() for band, values in bands)
    assert energy == pytest.approx(np.square(image, dtype=np.float64).sum(), rel=1e-5)


def test_norms_of_laplacian_bands_are_right_within_a_factor_of_two(smooth_noise):
    frame, size = LaplacianFrame(), (256, 256)
    coefficients = frame.analyse(smooth_noise(*size), 16)
    for k, (band, values) in enumerate(zip(frame.bands(size, 16), coefficients, strict=True)):
        alone = frame.synthesise([values if i == k else np.zeros_like(c) for i, c in enumerate(coefficients)], size, 16)
        ratio = np.square(alone).sum() / (band.norm * np.square(values).sum())
        assert 0.4 < ratio < 1.1


@pytest.mark.parametrize(("across", "direction"), [(False, 90.0), (True, 0.0)])
def test_directions_are_those_of_edges(across, direction):
    """Stripes that change along x have vertical edges: 90 degrees."""
    frame, image = SteerableFrame(), stripes(across)
    bands = zip(frame.bands((128, 128), 16), frame.analyse(image, 16), strict=True)
    energy = {}
    for band, values in bands:
        if band.direction is not None:
            energy[band.direction] = energy.get(band.direction, 0.0) + float(np.square(values).sum())
    assert sorted(energy) == [0.0, 45.0, 90.0, 135.0]
    assert max(energy, key=energy.__getitem__) == direction
