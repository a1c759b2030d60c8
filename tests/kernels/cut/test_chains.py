"""Gains of chains against those of a hierarchy whose siblings come in each member's own order."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import hra
from hra.errors import ArrayError
from hra.kernels.cut import Chains, chain_cut, chain_gains
from hra.model.gains import gains_from_errors


def quadtree(levels: int, roots: int) -> np.ndarray:
    """Parents of full quadtrees, fine before coarse."""
    sizes = [roots * 4**level for level in range(levels)][::-1]
    begins = np.cumsum([0, *sizes])
    return np.concatenate([begins[i + 1] + np.arange(n) // 4 for i, n in enumerate(sizes[:-1])] + [np.full(roots, -1)])


@pytest.mark.filterwarnings("ignore::hra.errors.RepairWarning")
@pytest.mark.parametrize("backend", ["reference", "warp"])
@pytest.mark.parametrize(("levels", "roots"), [(1, 2), (2, 1), (3, 2)])
def test_gains_and_nodes_are_those_of_the_hierarchy(backend, levels, roots):
    parent = quadtree(levels, roots).astype(np.int32)
    shared = hra.Hierarchy.tree(parent, np.ones(parent.size), mode="child")
    offsets = np.r_[0, np.cumsum(np.bincount(parent[parent >= 0], minlength=parent.size))].astype(np.int32)
    begins = [0, *np.cumsum([roots * 4**level for level in range(levels)][::-1]).tolist()]
    ends = tuple(pairwise(begins[:-1]))[::-1]
    children = np.arange(parent.size - roots, dtype=np.int32)
    chains = Chains(parent, offsets, children, shared.first_child, shared.unit_cost == 0, ends)
    random = np.random.default_rng(levels)
    own, inherited = np.round(random.random((2, 5, parent.size)) * 8) / 8  # ties, and errors to be repaired
    found = chain_gains(chains, own, inherited, backend=backend)
    for row in range(5):
        each = hra.Hierarchy.tree(parent, np.ones(parent.size), mode="child", order=inherited[row])
        np.testing.assert_array_equal(each.added_nodes[1], found.node[row])
        np.testing.assert_array_equal(gains_from_errors(each, own[row], inherited[row])[0], found.gain[row])
        selected = np.arange(len(each)) < len(each) // 2
        active = np.where(each.added_by < 0, True, np.r_[selected, True][each.added_by])
        active &= ~np.where(each.removed_by < 0, False, np.r_[selected, False][each.removed_by])
        cut = chain_cut(chains, found.node[row : row + 1], selected[None], backend=backend)
        np.testing.assert_array_equal(cut[0], active)
    assert levels < 3 or found.repaired.min() > 0
    with pytest.raises(ArrayError, match="does not fit"):
        chain_gains(chains, own[:, 1:], inherited)
