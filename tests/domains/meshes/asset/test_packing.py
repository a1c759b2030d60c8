"""How clusters are cut into pages, against plain loops."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.meshes.asset.packing import Packed, storage_order

LIMIT = 100


def plain_page_ends(sizes: list[int], groups: list[int]) -> list[int]:
    """Pages as lists of clusters: a group goes to the open page, to a new one, or is spread."""
    pages: list[list[int]] = [[]]

    def room() -> int:
        return LIMIT - sum(sizes[c] for c in pages[-1])

    for group in dict.fromkeys(groups):
        members = [c for c, g in enumerate(groups) if g == group]
        if sum(sizes[c] for c in members) > room() and pages[-1]:
            pages.append([])
        for c in members:
            if sizes[c] > room() and pages[-1]:
                pages.append([])
            pages[-1].append(c)
    return np.cumsum([len(page) for page in pages]).tolist()


@given(st.lists(st.tuples(st.integers(1, 90), st.booleans()), min_size=1, max_size=40))
def test_pages_are_filled_by_whole_groups(clusters: list[tuple[int, bool]]) -> None:
    sizes = [size for size, _ in clusters]
    groups = (np.cumsum([new for _, new in clusters]) - 1).tolist()
    nothing = np.empty(0, np.uint8)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    # One byte per vertex and none for corners: sizes are numbers of vertices.
    packed = Packed(np.empty(0, np.uint32), nothing, offsets, np.zeros_like(offsets))
    ends = packed.page_ends(np.array(groups), 1, LIMIT)
    assert ends.tolist() == plain_page_ends(sizes, groups)
    assert np.diff(offsets[np.concatenate([[0], ends])]).max() <= LIMIT


@given(st.data())
def test_clusters_have_vertices_of_their_own(data: st.DataObject) -> None:
    counts = data.draw(st.lists(st.integers(1, 8), min_size=1, max_size=6))
    runs = [data.draw(st.lists(st.integers(0, 20), min_size=3 * count, max_size=3 * count)) for count in counts]
    offsets = np.concatenate([[0], np.cumsum([len(run) for run in runs])])
    order = np.array(data.draw(st.permutations(range(len(runs)))))
    packed = Packed.of(np.concatenate(runs).astype(np.uint32), offsets, order)
    for place, cluster in enumerate(order.tolist()):
        vertices = packed.vertices[packed.vertex_offsets[place] : packed.vertex_offsets[place + 1]].tolist()
        corners = packed.corners[packed.corner_offsets[place] : packed.corner_offsets[place + 1]].tolist()
        assert vertices == list(dict.fromkeys(runs[cluster]))
        assert [vertices[corner] for corner in corners] == runs[cluster]


@given(st.lists(st.integers(-1, 5), min_size=1, max_size=20))
def test_the_base_is_stored_first(added_by: list[int]) -> None:
    order = storage_order(np.array(added_by)).tolist()
    assert order == sorted(range(len(added_by)), key=lambda c: (added_by[c], c))
