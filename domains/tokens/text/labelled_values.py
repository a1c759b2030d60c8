"""Which value stands with which label: in the line itself, to the right, or below."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from hra.domains.tokens.text.lines import RUNNING, TextLine
from hra.domains.tokens.text.matching import Entry, split_line
from hra.domains.tokens.text.rows import below_neighbour, right_neighbour

_AGAINST_CUSTOM = 0.4  # doubt of a value where other labels of the page do not have theirs

Place = tuple[Entry, np.ndarray, np.ndarray]
"""A label with its value, and the corners [4, 2] of each."""


def labelled_values(lines: Sequence[TextLine]) -> list[Place]:
    """Every label that was read, with each value that may be its own."""
    labels = [number for number, line in enumerate(lines) if _is_label(line)]
    neighbours = {number: (right_neighbour(number, lines), below_neighbour(number, lines)) for number in labels}
    doubts = _doubts([tuple(_number_like(lines, other) for other in pair) for pair in neighbours.values()])
    found = []
    for number in labels:
        text = lines[number].text or ""
        label, value, share = split_line(text)
        if value:
            found.append((Entry(label, value), lines[number].part(0, share), lines[number].part(share, 1)))
            continue
        beside = [
            (Entry(label, lines[other].text or "?", doubt), lines[number].quad, lines[other].quad)
            for other, doubt in zip(neighbours[number], doubts, strict=True)
            if other is not None and lines[other].aspect < RUNNING and lines[number].aspect < RUNNING
        ]
        found += beside or [(Entry(label, ""), lines[number].quad, lines[number].quad)]
    return found


def _is_label(line: TextLine) -> bool:
    """Letters before anything else: numbers are values."""
    return bool(line.text) and re.match(r"^\W*[A-Za-z]{2,}", line.text or "") is not None


def _number_like(lines: Sequence[TextLine], number: int | None) -> bool:
    return number is not None and bool(re.search(r"\d", lines[number].text or ""))


def _doubts(numbers: Sequence[tuple[bool, ...]]) -> tuple[float, float]:
    """Doubts of values to the right and below: a page keeps to one of them, which numbers beside labels show."""
    right, below = (sum(pair[side] for pair in numbers) for side in (0, 1))
    return (_AGAINST_CUSTOM, 0.0) if below > right else (0.0, _AGAINST_CUSTOM)
