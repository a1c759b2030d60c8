"""Several steps of average interpolation, as an independent reference for what is done in one."""

from __future__ import annotations

import numpy as np

from hra.domains.tokens.pyramid.interpolation import refine


def refine_to(coarse: np.ndarray, shapes: list[tuple[int, int]]) -> np.ndarray:
    """Interpolate through several finer levels, given their (height, width) from coarse to fine."""
    for height, width in shapes:
        coarse = refine(coarse, height, width)
    return coarse
