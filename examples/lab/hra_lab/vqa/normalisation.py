"""Normalisation of answers as the official evaluation of VQA states it.

Punctuation goes or becomes space, numerals are digits, articles go, apostrophes come back ("dont"). Its peculiarities
are kept: scores are to be those of the published tables.
"""

from __future__ import annotations

import re

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
needn't not've o'clock oughtn't shan't she'd've should've shouldn't shouldn't've that's there'd there'd've
there're there's they'd they'd've they'll they're they've 'twas wasn't we'd've we've weren't what'll what're
what's what've when's where'd where's where've who'd who'd've who'll who's who've why'll why're why's won't
would've wouldn't wouldn't've y'all y'all'll y'all'd've you'd you'd've you'll you're you've
""".split()  # noqa: SIM905 (a list of 70 quoted words)


def _without_one(word: str) -> list[str]:
    """The word with one of its apostrophes left out, each in turn."""
    return [word[:i] + word[i + 1 :] for i, letter in enumerate(word) if letter == "'"]


_CONTRACTIONS = {short: word for word in _CONTRACTED for short in _without_one(word)}
# These lose their apostrophe.
_CONTRACTIONS |= {f"{some}{one}'d": f"{some}{one}d" for some, one in (("some", "body"),)}


def clean(answer: str) -> str:
    """Lines and tabs as spaces, none around."""
    return answer.replace("\n", " ").replace("\t", " ").strip()


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
