"""Where a query says to look: "top left", "right", "centre", "bottom" ..."""

from __future__ import annotations

import re

import numpy as np

# Centres of the outer and the middle third of an axis, in [0, 1].
_LOW, _MIDDLE, _HIGH = 1 / 6, 1 / 2, 5 / 6
_ROW_WORDS = {"top": _LOW, "upper": _LOW, "above": _LOW, "bottom": _HIGH, "lower": _HIGH, "below": _HIGH}
_COLUMN_WORDS = {"left": _LOW, "right": _HIGH}
_CENTRE_WORDS = {"centre", "center", "central", "middle"}
_SPREAD = 1 / 4  # standard deviation of the window, as a share of the axis
_ELSEWHERE = 0.1  # weight far from the named place: words are vague, and the rest gives context


def spatial_words(query: str, rows: int, columns: int) -> np.ndarray:
    """Gaussian window over the place that the query names.

    An axis that the query says nothing about is not restricted: "left" keeps the full height. A query without any
    spatial word gives 1 everywhere. Of contradicting words the first counts.

    Returns
    -------
    float32 [rows, columns], from 0.1 far away to 1 at the place.
    """
    vertical, horizontal = named_place(query)
    window = np.outer(_window(vertical, rows), _window(horizontal, columns))
    return (_ELSEWHERE + (1 - _ELSEWHERE) * window).astype(np.float32)


def named_place(query: str) -> tuple[float | None, float | None]:
    """The place that a query names, (vertical, horizontal) as shares of the axes; None for an axis it leaves open."""
    words = re.findall(r"[a-z]+", query.lower())
    vertical, horizontal = _first(words, _ROW_WORDS), _first(words, _COLUMN_WORDS)
    if vertical is None and horizontal is None and not _CENTRE_WORDS.isdisjoint(words):
        return _MIDDLE, _MIDDLE
    return vertical, horizontal


def _first(words: list[str], places: dict[str, float]) -> float | None:
    return next((places[word] for word in words if word in places), None)


def _window(centre: float | None, count: int) -> np.ndarray:
    """Gaussian [count] over cell centres in [0, 1], or ones."""
    if centre is None:
        return np.ones(count)
    position = (np.arange(count) + 0.5) / count
    return np.exp(-0.5 * ((position - centre) / _SPREAD) ** 2)
