"""Regions of whole patches: errors by sums over rectangles against loops over pixels; boxes and areas."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.tokens.methods.regions.patch_errors import patch_sums, rectangle
from hra.domains.tokens.methods.regions.region_builders import region_errors
from hra.domains.tokens.methods.regions.region_tree import RegionTree


@st.composite
def trees(draw) -> tuple[RegionTree, np.ndarray, np.ndarray, int]:
    """Patches of an image of any size merged in any order, the image and weights."""
    patch, rng = draw(st.sampled_from([2, 4, 6, 16])), np.random.default_rng(draw(st.integers(0, 999)))
    height, width = draw(st.integers(1, 6 * patch)), draw(st.integers(1, 6 * patch))
    rows, columns = -(-height // patch), -(-width // patch)
    labels = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
    pixels = labels.repeat(patch, axis=0).repeat(patch, axis=1)[:height, :width]
    alive, merges = list(range(labels.size)), []
    while len(alive) > 1:
        merges.append([alive.pop(int(rng.integers(len(alive)))) for _ in range(2)])
        alive.append(labels.size + len(merges) - 1)
    tree = RegionTree(pixels.copy(), np.array(merges, np.int32).reshape(-1, 2), cell=patch)
    return tree, rng.random((height, width, 3), np.float32), rng.random((rows, columns)), patch


def exact_errors(tree: RegionTree, image: np.ndarray, weight: np.ndarray, patch: int) -> np.ndarray:
    """The definition, in double precision."""
    errors = np.zeros(len(tree))
    for node in range(len(tree)):
        y, x = np.nonzero(tree.shown(np.array([node])) == 0)
        height, width = np.ptp(y) + 1, np.ptp(x) + 1
        bins = (y - y.min()) * patch // max(height, patch) * patch + (x - x.min()) * patch // max(width, patch)
        pixels = image[y, x].astype(np.float64)
        for place in np.unique(bins) if max(height, width) > patch else ():
            here = bins == place
            squares = ((pixels[here] - pixels[here].mean(axis=0)) ** 2).sum(axis=1)
            errors[node] += squares @ weight[y[here] // patch, x[here] // patch]
        if node >= tree.leaves:
            errors[node] = max(errors[node], errors[tree.merges[node - tree.leaves]].sum())
    return errors


@given(trees())
def test_errors_are_those_of_the_pixels(given):
    tree, image, weight, patch = given
    found, exact = region_errors(tree, image, weight, patch), exact_errors(*given)
    assert found == pytest.approx(exact, rel=1e-4, abs=1e-5)
    assert region_errors(replace(tree, cell=None), image, weight, patch) == pytest.approx(exact, rel=1e-4, abs=1e-5)


@given(trees())
def test_areas_boxes_and_cuts_are_those_of_the_labels(given):
    tree = given[0]
    plain = replace(tree, cell=None)
    assert np.array_equal(tree.areas, plain.areas) and np.array_equal(tree.boxes, plain.boxes)
    for count in (1, 2, tree.leaves):
        assert np.array_equal(tree.cut(count), plain.cut(count))


def test_even_regions_have_no_error():
    labels = np.arange(12, dtype=np.int32).reshape(3, 4).repeat(16, axis=0).repeat(16, axis=1)
    merges = np.array([[0, 1], [12, 2], [13, 3], *([k + 10, k] for k in range(4, 12))], np.int32)
    tree = RegionTree(labels, merges, cell=16)
    image = np.full((48, 64, 3), np.float32(251 / 255))
    assert (region_errors(tree, image, np.ones((3, 4)), 16) == 0).all()


def test_tables_hold_differences_from_the_mean_of_a_patch():
    image = np.random.default_rng(0).random((20, 37, 3), np.float32)
    sums = patch_sums(image, 16)
    last = image[16:20, 32:37].astype(np.float64)
    assert sums.mean[5] == pytest.approx(last.mean(axis=(0, 1)))
    assert sums.squares[5] == pytest.approx(((last - last.mean(axis=(0, 1))) ** 2).sum(), rel=1e-5)
    part = (last[1:3, 2:5, 1] - last[..., 1].mean()).sum()
    assert rectangle(sums.table[5], 17, 1, 3, 2, 5, 1) == pytest.approx(part, abs=1e-5)
