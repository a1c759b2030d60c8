"""How well the label of a value fits a question: by words, by meaning, and by what the value looks like."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hra.domains.tokens.text.answer_kinds import answer_pattern
from hra.domains.tokens.text.glosses import gloss
from hra.domains.tokens.text.meaning import same_meaning
from hra.domains.tokens.text.words import same_words

_MEANING, _KIND, _EMPTY = 0.9, 0.35, -0.4
_ALONE = 0.1  # for a value of the right kind that has no label: enough to be guessed where no label matches
_EXACT = 0.95


@dataclass(frozen=True)
class Entry:
    """A label and the value that may belong to it.

    Attributes
    ----------
    label, value : texts; either may be empty.
    doubt : how much speaks against that the two belong together, in the unit of `match_scores`.
    """

    label: str
    value: str
    doubt: float = 0.0


def split_line(text: str) -> tuple[str, str, float]:
    """Label, value, and the share of the line before the value: at a colon, else before the first number."""
    found = re.match(r"^(.*?[A-Za-z].*?)(?::\s*|\s+(?=[^\sa-z:]*\d)(?!\d+\s*%))(.*\S)\s*$", text)
    if not found:
        return text, "", 1.0
    return found[1], found[2], found.start(2) / len(text)


def match_scores(question: str, entries: Sequence[Entry]) -> np.ndarray:
    """How well each entry answers the question, float64 [n]; about 2 for an exact label, below 0.5 for a stranger."""
    pattern = answer_pattern(question) or answer_pattern(gloss(question) or "")
    scores = [same_words(question, entry.label) + _fits(pattern, entry) - entry.doubt for entry in entries]
    if named_exactly(question, entries):
        return np.array(scores)  # nobody means anything else by a label's own words
    return np.array(scores) + _MEANING * same_meaning(question, [entry.label for entry in entries])


def named_exactly(question: str, entries: Sequence[Entry]) -> bool:
    """Whether the label of some value has all words of the question, and no others."""
    return any(entry.value and not entry.doubt and same_words(question, entry.label) > _EXACT for entry in entries)


def _fits(pattern: re.Pattern[str] | None, entry: Entry) -> float:
    """A value of the right kind counts, none at all counts against."""
    if not entry.value:
        return _EMPTY
    if pattern is None:
        return _KIND / 2
    return (_KIND + _ALONE * (not entry.label)) * bool(pattern.search(entry.value))
