"""The order of groups found part by part is that of the hierarchy; pages end where they would as a whole."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from hra.domains.meshes.asset.packing import cut_pages, page_ends
from hra.domains.meshes.mesh.ragged import run_offsets


def test_pages_go_on_between_blocks():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(60), rng.integers(1, 9, 60))
    sizes = rng.integers(1, 40, len(groups))
    starts = np.searchsorted(groups, [0, 7, 8, 31, 60])
    found, used = [np.empty(0, np.int64)], 0
    for begin, end in pairwise(starts.tolist()):
        ends, used = cut_pages(sizes[begin:end], groups[begin:end], 100, used)
        found.append(ends + begin)
    known = page_ends(sizes, groups, 100)
    np.testing.assert_array_equal(np.append(np.concatenate(found), len(sizes)), known)
    offsets = run_offsets(sizes)
    assert np.diff(offsets[known], prepend=0).max() <= 100 and used == offsets[-1] - offsets[known[-2]]
