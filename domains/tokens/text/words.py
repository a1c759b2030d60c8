"""Words of questions and labels, and how alike two of them are, misread letters forgiven."""

from __future__ import annotations

import re
import unicodedata
from difflib import SequenceMatcher
from functools import lru_cache

_STOP_WORDS = (
    "a an the is are was were be been do does did of in on at to for from by with and or it this that these those "
    "there what which who whom when where why how much many i you he she we they their its his her my our your "
    "can could should would will must please note me tell show say says written read give"
)
_STOP = frozenset(_STOP_WORDS.split())
_ALIKE = 0.8  # least share of equal letters of words that count as the same: a coarse read mistakes letters


def content_words(text: str) -> list[str]:
    """Words that mean something, lower case and without accents; all of them where none does."""
    plain = "".join(one for one in unicodedata.normalize("NFKD", text.lower()) if not unicodedata.combining(one))
    words = re.findall(r"[^\W\d_]+", plain)
    return [word for word in words if word not in _STOP] or words


def said_words(text: str) -> bool:
    """Whether any word of the text means something, or any number stands in it."""
    return any(word not in _STOP for word in re.findall(r"[^\W_]+", text.lower()))


def unicode_text(text: str) -> str:
    """The text with a replacement mark for each half of a surrogate pair, which no tokenizer takes.

    Command lines have such halves for bytes that are not UTF-8, JSON has them by its escapes; two that fit are joined.
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def likeness(one: str, other: str) -> float:
    """Share of equal letters in order, 0 below what a coarse read may mistake."""
    if one == other:
        return 1.0
    # Words whose lengths differ much, or their letters, are not worth a place in the cache.
    least = 0.5 * _ALIKE * (len(one) + len(other))
    if min(len(one), len(other)) < least:
        return 0.0
    letters, others = _letters(one), _letters(other)
    if len(one) - len(letters - others) < least or len(other) - len(others - letters) < least:
        return 0.0
    return _ratio(one, other)


@lru_cache(maxsize=8192)
def _letters(word: str) -> frozenset[str]:
    return frozenset(word)


@lru_cache(maxsize=65536)
def _ratio(one: str, other: str) -> float:
    # Letters that both have, in any order, are no fewer than those in order: most pairs end here.
    if 2 * _shared(one, other) < _ALIKE * (len(one) + len(other)):
        return 0.0
    ratio = SequenceMatcher(None, one, other).ratio()
    return ratio if ratio >= _ALIKE else 0.0


def _shared(one: str, other: str) -> int:
    return sum(min(one.count(letter), other.count(letter)) for letter in set(one))
