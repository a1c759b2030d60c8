"""Relevance of a page to a question: which line answers it, by a coarse read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hra.domains.tokens.channels.text_likeness import text_likeness
from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.relevance.cues import CueRelevance
from hra.domains.tokens.relevance.spatial_words import spatial_words
from hra.domains.tokens.text import reader
from hra.domains.tokens.text.labelled_values import labelled_values
from hra.domains.tokens.text.likeness_lines import likeness_lines
from hra.domains.tokens.text.lines import TextLine
from hra.domains.tokens.text.matching import match_scores, named_exactly
from hra.domains.tokens.text.rows import patches_under, right_neighbour
from hra.domains.tokens.text.running import paragraph_heads, running

_COARSE_SIDE = 512  # lines are found on the first level whose longer side is at most so many pixels
_READ_WIDTH = 6000  # pixels of the recogniser's input at most, about half a second on a core
_ROUND = 4  # long lines that are read before looking whether one answers
_SHARPNESS = 12.0  # between a match's score and its share of the relevance
_LABEL, _LEAST = 0.05, 0.02
_BACKGROUND, _BACKGROUND_GUESSED = 0.003, 0.1
_TEXTUAL = 0.015  # text-likeness: printed patches have 0.03 to 0.15, less where half of them is paper
_GOOD, _SURE = 0.4, 0.55  # scores from which a match is guessed, and believed


@dataclass(frozen=True)
class PhraseRelevance:
    """Lines of text are found on a coarse copy, read on a finer one, and matched to the question by words and meaning.

    The value that stands with the best matching labels (behind a colon, to the right, or below) becomes relevant;
    several labels share it by a softmax of their scores. Long lines are read last, until one has all words of the
    question or the budget of reading is spent, about half a second on one core. Where nothing matches, or there is no
    text, `CueRelevance` is the answer. Counted in `TokenContext.counts`: lines found, lines read, pixels of both.

    Needs RapidOCR (extra ``ocr``) and is `CueRelevance` without it; paraphrases also need MiniLM (extra ``vlm``). With
    ``read=False`` it needs nothing but SciPy: lines are found by their strokes and weighed by layout, what stands to
    the right of something most. Then of the question only its places are read, see `spatial_words`; it is for pages,
    and loses to down-sampling on photos whose textures look like print.

    Parameters
    ----------
    read : None reads where RapidOCR is installed, True insists, False goes by layout alone.

    Raises
    ------
    MissingExtra : RapidOCR is asked for, and not installed.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.ones((256, 256, 3), np.float32)
    >>> image[100:116, 20:200:6] = image[100:116, 21:200:6] = 0  # strokes
    >>> relevance = tokens.PhraseRelevance(read=False)(tokens.TokenContext.of(image, "what does it say?"))
    >>> bool(relevance[6, 4] > relevance[0, 4])
    True
    """

    read: bool | None = None

    def __call__(self, context: TokenContext) -> np.ndarray:
        """Relevance [ceil(H/patch), ceil(W/patch)], float64, > 0."""
        reads = self.read is not False
        # Without a question nothing that could be read decides anything.
        if (reads and not context.query) or (self.read is None and not reader.can_read()):
            return np.asarray(CueRelevance()(context), np.float64)
        lines = context.pyramid.once((PhraseRelevance, reads), lambda: _found(context, reads))
        weights = None
        if lines:
            weights = (_answers if reads else _by_layout)(context, lines)
        if weights is None:
            return np.asarray(CueRelevance()(context), np.float64)
        return weights * spatial_words(context.query, *context.grid)


def _level(context: TokenContext) -> int:
    levels = context.pyramid.levels
    return next((i for i, level in enumerate(levels) if max(level.shape[:2]) <= _COARSE_SIDE), len(levels) - 1)


def _found(context: TokenContext, detect: bool) -> list[TextLine]:
    level = _level(context)
    coarse = context.pyramid.levels[level]
    if detect:
        lines = reader.found_lines(coarse, 2.0**level)
    else:
        textual = text_likeness(context.image, context.patch)
        lines = [line for line in likeness_lines(coarse, 2.0**level) if _is_print(textual, line, context)]
    context.count("pixels searched for text", coarse.shape[0] * coarse.shape[1])
    context.count("lines found", len(lines))
    return lines


def _is_print(textual: np.ndarray, line: TextLine, context: TokenContext) -> bool:
    """Whether what lies under a line looks like print: photos have strokes, too."""
    under = textual[patches_under(line.quad, context.grid, context.patch)]
    return bool(under.size) and float(under.mean()) >= _TEXTUAL


def _answers(context: TokenContext, lines: Sequence[TextLine]) -> np.ndarray | None:
    """Relevance by the question; None where no line matches it."""
    lines = _read(context, lines)
    places = labelled_values(lines)
    scores = match_scores(context.query, [entry for entry, _, _ in places])
    if not places or scores.max() < _GOOD:
        return None
    shares = np.exp(_SHARPNESS * (scores - scores.max()))
    background = _BACKGROUND if scores.max() >= _SURE else _BACKGROUND_GUESSED
    weights = np.full(context.grid, background)
    for share, (_, label, value) in sorted(zip(shares, places, strict=True), key=lambda one: one[0]):
        if share >= _LEAST:
            weights[patches_under(label, context.grid, context.patch)] = max(_LABEL * share, background)
            weights[patches_under(value, context.grid, context.patch)] = share
    return weights


def _read(context: TokenContext, lines: Sequence[TextLine]) -> list[TextLine]:
    """The lines, some of them read: in rounds, until one says what is asked or the budget of reading is spent."""
    level = max(_level(context) - 2, 0)
    image, scale = context.pyramid.levels[level], 2.0**level
    widths, known, left = reader.reading_widths(image, scale, lines), list(lines), _READ_WIDTH
    for chosen in _rounds(lines):
        affordable = []
        for number in chosen:
            left -= widths[number]
            affordable += [number] if left >= 0 else []
        read = reader.read_lines(image, scale, [lines[i] for i in affordable], [widths[i] for i in affordable])
        for number, line in zip(affordable, read, strict=True):
            known[number] = line
        context.count("lines read", len(read))
        if left <= 0 or named_exactly(context.query, [entry for entry, _, _ in labelled_values(known)]):
            break
    context.count("pixels of width read", _READ_WIDTH - max(left, 0))
    return known


def _rounds(lines: Sequence[TextLine]) -> list[list[int]]:
    """Numbers of the lines in the order of reading: labels and values first, then running text.

    Of running text the first lines of paragraphs come first, as one skims.
    """
    long, heads = running(lines), paragraph_heads(lines)
    short = sorted(np.flatnonzero(~long).tolist(), key=lambda number: lines[number].aspect)
    text = [*np.flatnonzero(long & heads).tolist(), *np.flatnonzero(long & ~heads).tolist()]
    parts = [text[first : first + _ROUND] for first in range(0, len(text), _ROUND)]
    return [short, *parts] if short else parts


def _by_layout(context: TokenContext, lines: Sequence[TextLine]) -> np.ndarray:
    """Lines alike, but what has something to its left, as values have, more."""
    weights = np.full(context.grid, _BACKGROUND)
    values = {right_neighbour(number, lines) for number in range(len(lines))}
    for number, line in enumerate(lines):
        under = patches_under(line.quad, context.grid, context.patch)
        weights[under] = np.maximum(weights[under], 1.0 if number in values else 0.3)
    return weights
