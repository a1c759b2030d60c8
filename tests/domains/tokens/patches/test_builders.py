"""The token hierarchies: what is a node, what it costs, and in which order siblings come.

Quadtrees and error sums are compared with plain loops, and best cuts with every cut that there is.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra import Hierarchy
from hra.domains import tokens
from hra.domains.tokens.patches.builders import best_cut
from hra.domains.tokens.pyramid.pyramid import PatchPyramid, quadtree
from hra.errors import RepairWarning
from hra.kernels import node_errors
from hra.model.gains import gains_from_errors

sizes = st.tuples(st.integers(1, 40), st.integers(1, 40))


@pytest.fixture
def context(smooth_noise) -> tokens.TokenContext:
    return tokens.PyramidSampling().context(smooth_noise(150, 230), "right")


def test_the_grid_is_flat_and_starts_with_nothing(context):
    hierarchy = tokens.GridBuilder().build(context)
    assert hierarchy.base_cost == 0 and hierarchy.total_cost == len(hierarchy) == 10 * 15
    assert hierarchy.cost_unit == "tokens"
    assert (hierarchy.attribute("level") == 0).all()


def test_every_count_from_one_patch_to_all_finest_ones_is_reachable(context):
    hierarchy = tokens.PyramidBuilder().build(context)
    assert hierarchy.base_cost == 1 and hierarchy.total_cost == 10 * 15
    assert set(hierarchy.cost.tolist()) == {0.0, 1.0}
    assert hierarchy.cost_unit == "tokens"


def test_nodes_carry_their_place_and_error(context):
    hierarchy = tokens.PyramidBuilder().build(context)
    place = np.stack([hierarchy.attribute(name) for name in ("level", "x", "y")], axis=1)
    assert np.array_equal(place, context.pyramid.positions)
    assert np.array_equal(hierarchy.attribute("error"), context.node_errors[0])
    assert np.array_equal(hierarchy.attribute("inherited_error"), context.node_errors[1])


def test_siblings_come_in_falling_error_and_the_last_one_ends_their_parent(context):
    hierarchy = tokens.PyramidBuilder().build(context)
    inherited = hierarchy.attribute("inherited_error")
    for parent in np.unique(context.pyramid.parents[context.pyramid.parents >= 0]):
        children = np.flatnonzero(context.pyramid.parents == parent)
        children = children[np.argsort(hierarchy.added_by[children])]
        assert (np.diff(inherited[children]) <= 0).all()
        assert hierarchy.removed_by[parent] == hierarchy.added_by[children[-1]]


@given(size=sizes, levels=st.sampled_from([None, 1, 2, 3]))
def test_every_patch_lies_under_the_one_that_covers_it(size: tuple[int, int], levels: int | None):
    pyramid = PatchPyramid.build(np.zeros((*size, 3), np.float32), patch=2, levels=levels)
    place = {(level, x, y): number for number, (level, x, y) in enumerate(pyramid.positions.tolist())}
    expected = [place.get((level + 1, x // 2, y // 2), -1) for level, x, y in place]
    tree = pyramid.tree
    assert tree.parent.tolist() == pyramid.parents.tolist() == expected
    for node in range(len(expected)):
        below = tree.children[tree.offsets[node] : tree.offsets[node + 1]]
        assert below.tolist() == [child for child, parent in enumerate(expected) if parent == node]
    assert tree.first_root == expected.index(-1)
    again = PatchPyramid.build(np.ones((*size, 3), np.float32), patch=2, levels=levels)
    assert again.tree is tree


@given(size=sizes, levels=st.sampled_from([None, 1, 2]), seed=st.integers(0, 99))
def test_errors_add_up_over_regions(size: tuple[int, int], levels: int | None, seed: int):
    rng = np.random.default_rng(seed)
    pyramid = PatchPyramid.build(np.zeros((*size, 3), np.float32), patch=2, levels=levels)
    rows, columns = pyramid.grids[0]
    errors, weight = rng.random((len(pyramid.levels), rows, columns)), rng.random((rows, columns))
    errors[0] = 0  # the finest level shows the image itself
    own, inherited = node_errors(errors, weight)
    for number, (level, x, y) in enumerate(pyramid.positions):
        side = 2**level
        region = slice(y * side, (y + 1) * side), slice(x * side, (x + 1) * side)
        above = min(level + 1, len(errors) - 1)
        assert own[number] == pytest.approx((weight * errors[level])[region].sum())
        assert inherited[number] == pytest.approx((weight * errors[above])[region].sum())


@pytest.mark.parametrize("grids", [((2, 2), (1, 1)), ((3, 3), (2, 2), (1, 1)), ((2, 4), (1, 2))])
@pytest.mark.parametrize("seed", range(4))
def test_the_cut_is_the_best_of_all(grids, seed: int):
    """Every down-closed set of refinements of `PyramidBuilder`'s hierarchy, one by one."""
    tree, rng = quadtree(grids), np.random.default_rng(seed)
    inherited = rng.random(tree.parent.size) ** 3
    own = inherited.copy()
    for node in range(tree.parent.size):
        below = tree.children[tree.offsets[node] : tree.offsets[node + 1]]
        own[node] = inherited[below].sum() if below.size else 0.0
    inherited[: tree.first_root] = np.maximum(inherited, own)[: tree.first_root]
    # What children inherit adds up to what their parent leaves wrong, from the finest level up.
    for node in range(tree.parent.size):
        below = tree.children[tree.offsets[node] : tree.offsets[node + 1]]
        own[node] = inherited[below].sum() if below.size else 0.0
        inherited[node] = max(inherited[node], own[node])
    hierarchy = Hierarchy.tree(tree.parent, np.ones(own.size), mode="child", order=inherited)
    gain, least_error = gains_from_errors(hierarchy, own, inherited)
    sets = [np.array(chosen, bool) for chosen in itertools.product((False, True), repeat=len(hierarchy))]
    valid = [chosen for chosen in sets if hierarchy.is_valid(chosen)]
    for budget in range(int(hierarchy.base_cost), int(hierarchy.total_cost) + 1):
        room = budget - hierarchy.base_cost
        best = max(gain[chosen].sum() for chosen in valid if hierarchy.cost[chosen].sum() <= room)
        cut = best_cut(tree, own, inherited, budget)
        assert cut.proven and cut.gain == pytest.approx(best) and 0 <= cut.shortfall <= 1e-9 * best + 1e-12
        assert cut.base_error == pytest.approx(least_error + gain.sum())
        assert cut.active.sum() == cut.spent <= budget


def test_errors_that_grow_with_detail_are_capped_with_a_warning(smooth_noise):
    context = tokens.PyramidSampling().context(smooth_noise(256, 256), "")
    own, inherited = context.node_errors
    vars(context)["node_errors"] = (own[::-1].copy(), inherited)
    with pytest.warns(RepairWarning, match="not monotone"):
        (choice,) = tokens.PyramidSampling().allocate_batch([context], 64)
    assert len(choice) == 64 and choice.gain <= choice.base_error


def test_what_the_image_alone_decides_is_computed_once(smooth_noise):
    calls = []

    def compress(finest: np.ndarray, grid: tuple[int, int]) -> np.ndarray:
        calls.append(finest.shape)
        return np.zeros((*grid, finest.shape[2]), np.float32)

    allocator = tokens.GestaltSaccades(gestalt=tokens.CompressedGestalt(4, 4, compress))
    context = allocator.context(smooth_noise(160, 160), "")
    for query in ("left", "right"):
        asked = tokens.TokenContext(context.pyramid, query, context.scorer)
        for budget in (32, 64):
            allocator.realize(allocator.allocate(asked, budget))
    assert len(calls) == 1
