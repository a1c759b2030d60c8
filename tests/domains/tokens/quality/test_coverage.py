"""Coverage against plain counting, pixel by pixel."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import tokens
from hra.errors import ArrayError


def noise(height: int, width: int) -> np.ndarray:
    return np.random.default_rng(height * width).random((height, width, 3), dtype=np.float32)


def plain(token_set: tokens.PatchTokens, relevance: np.ndarray, patch: int) -> tuple[float, float, float, float]:
    """Area, relevance, mean and weighted mean level, from loops over pixels and tokens."""
    height, width = token_set.image_size
    shown, weight, even, levels, weighted = 0, 0.0, 0.0, 0.0, 0.0
    for y in range(height):
        for x in range(width):
            here = float(relevance[y // patch, x // patch])
            finest = [
                level
                for (level, _, _), (x0, y0, x1, y1) in zip(token_set.places, token_set.boxes, strict=True)
                if x0 <= x < x1 and y0 <= y < y1
            ]
            even += here
            if finest:
                shown, weight = shown + 1, weight + here
                levels, weighted = levels + min(finest), weighted + here * min(finest)
    return shown / (height * width), weight / even, levels / shown, weighted / weight


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 12), st.sampled_from(["grid", "pyramid"]))
def test_coverage_is_what_loops_count(height, width, budget, name):
    allocator = tokens.PRESETS[name](patch=4)
    context = allocator.context(noise(height, width), "top left")
    token_set = allocator.realize(allocator.allocate(context, budget))
    found = tokens.coverage(token_set, context)
    expected = plain(token_set, context.relevance, 4)
    assert (found.area, found.relevance, found.mean_detail, found.relevant_detail) == pytest.approx(expected)


def test_what_is_not_shown_has_no_detail():
    allocator = tokens.GridTopK()
    context = allocator.context(noise(64, 64), "")
    nothing = tokens.coverage(allocator.realize(allocator.allocate(context, 0)), context)
    assert (nothing.area, nothing.relevance, nothing.mean_detail) == (0, 0, math.inf)


def test_regions_are_covered_apart():
    relevance = np.zeros((8, 8))
    relevance[:, :4] = 1
    allocator = tokens.GridTopK(lambda context: relevance)
    context = allocator.context(noise(128, 128), "")
    token_set = allocator.realize(allocator.allocate(context, 32))
    parts = tokens.coverage_by_region(token_set, context, np.arange(128) // 64 + np.zeros((128, 1), int))
    assert parts[0] == tokens.Coverage(1.0, 1.0, 0.0, 0.0)
    assert parts[1] == tokens.Coverage(0.0, 0.0, math.inf, math.inf)
    assert tokens.coverage(token_set, context) == tokens.Coverage(0.5, 1.0, 0.0, 0.0)


def test_empty_cells_are_counted_on_eight_by_eight():
    allocator = tokens.GridTopK(lambda context: np.arange(256.0).reshape(16, 16))
    context = allocator.context(noise(256, 256), "")
    # The last two rows of patches are one row of cells.
    assert tokens.empty_cells(allocator.realize(allocator.allocate(context, 32))) == 56
    assert tokens.empty_cells(allocator.realize(allocator.allocate(context, 256))) == 0
    assert tokens.empty_cells(allocator.realize(allocator.allocate(context, 0))) == 64


def test_wrong_sizes_are_refused():
    allocator = tokens.GridTopK()
    context = allocator.context(noise(64, 64), "")
    token_set = allocator.realize(allocator.allocate(context, 3))
    with pytest.raises(ArrayError, match="a context of one of"):
        tokens.coverage(token_set, allocator.context(noise(64, 48), ""))
    with pytest.raises(ArrayError, match="region"):
        tokens.coverage(token_set, context, np.ones((3, 3), bool))
    with pytest.raises(ArrayError, match="no pixel"):
        tokens.coverage(token_set, context, np.zeros((64, 64), bool))
