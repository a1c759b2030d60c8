"""Legibility: S-shaped in the level, additive over regions, and the case that best-first starves."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

import hra
from hra import samples
from hra.domains import tokens
from hra.domains.tokens.channels.text_likeness import text_likeness
from hra.errors import MetricError
from hra.files.images import load_image


def strokes(height: int, width: int) -> np.ndarray:
    """Vertical strokes of 4 pixels on white: all text."""
    columns = np.where(np.arange(width) // 4 % 2, 0.0, 1.0).astype(np.float32)
    return np.broadcast_to(columns[:, None], (height, width, 3)).copy()


def allocator(x_height: float, traversal: hra.Traversal) -> tokens.TokenAllocator[tokens.PatchTokens]:
    metric, relevance = tokens.Legibility(x_height), tokens.UniformRelevance()
    return tokens.TokenAllocator(tokens.PyramidBuilder(), metric, traversal, relevance=relevance)


@given(st.floats(1, 100), st.floats(1, 20), st.floats(0.1, 3))
def test_what_can_be_read_is_s_shaped(x_height, legible, softness):
    metric = tokens.Legibility(x_height, legible, softness)
    levels = np.arange(8)
    readable = metric.readable(levels)
    assert ((readable >= 0) & (readable <= 1)).all()
    assert (np.diff(readable) <= 0).all()
    expected = 1 / (1 + np.exp(-(x_height / 2.0**levels - legible) / softness))
    assert readable == pytest.approx(expected, abs=1e-12)


def test_half_is_read_at_the_critical_size():
    assert tokens.Legibility(15, legible=7.5).readable(np.array([1])) == pytest.approx(0.5)
    assert tokens.Legibility(8, softness=0.5).readable(np.array([0])) == pytest.approx(1 / (1 + np.exp(-1)))


def test_errors_of_text_fall_where_it_becomes_legible():
    image = strokes(128, 128)
    assert (text_likeness(image) > 0.03).all()
    solver = allocator(16, hra.Hull())
    context = solver.context(image, "")
    hierarchy = solver.hierarchy_for(context)
    error = tokens.Legibility(16).evaluate(hierarchy, context)
    total = [error[hierarchy.attribute("level") == level].sum() for level in range(4)]
    lost = 1 - tokens.Legibility(16).readable(np.arange(4))
    assert total == pytest.approx(total[3] / lost[3] * lost, rel=1e-6)


def test_without_text_it_is_the_squared_error(smooth_noise):
    image = np.repeat(np.repeat(smooth_noise(16, 16), 8, 0), 8, 1) * np.float32(0.05)
    solver = allocator(16, hra.Hull())
    context = solver.context(image, "")
    hierarchy = solver.hierarchy_for(context)
    for name in ("evaluate", "inherited"):
        found = getattr(tokens.Legibility(16), name)(hierarchy, context)
        assert found == pytest.approx(getattr(tokens.RelevanceError(), name)(hierarchy, context))


def test_finer_never_counts_more_and_splits_add_up(smooth_noise):
    image = np.concatenate([smooth_noise(128, 128), strokes(128, 128)], axis=1)
    solver = allocator(12, hra.Hull(spend_all=True))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no repair of gains
        allocation = solver.allocate((image, ""), 40)
    assert allocation.status != "heuristic"
    context = allocation.context
    hierarchy = solver.hierarchy_for(context)
    own, inherited = (getattr(tokens.Legibility(12), name)(hierarchy, context) for name in ("evaluate", "inherited"))
    children = np.zeros_like(own)
    below = context.pyramid.parents >= 0
    np.add.at(children, context.pyramid.parents[below], inherited[below])
    parents = np.unique(context.pyramid.parents[below])
    assert children[parents] == pytest.approx(own[parents])


def test_best_first_starves_what_pays_two_levels_down():
    """273 tokens for a photo beside a page at 240 dots per inch, whose text can be read from level 1 on."""
    photo = load_image(samples.path("photo.jpg"))[:512, :512]
    page = Image.open(samples.path("page.png")).convert("RGB").resize((1984, 2806))
    text = np.asarray(page, np.float32)[512:1024, 256:768] / 255
    image = np.concatenate([photo, text], axis=1)
    read, residual = {}, {}
    for traversal in (hra.BestFirst(), hra.Hull(spend_all=True)):
        solver, name = allocator(16, traversal), type(traversal).__name__
        allocation = solver.allocate((image, ""), 273)
        assert allocation.cost == 273
        residual[name] = allocation.residual
        read[name] = np.mean(solver.realize(allocation).shown_detail()[:, 512:] <= 1)
        least = allocation.base_error - allocation.upper_bound
        assert (residual[name] < 1.01 * least) == (name == "Hull")
    assert read["Hull"] > 0.8 and read["BestFirst"] < 0.4
    assert residual["BestFirst"] > 2 * residual["Hull"]


@pytest.mark.parametrize("values", [(0,), (16, -1), (16, 7.5, 0), (np.nan,), (np.inf,)])
def test_sizes_must_be_positive(values):
    with pytest.raises(MetricError, match="above 0"):
        tokens.Legibility(*values)
