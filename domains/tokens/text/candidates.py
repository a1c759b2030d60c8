"""What on a page may be the answer, and what speaks for each: words around it, its kind, its place, its size.

A candidate is a line, or the part of a line that looks like a value: what follows a colon, an amount, a date, a time, a
number. What stands before it in its line, left of it in its row, and above and below it, may be its heading; tables
need no rules for that. `candidate_features` says how well each of these fits the question.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hra.domains.tokens.text.answer_kinds import answer_pattern
from hra.domains.tokens.text.concepts import concepts
from hra.domains.tokens.text.glosses import gloss
from hra.domains.tokens.text.lines import TextLine
from hra.domains.tokens.text.meaning import same_meaning
from hra.domains.tokens.text.words import content_words, likeness, said_words

# Of the usual height: detectors draw boxes larger than print, so that those of a label and its value overlap.
_OVERLAP = 0.6
_COLUMN = 30  # amounts above another one that may add up to it
# Amounts of a page, and the largest, whose sums say anything: of many amounts some add up by chance.
_AMOUNTS, _MOST = 100, 1e12
_PARTS = 3  # values of one line at most
_MONTH = r"(?:jan|feb|mar|mär|apr|may|mai|jun|jul|aug|sep|okt|oct|nov|dec|dez)[a-z]*"
_KINDS = (
    (
        "date",
        rf"\d{{1,4}}[./-]\d{{1,2}}[./-]\d{{2,4}}|\d{{1,2}}[\s./-]*{_MONTH}[\s.,/-]*\d{{2,4}}|{_MONTH}\s*\d{{1,2}},?\s*\d{{4}}",
    ),
    ("time", r"\b\d{1,2}:\d\d(?::\d\d)?(?:\s*[ap]m)?"),
    ("money", r"(?:rm|eur|usd|[$€£])?\s?-?\d{1,3}(?:[., ]?\d{3})*[.,]\s?\d\d(?!\d|[.,/:-]\d)"),
    ("percent", r"\d+(?:[.,]\d+)?\s?%"),
    ("phone", r"\+?\d[\d ()/-]{6,}\d"),
    ("number", r"\d+(?:[.,]\d+)*"),
)
# A label, then its value: after a colon, else from the first number on.
_LABELLED = re.compile(r".*?[A-Za-z].*?(?::\s*|\s+(?=[^\sa-z:]*\d)(?!\d+\s*%))(.*\S)\s*$")
_MATCH = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in _KINDS}
_ASKED = {"page": "number", "date": "date", "time": "time", "amount": "money", "phone": "phone", "quantity": "number"}
# The marks between the numbers of a date are the first that a coarse read loses.
_MISREAD_DATE = re.compile(rf"[0-3]\d\D?[01]\d\D?(?:20)?[012]\d(?!\d)|\d\s*{_MONTH}\s*\d", re.IGNORECASE)
# Amounts and dates in which a letter was read for a digit.
_DIGIT = str.maketrans("OoQDIlSsBZz", "00001155822")
_ONE = r"[\dOoQDIlSsBZz]"
_LOOKS = re.compile(
    rf"(?<![\w.,])(?:{_ONE}{{1,6}}[.,]{_ONE}{{2}}|{_ONE}{{1,2}}([/.-]){_ONE}{{1,2}}\1{_ONE}{{2,4}})(?![\w.,])"
)
_RELATIONS = ("inline", "left", "row", "above", "column", "below")
_TEXT = ("f1", "recall", "precision", "meaning", "concept", "strange")
FEATURES = (
    *(f"{relation} {what}" for relation in _RELATIONS for what in _TEXT),
    *("left gap", "above gap", "steps left", "steps up", "union recall", "row and column", "itself recall"),
    *("kind fits", "kind open", "kind asked", *(f"is {name}" for name, _ in _KINDS), "is words", "whole line"),
    *("height", "x", "y", "words", "length", "repeated", "last of kind", "largest", "row values", "colon", "long line"),
    *("left unread", "has models", "page best", "page reads"),
    *("is sum", "is larger part", "is smaller part", "is column's sum", "same amount"),
    *("names", "is fit", "is about", "is near", "ends in colon", "left is value", "above is value"),
)
"""What each column of `candidate_features` says."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """What may be an answer.

    Attributes
    ----------
    line : number of its line.
    start, end : the part of the line, shares of its length.
    text : what it says.
    before : what the line says before it.
    kind : "date", "time", "money", "percent", "phone", "number" or "words".
    """

    line: int
    start: float
    end: float
    text: str
    before: str
    kind: str


def asks(question: str) -> bool:
    """Whether a question says what it wants: a word that means something, or a kind of answer."""
    return said_words(question) or bool(concepts(question)) or answer_pattern(question) is not None


def candidates(lines: Sequence[TextLine]) -> list[Candidate]:
    """Every line that was read, and the parts of lines that look like values."""
    return [one for number, line in enumerate(lines) if line.text for one in _of_line(number, line)]


def _as_digits(text: str) -> str:
    """The text with letters that look like digits read as such, in amounts and dates that are mostly digits."""
    return _LOOKS.sub(lambda found: found[0].translate(_DIGIT) if _mostly_digits(found[0]) else found[0], text)


def _mostly_digits(text: str) -> bool:
    return 2 * sum(map(str.isdigit, text)) >= sum(map(str.isalnum, text))


def _of_line(number: int, line: TextLine) -> list[Candidate]:
    text = _as_digits(line.text or "")
    spans = {(0, len(text))}
    if split := _LABELLED.match(text):
        spans.add((split.start(1), len(text)))
    taken: list[tuple[int, int]] = []
    for pattern in _MATCH.values():
        for found in pattern.finditer(text):
            start = found.start() + len(found[0]) - len(found[0].lstrip())
            if len(taken) < _PARTS and not any(start < end and begin < found.end() for begin, end in taken):
                taken.append((start, found.end()))
    spans.update(span for span in taken if not any(span != one and _same(text, span, one) for one in spans))
    return [
        Candidate(number, line.share(start), line.share(end), text[start:end], text[:start], kind_of(text[start:end]))
        for start, end in sorted(spans)
    ]


def _same(text: str, one: tuple[int, int], other: tuple[int, int]) -> bool:
    return re.sub(r"\W", "", text[slice(*one)]) == re.sub(r"\W", "", text[slice(*other)])


def kind_of(text: str) -> str:
    """The kind of value that most of ``text`` is."""
    for name, pattern in _MATCH.items():
        found = pattern.search(text)
        if found and len(found[0].strip()) >= 0.6 * len(text.strip()):
            return name
    return "words"


def candidate_features(question: str, lines: Sequence[TextLine], found: Sequence[Candidate]) -> np.ndarray:
    """What speaks for each candidate, float64 [n, len(FEATURES)], by the columns of `FEATURES`.

    Parameters
    ----------
    question : what is asked.
    lines : of the page; those that were not read have places only.
    found : the candidates, see `candidates`.
    """
    if not found:
        return np.zeros((0, len(FEATURES)))
    page = _Page(question, lines, found)
    return np.array([page.features(number) for number in range(len(found))], float)


@dataclass(frozen=True, eq=False)
class _Near:
    """Lines that may name a candidate: to the left in its row and above it, nearest first, and the next below."""

    x0: float  # the candidate's left end
    row: np.ndarray
    above: np.ndarray
    below: np.ndarray
    best_row: int | None
    best_above: int | None


class _Page:
    """All candidates of a page; the parts of `features` follow each other as the rows of `FEATURES` do."""

    def __init__(self, question: str, lines: Sequence[TextLine], found: Sequence[Candidate]) -> None:
        self.lines, self.found = lines, found
        self.texts = [line.text or "" for line in lines]
        self.is_value = [bool(text) and kind_of(text) != "words" for text in self.texts]
        self.fits = _Fits(question, [*self.texts, *(one.before for one in found)])
        self.pattern = answer_pattern(question) or answer_pattern(gloss(question) or "")
        self.asked = next((kind for concept, kind in _ASKED.items() if concept in concepts(question)), None)
        self._lay_out()
        self.values = [_number(one.text) if one.kind == "money" else None for one in found]
        self.largest = max((value for value in self.values if value is not None), default=None)
        self.sums = _sums(self.values, [one.line for one in found], self.boxes)
        self.repeated = Counter(one.text.lower().strip() for one in found)
        downwards = sorted(enumerate(found), key=lambda pair: self.middle[pair[1].line])
        self.last = {one.kind: number for number, one in downwards}

    def _lay_out(self) -> None:
        self.boxes = boxes = np.array([line.box for line in self.lines])
        self.heights = boxes[:, 3] - boxes[:, 1]
        self.middle = (boxes[:, 1] + boxes[:, 3]) / 2
        self.usual = float(np.median(self.heights))
        self.low = boxes[:, :2].min(axis=0)
        self.span = np.maximum(boxes[:, 2:].max(axis=0) - self.low, 1)
        meets = np.minimum(boxes[:, None, 3], boxes[None, :, 3]) - np.maximum(boxes[:, None, 1], boxes[None, :, 1])
        self.in_row = meets > 0.5 * np.minimum(self.heights[:, None], self.heights[None, :])

    def features(self, number: int) -> list[float]:
        one = self.found[number]
        near = self._near(one)
        inline = [len(self.texts) + number] if one.before else []
        return [
            *self._headings(near, inline),
            *self._steps(one, near, inline),
            *self._kind(one),
            *self._look(number, near),
            bool(len(near.row)) and not self.texts[near.row[0]],
            self.fits.embeds,
            self.fits.most,
            min(sum(map(bool, self.texts)) / max(len(self.texts), 1), 1),
            *self.sums[number],
            *self._own_words(one, near),
        ]

    def _near(self, one: Candidate) -> _Near:
        boxes, box = self.boxes, self.boxes[one.line]
        x0, x1 = (box[0] + share * (box[2] - box[0]) for share in (one.start, one.end))
        other = np.arange(len(boxes)) != one.line
        row = np.flatnonzero(self.in_row[one.line] & (boxes[:, 2] <= x0 + _OVERLAP * self.usual) & other)
        row = row[np.argsort(-boxes[row, 2])]
        over = (np.minimum(boxes[:, 2], x1) - np.maximum(boxes[:, 0], x0)) > 0
        close = (np.abs(boxes[:, 0] - x0) < self.usual) | (np.abs(boxes[:, 2] - x1) < self.usual) | over
        above = np.flatnonzero(close & (boxes[:, 3] < box[1] + 0.4 * self.heights[one.line]))
        above = above[np.argsort(-self.middle[above])]
        below = np.flatnonzero(close & (boxes[:, 1] > box[3] - 0.4 * self.heights[one.line]))
        below = below[np.argsort(self.middle[below])][:1]
        return _Near(x0, row, above, below, self.fits.best(row), self.fits.best(above))

    def _headings(self, near: _Near, inline: Sequence[int]) -> np.ndarray:
        """How well the text of each of `_RELATIONS` fits the question."""
        left, above, below = (_first(numbers) for numbers in (near.row, near.above, near.below))
        chosen = (_first(inline), left, near.best_row, above, near.best_above, below)
        return np.concatenate([_NOTHING if text is None else self.fits.of(text) for text in chosen])

    def _steps(self, one: Candidate, near: _Near, inline: Sequence[int]) -> list[float]:
        """How far off its headings are, in heights of a line and in lines, and what they say together."""
        boxes, row, above = self.boxes, near.row, near.above
        beside = [*inline, *([near.best_row] if near.best_row is not None else [])]
        column = [near.best_above] if near.best_above is not None else []
        return [
            min((near.x0 - boxes[row[0], 2]) / self.usual, 30) / 10 if len(row) else 3.0,
            min((boxes[one.line, 1] - boxes[above[0], 3]) / self.usual, 30) / 10 if len(above) else 3.0,
            min(row.tolist().index(near.best_row), 5) / 5 if near.best_row is not None else 1.0,
            min(above.tolist().index(near.best_above), 20) / 20 if near.best_above is not None else 1.0,
            self.fits.union([*beside, *column]),
            self.fits.union(beside) * self.fits.union(column),
            self.fits.of(one.line)[1] if not one.before else self.fits.recall(one.text),
        ]

    def _kind(self, one: Candidate) -> list[bool]:
        """What kind of value is asked for, and what it is."""
        fits = bool(self.pattern and self.pattern.search(one.text)) or self.asked == one.kind
        fits = fits or (self.asked == "date" and bool(_MISREAD_DATE.search(one.text)))
        open_to_all = self.pattern is None and self.asked is None
        kinds = [one.kind == name for name, _ in _KINDS]
        return [fits, open_to_all, self.asked is not None, *kinds, one.kind == "words", _is_whole(one)]

    def _look(self, number: int, near: _Near) -> list[float]:
        """Its size, its place, and how it stands among the others."""
        one, row = self.found[number], near.row
        colon = re.search(r":\s*$", one.before) or (len(row) and self.texts[row[0]].rstrip().endswith(":"))
        return [
            min(self.heights[one.line] / self.usual, 3),
            (near.x0 - self.low[0]) / self.span[0],
            (self.boxes[one.line, 1] - self.low[1]) / self.span[1],
            min(len(one.text.split()), 12) / 12,
            min(len(one.text), 60) / 60,
            min(self.repeated[one.text.lower().strip()], 4) / 4,
            self.last.get(one.kind) == number,
            self.largest is not None and self.values[number] == self.largest,
            min(self.in_row[one.line].sum(), 8) / 8,
            bool(colon),
            self.lines[one.line].aspect > 20,
        ]

    def _own_words(self, one: Candidate, near: _Near) -> list[float]:
        """Whether it looks like a heading itself, and its neighbours like values."""
        return [
            min(len(concepts(one.text)), 2) / 2,
            *(self.fits.of(one.line)[[0, 4, 3]] if _is_whole(one) else (0.0, 0.0, 0.0)),
            one.text.rstrip().endswith(":"),
            bool(len(near.row)) and self.is_value[near.row[0]],
            bool(len(near.above)) and self.is_value[near.above[0]],
        ]


def _is_whole(one: Candidate) -> bool:
    return one.start == 0 and one.end == 1


def _sums(values: Sequence[float | None], lines: Sequence[int], boxes: np.ndarray) -> np.ndarray:
    """How each amount follows from others, in any language: float64 [n, 5].

    Whether it is the sum of two others, the larger or the smaller of two whose sum is there (what was paid less the
    change, a total less its tax), the sum of amounts that follow each other in the column above it; and how often it
    stands elsewhere.
    """
    found = np.zeros((len(values), 5))
    known = [number for number, value in enumerate(values) if value and value < _MOST]
    if not 2 <= len(known) <= _AMOUNTS:
        return found
    cents = np.array([round(100 * (values[number] or 0)) for number in known], np.int64)
    line = np.array([lines[number] for number in known])
    apart = line[:, None] != line
    pairs = np.where(apart, cents[:, None] + cents, -1)
    for place, number in enumerate(known):
        others = line != line[place]
        parts = pairs[np.ix_(others, others)]
        wholes = cents[others][:, None] - cents[others]
        rest = wholes == cents[place]  # others that differ by it
        smaller = cents[others][None, :]
        above = others & (boxes[line, 3] < boxes[line[place], 3]) & _aligned(boxes, line, line[place])
        column = cents[above][np.argsort(-boxes[line[above], 3])]
        found[number] = [
            (parts == cents[place]).any(),
            (rest & (smaller <= cents[place])).any(),
            (rest & (smaller > cents[place])).any(),
            _is_run(column[:_COLUMN], cents[place]),
            min((cents[others] == cents[place]).sum(), 4) / 4,
        ]
    return found


def _aligned(boxes: np.ndarray, these: np.ndarray, one: int) -> np.ndarray:
    """Whether lines end where another one ends, as amounts of a column do."""
    return np.abs(boxes[these, 2] - boxes[one, 2]) < boxes[one, 3] - boxes[one, 1]


def _is_run(amounts: np.ndarray, total: int) -> bool:
    """Whether amounts that follow each other, two at least, add up to the total."""
    upto = np.concatenate([[0], np.cumsum(amounts)])
    runs = upto[None, :] - upto[:, None]
    first, last = np.nonzero(runs == total)
    return bool((last - first >= 2).any())


_NOTHING = np.zeros(len(_TEXT))
# Of a label's words those that are asked for, of those of the question that it has, and how many words make that sure.
_EXACT, _MOST_ASKED, _SAID = 0.95, 0.6, 2


class _Fits:
    """How texts fit a question, each looked at once: `_TEXT` for every one of them."""

    def __init__(self, question: str, texts: Sequence[str]) -> None:
        self.asked, self.concepts, self.texts = _words(question), concepts(question), texts
        self.covers = np.zeros((len(texts), max(len(self.asked), 1)))
        self.rows = np.zeros((len(texts), len(_TEXT)))
        for number, text in enumerate(texts):
            if text:
                self.rows[number] = self._row(number, text)
        # Nobody means anything else by a label's own words; one word alone may stand in a label of something else.
        if not self._named():
            self.rows[:, 3] = same_meaning(question, [_label(text) for text in texts])
        self.embeds = bool(self.rows[:, 3].any())
        self.strength = self.rows[:, 0] + 0.5 * self.rows[:, 3] + 0.5 * self.rows[:, 4] - 0.3 * self.rows[:, 5]
        self.most = float(self.rows[:, 0].max(initial=0))

    def _named(self) -> bool:
        """Whether a label says most of what is asked, and nothing else."""
        _, recall, precision = self.rows[:, :3].T
        several = np.array([len(_words(text)) >= _SAID for text in self.texts], bool)
        return bool((several & (precision >= _EXACT) & (recall >= _MOST_ASKED)).any())

    def _row(self, number: int, text: str) -> list[float]:
        said = _words(text)
        alike = np.array([[likeness(one, other) for other in said] for one in self.asked])
        recall = precision = 0.0
        if alike.size:
            self.covers[number] = alike.max(axis=1)
            recall, precision = float(alike.max(axis=1).mean()), float(alike.max(axis=0).mean())
        named = concepts(text)
        shared = len(named & self.concepts) / max(len(self.concepts), 1)
        both = recall + precision
        return [
            2 * recall * precision / both if both else 0,
            recall,
            precision,
            0.0,
            shared,
            len(named - self.concepts),
        ]

    def of(self, number: int) -> np.ndarray:
        return self.rows[number]

    def best(self, numbers: np.ndarray) -> int | None:
        """The best-fitting of the texts with these numbers, the first if tied; None if there are none."""
        return int(numbers[np.argmax(self.strength[numbers])]) if len(numbers) else None

    def union(self, numbers: Sequence[int]) -> float:
        """Share of the question's words that some of these texts have."""
        return float(self.covers[list(numbers)].max(axis=0).mean()) if len(numbers) else 0.0

    def recall(self, text: str) -> float:
        said = _words(text)
        return float(np.mean([max((likeness(one, other) for other in said), default=0) for one in self.asked or [""]]))


def _words(text: str) -> list[str]:
    """Words that mean something, with numbers: rows of tables are told apart by them."""
    numbers = re.findall(r"\d+", text)
    words = [word for word in content_words(text) if len(word) > 1]
    return [*words, *numbers][:16]


def _label(text: str) -> str:
    """The words of a text that may be a heading, without numbers; empty for what is none."""
    words = " ".join(re.findall(r"[^\W\d_]+", text))
    return words if len(text) <= 60 and re.search(r"[^\W\d_]{2}", text) else ""


def _first(numbers: Sequence[int] | np.ndarray) -> int | None:
    return int(numbers[0]) if len(numbers) else None


def _number(text: str) -> float | None:
    digits = re.sub(r"[^\d]", "", text)
    return int(digits) / 100 if digits else None
