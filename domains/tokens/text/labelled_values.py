"""Which value stands with which label: in the line itself, to the right, or below."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from hra.domains.tokens.text.lines import TextLine
from hra.domains.tokens.text.matching import Entry, split_line
from hra.domains.tokens.text.rows import below_neighbour, right_neighbour

_AGAINST_CUSTOM = 0.4  # doubt of a value where other labels of the page do not have theirs
_LABEL_WORDS, _VALUE_WORDS = 6, 8  # at most; sentences have more

Place = tuple[Entry, np.ndarray, np.ndarray]
"""A label with its value, and the corners [4, 2] of each."""


def labelled_values(lines: Sequence[TextLine]) -> list[Place]:
    """Every label that was read, with each value that may be its own; then the numbers that no label claims."""
    labels = [number for number, line in enumerate(lines) if _is_label(line)]
    neighbours = {number: (right_neighbour(number, lines), below_neighbour(number, lines)) for number in labels}
    doubts = _doubts([tuple(_number_like(lines, other) for other in pair) for pair in neighbours.values()])
    claimed = {pair[doubts.index(0.0)] for pair in neighbours.values()}
    found = [place for number in labels for place in _places(lines, number, neighbours[number], doubts)]
    lonely = [number for number in range(len(lines)) if number not in labels and number not in claimed]
    return found + [_place_alone(lines[number]) for number in lonely if lines[number].text]


def _places(
    lines: Sequence[TextLine], number: int, neighbours: tuple[int | None, int | None], doubts: tuple[float, float]
) -> list[Place]:
    """A label with the value in its own line, else with those beside and below it, else with none."""
    line = lines[number]
    label, value, share = split_line(line.text or "")
    if value:
        return [(Entry(label, value), line.part(0, share), line.part(share, 1))]
    beside = [
        (Entry(label, lines[other].text or "?", doubt), line.quad, lines[other].quad)
        for other, doubt in zip(neighbours, doubts, strict=True)
        if other is not None and _pairs(label, lines[other].text or "?")
    ]
    return beside or [(Entry(label, ""), line.quad, line.quad)]


def _pairs(label: str, value: str) -> bool:
    """Whether two texts are short enough for a label and its value: lines of a paragraph stand below each other."""
    return len(label.split()) <= _LABEL_WORDS and len(value.split()) <= _VALUE_WORDS


def _place_alone(line: TextLine) -> Place:
    """A value alone: its label may have been too small to be found."""
    return Entry("", line.text or ""), line.quad, line.quad


def _is_label(line: TextLine) -> bool:
    """Letters before anything else: numbers are values."""
    return bool(line.text) and re.match(r"^\W*[A-Za-z]{2,}", line.text or "") is not None


def _number_like(lines: Sequence[TextLine], number: int | None) -> bool:
    return number is not None and bool(re.search(r"\d", lines[number].text or ""))


def _doubts(numbers: Sequence[tuple[bool, ...]]) -> tuple[float, float]:
    """Doubts of values to the right and below: a page keeps to one of them, which numbers beside labels show."""
    right, below = (sum(pair[side] for pair in numbers) for side in (0, 1))
    return (_AGAINST_CUSTOM, 0.0) if below > right else (0.0, _AGAINST_CUSTOM)
