"""Which directions of structure a query asks about."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

_HORIZONTAL = {
    "text",
    "read",
    "word",
    "letter",
    "line",
    "sentence",
    "paragraph",
    "page",
    "document",
    "title",
    "written",
}
_VERTICAL = {"building", "tower", "house", "facade", "skyscraper", "column", "pillar", "church", "architecture"}
_EMPHASIS = 4.0  # 128 tokens against 32


def direction_weights(query: str, directions: Sequence[float]) -> np.ndarray:
    """Shares of the directions: of 224 tokens, 128 for the one that the query names and 32 for each of three others.

    Text runs at 0 degrees, walls of buildings at 90. A query that names neither is isotropic; of several words the
    first counts.

    Parameters
    ----------
    directions : degrees, 0 to below 180.

    Returns
    -------
    float64 [len(directions)], adding up to 1.
    """
    weights = np.where(np.array(directions) == _named(query), _EMPHASIS, 1.0)
    return weights / weights.sum()


def _named(query: str) -> float | None:
    """Degrees of the first word that names a direction."""
    for word in re.findall(r"[a-z]+", query.lower()):
        for words, degrees in ((_HORIZONTAL, 0.0), (_VERTICAL, 90.0)):
            if word in words or word.removesuffix("s") in words:
                return degrees
    return None
