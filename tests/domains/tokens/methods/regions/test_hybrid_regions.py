from __future__ import annotations

import numpy as np

from hra.domains.tokens.methods.regions import (
    GridRegions,
    PatchRegions,
    RegionsByImageType,
)
from hra.domains.tokens.methods.regions.hybrid_regions import is_document


def test_documents_and_photos_are_told_apart(context_of):
    context = context_of(96, 160)
    assert not is_document(context.pyramid.image)
    page = np.ones((96, 160, 3), np.float32)
    page[::4, ::3] = 0
    assert is_document(page)
    source = RegionsByImageType()
    assert np.array_equal(source.build(context).merges, GridRegions().build(context).merges)
    context.pyramid.levels[0][:] = page
    assert np.array_equal(source.build(context).merges, PatchRegions().build(context).merges)
