"""Metrics of token sets against plain formulas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import tokens
from hra.errors import ArrayError
from hra.files.images import psnr, ssim


def plain_redundancy(vectors: np.ndarray) -> float:
    centred = [vector - vectors.mean(axis=0) for vector in vectors]
    best = []
    for i, a in enumerate(centred):
        others = [b for j, b in enumerate(centred) if j != i]
        best.append(max(float(a @ b / np.linalg.norm(a) / np.linalg.norm(b)) for b in others))
    return sum(best) / len(best)


@given(st.integers(2, 12), st.integers(2, 9), st.integers(0, 2**32 - 1))
def test_redundancy_is_the_mean_largest_cosine(count, width, seed):
    vectors = np.random.default_rng(seed).normal(size=(count, width))
    assert tokens.redundancy(vectors) == pytest.approx(plain_redundancy(vectors))


def test_twins_are_wholly_redundant():
    pairs = np.random.default_rng(0).random((6, 20)).repeat(2, axis=0)
    assert tokens.redundancy(pairs) == pytest.approx(1)
    assert tokens.redundancy(np.ones((5, 4))) == pytest.approx(1)
    assert tokens.redundancy(np.ones((1, 4))) == tokens.redundancy(np.ones((0, 4))) == 0
    assert tokens.redundancy(np.eye(3)) < 0
    with pytest.raises(ArrayError, match=r"\[K, D\]"):
        tokens.redundancy(np.ones(4))


def test_gain_counts_from_the_mean_colour_to_the_image(smooth_noise):
    image = smooth_noise(96, 80)
    context = tokens.GridTopK(lambda context: np.eye(6, 5)).context(image, "")
    blank = np.broadcast_to(image.mean(axis=(0, 1)), image.shape)
    assert tokens.explained(context, image) == 1
    assert tokens.explained(context, blank) == pytest.approx(0, abs=1e-5)
    assert tokens.explained(context, 1 - image) < 0
    elsewhere = image.copy()
    elsewhere[:16, 16:] = 0.3  # relevance is on the diagonal only
    assert tokens.explained(context, elsewhere) == 1


@pytest.mark.parametrize("value", [0.5, 0.1])  # the mean of the second is another number, by its rounding
def test_a_constant_image_is_explained_as_far_as_it_is_shown(value):
    context = tokens.GridTopK().context(np.full((33, 35, 3), value, np.float32), "")
    image = context.pyramid.image
    assert tokens.explained(context, image) == 1
    assert tokens.explained(context, image.astype(float) + 1e-7) == pytest.approx(1, abs=1e-6)  # what resampling leaves
    assert -np.inf < tokens.explained(context, 0 * image) < -100


def test_the_report_agrees_with_its_parts(smooth_noise):
    image = smooth_noise(128, 96)
    allocator = tokens.PyramidSampling()
    context = allocator.context(image, "left")
    token_set = allocator.realize(allocator.allocate(context, 12))
    report, shown = tokens.measure(token_set, context), token_set.reconstruct()
    assert (report.count, report.empty_cells) == (12, 0)
    assert (report.psnr_db, report.ssim) == (psnr(shown, image), ssim(shown, image))
    assert report.gain == tokens.explained(context, shown)
    assert report.efficiency == pytest.approx(report.gain * 48 / 12)
    assert report.coverage == tokens.coverage(token_set, context)
    whole = tokens.measure(allocator.realize(allocator.allocate(context, 48)), context)
    assert whole.gain == whole.efficiency == 1


def test_no_tokens_are_measured_too(smooth_noise):
    allocator = tokens.GridTopK()
    context = allocator.context(smooth_noise(48, 48), "")
    report = tokens.measure(allocator.realize(allocator.allocate(context, 0)), context)
    assert (report.count, report.efficiency, report.redundancy) == (0, 0, 0)
