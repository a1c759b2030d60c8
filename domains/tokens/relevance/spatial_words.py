"""Where a query says to look: "at the top left", "in the centre of the picture", "bottom-right corner" ...

A small grammar of English prepositional phrases says which words of a sentence name a place in the image.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

_ROWS, _COLUMNS = {"top", "upper", "bottom", "lower"}, {"left", "right"}
_CENTRES = {"centre", "center", "middle"}
# These are never nouns: they need a part to go with ("upper half") or another side ("upper left").
_ADJECTIVES = {"upper", "lower", "central"}
_SIDES = _ROWS | _COLUMNS | _CENTRES | _ADJECTIVES
_PARTS = {
    *("corner", "side", "half", "edge", "part", "third", "quarter", "margin", "area", "region", "border", "end"),
    *("section", "portion"),
}
_IMAGES = {
    *("image", "picture", "photo", "photograph", "page", "screen", "document", "frame", "scan", "sheet", "form"),
    *("receipt", "invoice", "letter", "drawing", "painting", "map", "poster", "slide", "screenshot", "scene", "view"),
}
_PREPOSITIONS = {"at", "on", "in", "to", "from", "near", "towards", "toward", "along", "by", "around", "within", "of"}
_ARTICLES = {"the", "this", "that", "a", "an", "very", "far", "extreme"}
_OWNERS = {"his", "her", "my", "your", "their", "its", "our"}
_MOTION = {
    "turn",
    "turns",
    "turning",
    "go",
    "goes",
    "going",
    "move",
    "moves",
    "moving",
    "drive",
    "drives",
    "lean",
    "leans",
}
# What may follow a place; after "on the left" any other word is a noun that it describes ("on the left wall").
_FOLLOWERS = {
    *("is", "are", "was", "were", "do", "does", "did", "has", "have", "can", "say", "says", "said", "show", "shows"),
    *(
        "mean",
        "means",
        "read",
        "reads",
        "look",
        "looks",
        "hold",
        "holds",
        "holding",
        "wear",
        "wears",
        "wearing",
        "stand",
    ),
    *(
        "stands",
        "standing",
        "and",
        "or",
        "but",
        "in",
        "on",
        "at",
        "with",
        "that",
        "which",
        "who",
        "there",
        "here",
        "it",
    ),
    *("from", "for", "called", "made", "doing", "cost", "costs", "written", "please", "visible", "shown", "as", "to"),
}


def place_words(sentence: str) -> list[str]:
    """The words of ``sentence`` that name a place in the image, such as ["top", "left"]."""
    tokens = re.findall(r"[a-z']+|[,.;:?!]", sentence.lower().replace("-", " "))
    words = [token for token in tokens if token.isalpha()]
    if words and all(word in _SIDES | _PARTS | _ARTICLES for word in words):
        return [word for word in words if word in _SIDES]
    found = []
    for start, end in _runs(tokens):
        if _is_place(tokens, start, end):
            found += tokens[start:end]
    return found


def without_places(sentence: str) -> str:
    """The words of ``sentence`` that do not name a place in the image: of "at the top left corner?" "at the"."""
    if not place_words(sentence):
        return sentence
    words = re.findall(r"[^\W_']+", sentence.replace("-", " "))
    return " ".join(word for word in words if word.lower() not in _SIDES | _PARTS | _IMAGES | {"hand"})


def _runs(tokens: Sequence[str]) -> list[tuple[int, int]]:
    """Stretches of neighbouring side words, [start, end)."""
    inside = [token in _SIDES for token in tokens]
    starts = [i for i, now in enumerate(inside) if now and not (i and inside[i - 1])]
    return [(start, next((i for i in range(start, len(tokens)) if not inside[i]), len(tokens))) for start in starts]


def _is_place(tokens: Sequence[str], start: int, end: int) -> bool:
    run, after = set(tokens[start:end]), [*tokens[end:], "", ""]
    before = _without_articles(tokens[:start])
    if before and (before[-1] in _OWNERS or not _MOTION.isdisjoint(before[-3:])):
        return False
    if after[0] == "hand" and after[1] in _PARTS:
        after = after[1:]
    part = after[0] in _PARTS
    after = after[part:]
    if after[0] == "of":
        return _of_the_image(after[1:])
    if part or (run & _ROWS and run & _COLUMNS):
        return part or _may_follow(after[0])
    led_in = bool(before) and before[-1] in _PREPOSITIONS and _has_article(tokens, start)
    return led_in and not run <= _ADJECTIVES and _may_follow(after[0])


def _without_articles(tokens: Sequence[str]) -> list[str]:
    kept = list(tokens)
    while kept and kept[-1] in _ARTICLES:
        kept.pop()
    return kept


def _has_article(tokens: Sequence[str], start: int) -> bool:
    """Such as "on the left" and "at top"; but not "on top" (uppermost, finished) nor "in right" (a stray word)."""
    return start > 0 and (tokens[start - 1] in _ARTICLES or tokens[start - 1] == "at")


def _of_the_image(after: Sequence[str]) -> bool:
    noun = next((token for token in after if token not in _ARTICLES), "")
    return noun in _IMAGES or noun in _SIDES


def _may_follow(token: str) -> bool:
    return not token.isalpha() or token in _FOLLOWERS


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
