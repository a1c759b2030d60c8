"""Position codes: sizes, frequencies, and the same code for the same place."""

from __future__ import annotations

import numpy as np
import pytest

from hra.domains.tokens.methods.log_polar import LogPolar
from hra.domains.tokens.methods.pyramid_sampling import PyramidSampling
from hra.domains.tokens.patches.tokens import PatchTokens
from hra.domains.tokens.token_sets.position_codes import position_code
from hra.errors import HraError

WIDTHS = {"centroid": 256, "corners": 512, "corners_and_size": 768, "level": 384, "polar": 256}


@pytest.fixture
def token_set(smooth_noise) -> PatchTokens:
    allocator = PyramidSampling()
    return allocator.realize(allocator.allocate((smooth_noise(120, 200), ""), 30))


@pytest.mark.parametrize("kind", WIDTHS)
def test_widths(smooth_noise, token_set, kind):
    sampler = LogPolar()
    for tokens in (token_set, sampler.realize(sampler.allocate((smooth_noise(120, 200), ""), 30))):
        code = position_code(tokens, kind, gaze=(10.0, 20.0))
        assert code.shape == (30, WIDTHS[kind]) and code.dtype == np.float32
        np.testing.assert_allclose(np.square(code).sum(axis=1), WIDTHS[kind] / 2, rtol=1e-5)


@pytest.mark.parametrize("kind", ["centroid", "corners", "corners_and_size", "level"])
def test_each_number_is_the_sine_or_cosine_of_its_coordinate(token_set, kind):
    x0, y0, x1, y1 = token_set.boxes.T.astype(float)
    level, x, y = token_set.places.T
    coordinates = {
        "centroid": [(x0 + x1) / 2, (y0 + y1) / 2],
        "corners": [x0, y0, x1, y1],
        "corners_and_size": [x0, y0, x1, y1, x1 - x0, y1 - y0],
        "level": [level, 16 * x, 16 * y],
    }[kind]
    code = position_code(token_set, kind)
    for token in (0, 7, 29):
        expected = []
        for coordinate in coordinates:
            phase = [coordinate[token] / 10_000 ** (2 * i / 128) for i in range(64)]
            expected += [*np.sin(phase), *np.cos(phase)]
        np.testing.assert_allclose(code[token], expected, atol=1e-6)


def test_polar_codes_are_periodic_and_see_from_the_gaze(token_set):
    centre = (token_set.boxes[:, :2] + token_set.boxes[:, 2:]) / 2
    code = position_code(token_set, "polar", gaze=(10.0, 20.0))
    offset = centre - (10, 20)
    angle = np.arctan2(offset[:, 1], offset[:, 0])
    np.testing.assert_allclose(code[:, 0], np.sin(np.hypot(*offset.T)), atol=1e-5)
    for harmonic in (1, 2, 64):
        np.testing.assert_allclose(code[:, 127 + harmonic], np.sin(harmonic * (angle + 2 * np.pi)), atol=1e-5)


def test_polar_codes_count_from_each_tokens_own_fixation(smooth_noise, token_set):
    sampler = LogPolar()
    samples = sampler.realize(sampler.allocate((smooth_noise(120, 200), ""), 30))
    assert samples.fixations is not None
    gaze = (samples.fixations[0, 0], samples.fixations[0, 1])
    assert np.array_equal(position_code(samples, "polar"), position_code(samples, "polar", gaze=gaze))
    with pytest.raises(HraError, match="no fixation"):
        position_code(token_set, "polar")  # the centre of the image would be a guess


def test_unknown_kinds_are_refused(token_set):
    with pytest.raises(HraError, match="wavelet"):
        position_code(token_set, "wavelet")  # pyright: ignore[reportArgumentType]
