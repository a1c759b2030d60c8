from __future__ import annotations

import numpy as np
import pytest

from hra.domains.tokens.context.context import UniformRelevance
from hra.domains.tokens.methods.frequency.band_tokens import paste
from hra.domains.tokens.methods.frequency.residual_frame import HaarFrame
from hra.domains.tokens.methods.residual_scales import ResidualScales


def test_87296_tokens_in_all():
    bands = HaarFrame().bands((4096, 4096), 16)
    grids = [(band.height // 16) ** 2 for band in bands]
    assert grids == [256**2, 128**2, 64**2, 32**2, 16**2] and sum(grids) == 87_296


def test_what_is_left_wrong_is_the_residual_where_no_scale_divides_the_patch(smooth_noise):
    """Of a size of whole cells and patches, with even relevance, nothing is extended: the residual is the error."""
    image = smooth_noise(224, 336)
    allocator = ResidualScales(UniformRelevance(), patch=14)
    context = allocator.context(image, "")
    allocation = allocator.allocate(context, int(allocator.hierarchy_for(context).base_cost) + 60)
    shown = HaarFrame(5).synthesise(
        paste(*(getattr(allocator.realize(allocation), name) for name in ("values", "places", "_bands", "patch"))),
        (224, 336),
        14,
    )
    assert np.mean((shown - image) ** 2) == pytest.approx(allocation.residual, rel=1e-4)
