"""Residual scales: errors that add up exactly, and coarse before fine."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.tokens.context.context import UniformRelevance
from hra.domains.tokens.methods.pyramid_sampling import PyramidSampling
from hra.domains.tokens.methods.residual_scales import ResidualScales
from hra.files.images import psnr


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 99), st.integers(2, 60))
def test_the_residual_is_the_weighted_error_of_the_image(rows, columns, seed, budget):
    generator = np.random.default_rng(seed)
    image = generator.random((16 * rows, 16 * columns, 3), dtype=np.float32)
    scores = generator.random((rows, columns)) + 0.01
    allocator = ResidualScales(lambda context: scores)
    allocation = allocator.allocate((image, ""), budget)
    shown = allocator.realize(allocation).reconstruct().astype(np.float64)
    weight = (scores / (scores.sum() * 3 * 256)).repeat(16, axis=0).repeat(16, axis=1)
    error = (np.square(shown - image) * weight[..., None]).sum()
    assert allocation.residual == pytest.approx(error, rel=1e-4, abs=1e-9)


def test_the_best_set_is_certified(smooth_noise):
    allocation = ResidualScales().allocate((smooth_noise(256, 320), ""), 100)
    assert allocation.status in ("optimal", "certified") and allocation.gap < 1e-3


def test_no_fine_residual_without_the_coarser_one(smooth_noise):
    allocator = ResidualScales()
    tokens = allocator.realize(allocator.allocate((smooth_noise(400, 300), ""), 90))
    taken = set(map(tuple, tokens.places.tolist()))
    coarsest = tokens.places[:, 0].max()
    assert all(band == coarsest or (band + 1, x // 2, y // 2) in taken for band, x, y in taken)
    assert sum(band == coarsest for band, _, _ in taken) == 4


def test_more_tokens_are_better_and_all_are_exact(smooth_noise):
    image = smooth_noise(200, 310)
    allocator = ResidualScales(UniformRelevance())
    context = allocator.context(image, "")
    shown = [allocator.realize(allocator.allocate(context, budget)).reconstruct() for budget in (10, 40, 160, 10_000)]
    assert (np.diff([psnr(image, each) for each in shown[:-1]]) > 0).all()
    np.testing.assert_allclose(shown[-1], image, atol=1e-6)


def test_contexts_of_other_allocators_serve_too(smooth_noise):
    context = PyramidSampling().context(smooth_noise(1000, 700), "")
    assert len(context.pyramid.levels) > 5
    allocator = ResidualScales()
    assert len(allocator.realize(allocator.allocate(context, 100))) == 100


@pytest.mark.parametrize(("patch", "scales"), [(14, 5), (8, 5), (14, 2), (6, 4)])
def test_any_patch_goes_with_any_number_of_scales(smooth_noise, patch, scales):
    image = smooth_noise(420, 364)
    allocator = ResidualScales(lambda context: ramp(context.image, patch), patch=patch, scales=scales)
    context = allocator.context(image, "")
    base = int(allocator.hierarchy_for(context).base_cost)
    allocation = allocator.allocate(context, base + 40)
    chosen = allocator.realize(allocation)
    assert len(chosen) == base + 40 and allocation.status == "optimal"
    every = allocator.hierarchy_for(context)
    assert every.total_cost > base + 40


def ramp(image: np.ndarray, patch: int) -> np.ndarray:
    rows, columns = (-(-extent // patch) for extent in image.shape[:2])
    return np.linspace(0.1, 1, rows * columns).reshape(rows, columns)
