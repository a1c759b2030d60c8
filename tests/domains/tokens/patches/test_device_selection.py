"""Patches chosen where the images are: the same sets as those of the core on the host, image by image."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hra
from hra.allocating.allocation import Allocation
from hra.domains import tokens
from hra.errors import ArrayError, BackendUnavailable, BudgetTooSmall
from hra.kernels import build_pyramid, level_errors, node_errors
from hra.model.problem import Problem

pytestmark = pytest.mark.filterwarnings("ignore::hra.errors.RepairWarning")


class Errors(hra.ErrorMetric):
    """Errors of nodes by themselves and by their parents, given as a pair."""

    def evaluate(self, hierarchy: hra.Hierarchy, context: Any) -> np.ndarray:
        return context[0]

    def inherited(self, hierarchy: hra.Hierarchy, context: Any) -> np.ndarray:
        return context[1]


def by_the_core(image: np.ndarray, weight: np.ndarray, budget: int, levels: int | None, backend: str) -> np.ndarray:
    """The filled hull point of one image in the hierarchy that `PyramidBuilder` makes."""
    pyramid = tokens.PatchPyramid.build(image, patch=4, levels=levels)
    mips = build_pyramid(image, "block_mean", len(pyramid.levels), backend)
    own, inherited = node_errors(level_errors(mips, 4, backend=backend), weight, backend=backend)
    hierarchy = hra.Hierarchy.tree(pyramid.parents, np.ones(own.size), mode="child", order=inherited)
    problem = Problem.of(hierarchy, Errors(), (own, inherited), budget)
    return Allocation(problem, hra.Hull(spend_all=True).solve(problem), 0.0).cut


@pytest.mark.parametrize("backend", ["auto", "reference", "warp"])
@pytest.mark.parametrize(
    ("size", "levels"),
    [((32, 32), None), ((32, 16), None), ((24, 40), 2), ((23, 45), 2), ((4, 3), None), ((1, 1), None)],
)
def test_the_patches_are_those_of_the_core(backend, size, levels):
    random = np.random.default_rng(size)
    images = random.random((3, *size, 3), np.float32)
    images[1] = 0.25  # nothing to gain: all refinements tie
    weight = random.random((3, *(-(-extent // 4) for extent in size)))
    roots = int(np.diff(tokens.PatchPyramid.build(images[0], patch=4, levels=levels).offsets)[-1])
    for budget in (roots, roots + 5, 2 * weight[0].size // 3):
        if budget < roots:
            continue
        found = tokens.select_patches(images, budget, weight=weight, patch=4, levels=levels, backend=backend)
        for image, each, active in zip(images, weight, found.active, strict=True):
            expected = by_the_core(image, each, budget, levels, backend)
            np.testing.assert_array_equal(np.flatnonzero(active), np.sort(expected))
        assert found.allocation.cost.max() <= budget
        image, number = np.divmod(found.blocks, found.active.shape[1])
        for one in range(3):
            pyramid = tokens.PatchPyramid.build(images[one], patch=4, levels=levels)
            values = pyramid.values(pyramid.positions[number[image == one]])
            np.testing.assert_allclose(found.values[image == one].reshape(len(values), -1), values, atol=3e-7)


def test_a_device_array_stays_one():
    wp = pytest.importorskip("warp")
    images = np.random.default_rng(0).random((2, 32, 32, 3), np.float32)
    torch = pytest.importorskip("torch")
    found, expected = (
        tokens.select_patches(torch.as_tensor(images), 7, patch=4),
        tokens.select_patches(images, 7, patch=4),
    )
    assert isinstance(found.values, torch.Tensor) and isinstance(found.allocation.gain, torch.Tensor)
    np.testing.assert_array_equal(found.active.numpy(), expected.active)
    assert isinstance(tokens.select_patches(wp.array(images, device="cpu"), 7, patch=4).blocks, wp.array)


def test_what_cannot_be_shared_is_refused():
    images = np.random.default_rng(0).random((2, 24, 20, 3), np.float32)
    with pytest.raises(BackendUnavailable, match="different numbers of children") as refused:
        tokens.select_patches(images, 9, patch=4)
    assert refused.value.fix is not None and refused.value.fix.startswith("levels=2")
    assert tokens.select_patches(images, 9, patch=4, levels=2).allocation.cost.tolist() == [9, 9]
    with pytest.raises(BudgetTooSmall):
        tokens.select_patches(images, 8, patch=4, levels=2)
    with pytest.raises(ArrayError, match="not \\[B, H, W, C\\]"):
        tokens.select_patches(images[0], 9)
    images[0, 3, 3] = np.nan
    with pytest.raises(ArrayError, match="gain"):
        tokens.select_patches(images, 9, patch=4, levels=2)
