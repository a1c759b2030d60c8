"""The token hierarchies: what is a node, what it costs, and in which order siblings come."""

from __future__ import annotations

import numpy as np
import pytest

from hra.domains import tokens


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
