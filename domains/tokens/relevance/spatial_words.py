"""Where a query says to look: "at the top left", "in the centre of the picture", "bottom-right corner" ..."""

from __future__ import annotations

import numpy as np

from hra.domains.tokens.relevance.place_grammar import place_words

# Centres of the outer and the middle third of an axis, in [0, 1].
_LOW, _MIDDLE, _HIGH = 1 / 6, 1 / 2, 5 / 6
_ROW_WORDS = {"top": _LOW, "upper": _LOW, "bottom": _HIGH, "lower": _HIGH}
_COLUMN_WORDS = {"left": _LOW, "right": _HIGH}
_SPREAD = 1 / 4  # standard deviation of the window, as a share of the axis
_ELSEWHERE = 0.1  # weight far from the named place: words are vague, and the rest gives context


def spatial_words(query: str, rows: int, columns: int) -> np.ndarray:
    """Gaussian window over the place that the query names.

    An axis that the query says nothing about is not restricted: "on the left" keeps the full height. A query that names
    no place in the image gives 1 everywhere, and so does an axis of which it names both ends.

    Returns
    -------
    float32 [rows, columns], from 0.1 far away to 1 at the place.
    """
    vertical, horizontal = named_place(query)
    window = np.outer(_window(vertical, rows), _window(horizontal, columns))
    return (_ELSEWHERE + (1 - _ELSEWHERE) * window).astype(np.float32)


def named_place(query: str) -> tuple[float | None, float | None]:
    """The place that a query names, (vertical, horizontal) as shares of the axes; None for an axis it leaves open.

    Only places in the image count: not "the right answer", not "who left?", and not "below the title" or "on top of
    the car", which are places beside things.
    """
    words = place_words(query)
    vertical, horizontal = _only(words, _ROW_WORDS), _only(words, _COLUMN_WORDS)
    if words and not any(word in _ROW_WORDS or word in _COLUMN_WORDS for word in words):
        return _MIDDLE, _MIDDLE
    return vertical, horizontal


def _only(words: list[str], places: dict[str, float]) -> float | None:
    """The one place that ``words`` name, None where they name none or two."""
    named = {places[word] for word in words if word in places}
    return named.pop() if len(named) == 1 else None


def _window(centre: float | None, count: int) -> np.ndarray:
    """Gaussian [count] over cell centres in [0, 1], or ones."""
    if centre is None:
        return np.ones(count)
    position = (np.arange(count) + 0.5) / count
    return np.exp(-0.5 * ((position - centre) / _SPREAD) ** 2)
