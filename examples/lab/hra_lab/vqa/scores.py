"""Scores of an answer against those of people as the published evaluators give them, their peculiarities kept.

ANLS of DocVQA, the VQA score of VQA v2 and of TextVQA, exact match. Where published code differs among itself or from
its paper, both are here and have a name: `Anls` and `Vqa`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from hra.errors import HraError, needs

Anls = Literal["evaluator", "paper"]
"""At a similarity of exactly .5 the evaluators of DocVQA and ST-VQA give .5, the paper's formula (eq. 1) gives 0.

The evaluators also divide by the length of the text as it was given, the paper's formula by that without the spaces
that do not count.
"""

Vqa = Literal["vqa", "textvqa"]
"""VQA v2 normalises answers only where people differ; TextVQA always, without commas and with "'s" as a word."""

_THRESHOLD = 0.5
# As many people as agree with an answer make it fully right.
_ENOUGH = 3
_PUNCTUATION = ';/[]"{}()=+\\_-><@`,?!'
_COMMA_IN_NUMBER = re.compile(r"\d,\d")
# A period goes unless a digit follows.
_PERIOD = re.compile(r"\.(?!\d)")
_MOST_PERIODS = 32
_NUMERALS = {"none": "0"} | {
    word: str(number)
    for number, word in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    )
}
_ARTICLES = {"a", "an", "the"}
_CONTRACTED = """
ain't aren't can't could've couldn't couldn't've didn't doesn't don't hadn't hadn't've hasn't haven't he'd
he'd've he's how'd how'll how's isn't it'd it'd've it'll ma'am mightn't mightn't've might've mustn't must've
needn't not've o'clock oughtn't shan't she'd've should've shouldn't shouldn't've
somebody'd've somebody'll somebody's someone'd someone'd've someone'll someone's something'd something'd've
something'll that's there'd there'd've
there're there's they'd they'd've they'll they're they've 'twas wasn't we'd've we've weren't what'll what're
what's what've when's where'd where's where've who'd who'd've who'll who's who've why'll why're why's won't
would've wouldn't wouldn't've y'all y'all'll y'all'd've you'd you'd've you'll you're you've
""".split()  # noqa: SIM905 (a list of 80 quoted words)


def _without_one(word: str) -> list[str]:
    """The word with one of its apostrophes left out, each in turn."""
    return [word[:i] + word[i + 1 :] for i, letter in enumerate(word) if letter == "'"]


_CONTRACTIONS = {short: word for word in _CONTRACTED for short in _without_one(word)}
# Odd ones: a pair that is turned round where all others gain an apostrophe, and one with an apostrophe in front.
_CONTRACTIONS |= {"somebody'd": "somebodyd", "ow's'at": "'ow's'at", "'ows'at": "'ow's'at", "'ow'sat": "'ow's'at"}


def anls(answer: str, references: Sequence[str], convention: Anls = "evaluator") -> float:
    """Average normalised Levenshtein similarity of one answer, in 0 .. 1.

    One minus the edits per character of the longer text, of the reference that is nearest, and 0 below one half; case
    and surrounding space do not count (A. F. Biten et al., "Scene text visual question answering", 2019, eq. 1).

    Parameters
    ----------
    convention : see `Anls`.

    Raises
    ------
    HraError : no reference.
    MissingExtra : rapidfuzz is not installed.

    Examples
    --------
    >>> anls("$ 1,234.50", ["$ 1,234.56"]), anls("yes", ["no"])
    (0.9, 0.0)
    >>> anls("12", ["19"]), anls("12", ["19"], "paper")
    (0.5, 0.0)
    """
    with needs("rapidfuzz", "learn"):
        from rapidfuzz.distance import Levenshtein
    _require(references)
    given, least = _plain(answer), 1.0
    for reference in references:
        wanted = _plain(reference)
        texts = (answer, reference) if convention == "evaluator" else (given, wanted)
        # In capitals, as published: "ß" counts twice.
        edits, longer = Levenshtein.distance(given, wanted), max(len(text.upper()) for text in texts)
        least = min(least, edits / longer if longer else 0.0)
    kept = 1 - least >= _THRESHOLD if convention == "evaluator" else least < _THRESHOLD
    return 1 - least if kept else 0.0


def vqa_score(answer: str, references: Sequence[str], convention: Vqa = "vqa") -> float:
    """The VQA score of one answer, in 0 .. 1: who of all but one person gave it, a third for each, over all "but one"s.

    Of ten people, so many agreeing ones make: 1 .3, 2 .6, 3 .9, 4 and more 1 (S. Antol et al., "VQA: Visual question
    answering", 2015, and its published code).

    Parameters
    ----------
    convention : see `Vqa`.

    Raises
    ------
    HraError : no reference.

    Examples
    --------
    >>> vqa_score("The dog.", ["dog"] * 2 + ["cat"] * 8)
    0.6
    >>> vqa_score("2", ["two"] * 10), vqa_score("2", ["two"] * 10, "textvqa")
    (0.0, 1.0)
    """
    _require(references)
    people, given = [_clean(reference) for reference in references], _clean(answer)
    if convention == "textvqa":
        people, given = [normalise(_spaced(person)) for person in references], normalise(_spaced(answer))
    elif len(set(people)) > 1:
        people, given = [normalise(person) for person in people], normalise(given)
    agreeing = people.count(given)
    # The one who is left out agrees as often as people do.
    without = agreeing * min(1.0, (agreeing - 1) / _ENOUGH) + (len(people) - agreeing) * min(1.0, agreeing / _ENOUGH)
    return round(without / len(people), 12)


def exact_match(answer: str, references: Sequence[str]) -> float:
    """1 where the answer is one of the references but for case and space, else 0.

    Raises
    ------
    HraError : no reference.

    Examples
    --------
    >>> exact_match(" Total ", ["total", "sum"])
    1.0
    """
    _require(references)
    return float(_plain(answer) in map(_plain, references))


def normalise(answer: str) -> str:
    """Punctuation, numerals, articles and contractions of an answer settled.

    Examples
    --------
    >>> normalise("The 1,000 dogs!"), normalise("dont"), normalise("two")
    ('1000 dogs', "don't", '2')
    """
    words = [_NUMERALS.get(word, word) for word in _unpunctuated(answer).lower().split()]
    return " ".join(_CONTRACTIONS.get(word, word) for word in words if word not in _ARTICLES)


def _unpunctuated(answer: str) -> str:
    """A mark goes where a space is beside it, or a number has a comma; elsewhere it becomes a space."""
    result, in_number = answer, _COMMA_IN_NUMBER.search(answer) is not None
    for mark in _PUNCTUATION:
        goes = f"{mark} " in answer or f" {mark}" in answer or in_number
        result = result.replace(mark, "" if goes else " ")
    return _PERIOD.sub("", result, count=_MOST_PERIODS)


def _clean(answer: str) -> str:
    """Lines and tabs as spaces, none around."""
    return answer.replace("\n", " ").replace("\t", " ").strip()


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def _spaced(answer: str) -> str:
    """What TextVQA's evaluator does to an answer before all else."""
    return _clean(answer.lower().replace(",", "").replace("?", "").replace("'s", " 's").strip())


def _require(references: Sequence[str]) -> None:
    if not references or isinstance(references, str):
        raise HraError("an answer is scored against a list of references", where="references", fix="pass ['yes']")
