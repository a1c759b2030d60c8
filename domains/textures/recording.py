"""Flights as traces: what the views of a session demand of the pages, for residency policies to be run on."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from hra.compiling import njit
from hra.domains.textures.feedback.feedback import Feedback
from hra.domains.textures.metrics import checked_feedback
from hra.domains.textures.pages import page_parents
from hra.domains.textures.texture_set import TextureSet
from hra.model.arrays import offsets_of
from hra.residency import Trace


def record(textures: TextureSet, feedbacks: Iterable[Feedback]) -> Trace:
    """The demands of one frame per feedback over the pages of ``textures``.

    A frame demands the page of each sample's wanted level, rounded down; its weight is the area in pixels that wants
    it. Drawing needs the coarser pages, too: they are demanded before it, with weight 0 unless samples want them.

    Raises
    ------
    MetricError : feedback of other textures.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import textures
    >>> pages = textures.TextureSet([textures.TiledTexture.from_image(np.zeros((256, 256, 3), np.uint8))])
    >>> seen = textures.Feedback(np.array([1, 2]), np.ones(2), np.array([50, 1]), viewport_pixels=100)
    >>> trace = textures.record(pages, [seen, seen])
    >>> len(trace), trace.frame(0)
    (2, array([0, 1, 2], dtype=int32))
    """
    hierarchy = textures.hierarchy
    parent, level = page_parents(hierarchy), hierarchy.attribute("level")
    pages, areas = [np.empty(0, np.int64)], [np.empty(0)]
    for feedback in feedbacks:
        seen = checked_feedback(hierarchy, feedback)
        # Below 0 is what no sample wants.
        area = np.full(parent.size, -1.0)
        _add(seen.page, np.floor(seen.wanted_level), seen.weighted_pixels, parent, level, area)
        pages.append(np.flatnonzero(area >= 0))
        areas.append(area[pages[-1]])
    offsets = offsets_of(np.array([frame.size for frame in pages[1:]], np.int64))
    return Trace(offsets, np.concatenate(pages), hierarchy.node_cost.astype(np.int64), np.concatenate(areas), parent)


@njit(cache=True)
def _add(page, wanted, pixels, parent, level, area):
    """Add every sample's pixels to the page of its level, and mark all pages above that one."""
    for i in range(page.size):
        node = page[i]
        while level[node] < wanted[i] and parent[node] >= 0:
            node = parent[node]
        area[node] = max(area[node], 0.0) + pixels[i]
        node = parent[node]
        while node >= 0 and area[node] < 0:
            area[node] = 0.0
            node = parent[node]
