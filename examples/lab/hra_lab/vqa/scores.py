"""Scores of an answer against those of people: ANLS, the VQA score, exact match."""

from __future__ import annotations

from collections.abc import Sequence

from hra.errors import HraError, MissingExtra
from hra_lab.vqa.normalisation import clean, normalise

_ANLS_THRESHOLD = 0.5
# As many people as agree with an answer make it fully right.
_ENOUGH = 3


def anls(answer: str, references: Sequence[str], threshold: float = _ANLS_THRESHOLD) -> float:
    """Average normalised Levenshtein similarity of one answer, in 0 .. 1.

    One minus the edits per character of the longer text, of the reference that is nearest, and 0 below the threshold;
    case and surrounding space do not count (A. F. Biten et al., "Scene text visual question answering", 2019, eq. 1).

    Raises
    ------
    HraError : no reference.
    MissingExtra : rapidfuzz is not installed.

    Examples
    --------
    >>> anls("$ 1,234.50", ["$ 1,234.56"]), anls("yes", ["no"])
    (0.9, 0.0)
    """
    try:
        from rapidfuzz.distance import Levenshtein
    except ImportError as error:
        raise MissingExtra.of("rapidfuzz", "learn") from error
    _require(references)
    given = " ".join(answer.lower().split())
    best = max(Levenshtein.normalized_similarity(given, " ".join(ref.lower().split())) for ref in references)
    # A distance of just the threshold scores nothing.
    return best if 1 - best < threshold else 0.0


def vqa_score(answer: str, references: Sequence[str]) -> float:
    """The VQA score of one answer, in 0 .. 1: who of all but one person gave it, a third for each, over all "but one"s.

    Answers are normalised where people differ, and compared as they are where all agree, as the official evaluation
    does (S. Antol et al., "VQA: Visual question answering", 2015, and its published code). Of ten people, so many
    agreeing ones make: 1 .3, 2 .6, 3 .9, 4 and more 1.

    Raises
    ------
    HraError : no reference.

    Examples
    --------
    >>> vqa_score("The dog.", ["dog"] * 2 + ["cat"] * 8)
    0.6
    """
    _require(references)
    people, given = [clean(reference) for reference in references], clean(answer)
    if len(set(people)) > 1:
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
    given = " ".join(answer.lower().split())
    return float(any(given == " ".join(reference.lower().split()) for reference in references))


def _require(references: Sequence[str]) -> None:
    if not references or isinstance(references, str):
        raise HraError("an answer is scored against a list of references", where="references", fix="pass ['yes']")
