"""Which directions of structure a query asks about, or an image is full of."""

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
_STANDS_OUT = 1.5  # times the mean energy of the directions


def direction_weights(query: str, directions: Sequence[float], energy: np.ndarray) -> np.ndarray:
    """Shares of the directions: of 224 tokens, 128 for the one that matters and 32 for each of three others.

    Query first, then content. Text runs at 0 degrees, walls of buildings at 90; of several words that name one the
    first counts. Where the query names none, it is the direction that holds most of the image's relevant energy, if
    that is more than 1.5 times its even share; else all directions count alike.

    Parameters
    ----------
    directions : degrees, 0 to below 180.
    energy : [len(directions)], >= 0, how much of the image runs in each.

    Returns
    -------
    float64 [len(directions)], adding up to 1.
    """
    named = _named(query)
    emphasised = _dominant(directions, energy) if named is None else named
    weights = np.where(np.array(directions) == emphasised, _EMPHASIS, 1.0)
    return weights / weights.sum()


def _dominant(directions: Sequence[float], energy: np.ndarray) -> float | None:
    """Degrees of the direction that stands out, None if none does."""
    strongest = int(np.argmax(energy))
    return directions[strongest] if energy[strongest] > _STANDS_OUT * energy.mean() else None


def _named(query: str) -> float | None:
    """Degrees of the first word that names a direction."""
    for word in re.findall(r"[a-z]+", query.lower()):
        for words, degrees in ((_HORIZONTAL, 0.0), (_VERTICAL, 90.0)):
            if word in words or word.removesuffix("s") in words:
                return degrees
    return None
