"""Relevance of a page to a question: the probability that the answer stands in a patch, by a coarse read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hra.domains.tokens.channels.text_likeness import text_likeness
from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.context.served import Served
from hra.domains.tokens.relevance.colour_words import colour_words
from hra.domains.tokens.relevance.cues import CueRelevance
from hra.domains.tokens.relevance.spatial_words import spatial_words, without_places
from hra.domains.tokens.text import reader
from hra.domains.tokens.text.candidates import asks, candidate_features, candidates
from hra.domains.tokens.text.lines import TextLine, likeness_lines
from hra.domains.tokens.text.page_lines import PageLines, page_lines
from hra.domains.tokens.text.ranker import ranker

_SAME_ROW = 0.5  # of the smaller height of two lines in a row must overlap
_COARSE_SIDE = 512  # pixels of the longer side, at most, on which the layout is looked for
_LEAST = 0.002  # probability of a place that is worth a mark
# What the networks say of a place, and how often it is right: a line fitted on the development half.
_SURE = (0.17, 0.75)
_UNSURE = 0.3  # confidence below which a question decides nothing: all patches count alike
_LETTERS = 4  # fewer on a whole image are not text: the recogniser sees letters in spots
_BACKGROUND = 0.003
_PATCHES = 4  # patches of an answer that stands where nothing was read
_DOUBT = 0.02  # the least probability of that: so that what is left of a budget goes to errors elsewhere
_ON_PRINT = 0.5  # times as likely again on the patch that is most like print
_TEXTUAL = 0.015  # text-likeness: printed patches have 0.03 to 0.15, less where half of them is paper


@dataclass(frozen=True)
class PhraseRelevance:
    """The probability that the answer stands in a patch: by the print there and around it.

    Lines of text are found on a coarse copy and read, labels and values before running text, until a reading budget is
    spent: about half a second on one core, or a second where there are many labels, and long ones are then read in
    part. Every line, and every part of one that looks like a value, is a candidate; small networks weigh the words
    before, beside, above and below it, what kind of value it is, whether it is the sum or a part of other amounts, and
    where it stands (`text.candidates`, `text.ranker`), and give it a probability; what the probabilities lack to 1 is
    spread over all patches. So the error that allocators reduce is the expected one, and tokens hedge between likely
    places by themselves. Where confidence is below .3, the question decides nothing and all patches count alike; where
    there is no text, and without a question, `CueRelevance` is the answer. Counted in `TokenContext.counts`: pixels
    searched, lines found, lines read, pixels of width read, candidates; `TokenContext.served` has the confidence.

    Needs RapidOCR (extra ``ocr``) and is `CueRelevance` without it; paraphrases gain from MiniLM (extra ``vlm``). With
    ``read=False`` it needs nothing but SciPy: lines are found by their strokes and weighed by layout, what stands to
    the right of something most. Then only the question's places are read, see `spatial_words`; it is for pages,
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
        if not reads:
            lines = context.pyramid.once((PhraseRelevance, "layout"), lambda: _found(context))
            weights = _by_layout(context, lines) * spatial_words(context.query, *context.grid) if lines else None
        else:
            weights = _posterior(context)
        return np.asarray(CueRelevance()(context), np.float64) if weights is None else weights


def _posterior(context: TokenContext) -> np.ndarray | None:
    """The probability that the answer stands there, by patch; None where nothing was read."""
    read = chances(context.query, [context])
    if read is None:
        return None
    (chance,), elsewhere, sure = read
    where = spatial_words(context.query, *context.grid)
    if not is_sure(sure):
        context.serve(Served("words of place" if where.min() < 1 else "nothing", sure))
        coloured = colour_words(context.query, context.image, context.patch)
        if coloured is None:
            return np.ones(context.grid) * where
        context.serve(Served("words of colour", sure))
        return coloured * where
    context.serve(Served("phrase", sure))
    spread = _anywhere(context)
    return (chance + elsewhere * spread / spread.sum()) * where


def chances(query: str, parts: Sequence[TokenContext]) -> tuple[list[np.ndarray], float, float] | None:
    """The probability that the answer stands in each patch of pictures that are read as one page, below each other.

    Parameters
    ----------
    parts : the pictures: one, or windows of a large one; each is read once, whatever is asked.

    Returns
    -------
    For each picture float64 [rows, columns]; how many patches of the answer stand elsewhere; and how sure the likeliest
    place is. None where nothing was read, or the question asks for nothing that could be: to one for no more than a
    place any line would be as good an answer.
    """
    if not asks(without_places(query)):
        return None
    pages = [part.pyramid.once((PhraseRelevance, "read"), lambda part=part: _page(part)) for part in parts]
    below = np.cumsum([0.0] + [2.0 * part.image.shape[0] for part in parts[:-1]])
    upright = [
        replace(line, quad=line.quad + np.array([0.0, down]))
        for page, down in zip(pages, below, strict=True)
        for line in page.upright
    ]
    owner = [number for number, page in enumerate(pages) for _ in page.upright]
    lines = [line for page in pages for line in page.lines]
    found = candidates(upright)
    if sum(letter.isalnum() for line in upright for letter in line.text or "") < _LETTERS:
        return None
    shares = ranker().probabilities(candidate_features(query, upright, found))
    parts[0].count("candidates", len(found))
    maps = [np.zeros(part.grid) for part in parts]
    for share, one in zip(shares, found, strict=True):
        if share >= _LEAST:
            part, quad = parts[owner[one.line]], lines[one.line].part(one.start, one.end)
            maps[owner[one.line]][patches_under(quad, part.grid, part.patch)] += share
    maps = [np.minimum(chance, 1) for chance in maps]
    sure = max(_SURE[0] + _SURE[1] * max(float(chance.max()) for chance in maps), 0.0)
    return maps, _PATCHES * max(1 - float(shares.sum()), _DOUBT), sure


def is_sure(sure: float) -> bool:
    """Whether a question may decide where tokens go."""
    return sure >= _UNSURE


def _anywhere(context: TokenContext) -> np.ndarray:
    """Where an answer stands of which nothing is known: anywhere, on print rather than on paper."""
    textual = text_likeness(context.image, context.patch).astype(np.float64)
    return 1 + _ON_PRINT * textual / max(float(textual.max()), 1 / 255)


def _page(context: TokenContext) -> PageLines:
    """What is read of the image, counted where it is read."""
    page = page_lines(context.image)
    for what, number in page.counts.items():
        context.count(what, number)
    return page


def _level(context: TokenContext) -> int:
    levels = context.pyramid.levels
    return next((i for i, level in enumerate(levels) if max(level.shape[:2]) <= _COARSE_SIDE), len(levels) - 1)


def _found(context: TokenContext) -> list[TextLine]:
    """Lines by their strokes, without a package that knows letters."""
    level = _level(context)
    coarse = context.pyramid.levels[level]
    textual = text_likeness(context.image, context.patch)
    lines = [line for line in likeness_lines(coarse, 2.0**level) if _is_print(textual, line, context)]
    context.count("pixels searched for text", coarse.shape[0] * coarse.shape[1])
    context.count("lines found", len(lines))
    return lines


def _is_print(textual: np.ndarray, line: TextLine, context: TokenContext) -> bool:
    """Whether what lies under a line looks like print: photos have strokes, too."""
    under = textual[patches_under(line.quad, context.grid, context.patch)]
    return bool(under.size) and float(under.mean()) >= _TEXTUAL


def _by_layout(context: TokenContext, lines: Sequence[TextLine]) -> np.ndarray:
    """Lines alike, but what has something to its left, as values have, more."""
    weights = np.full(context.grid, _BACKGROUND)
    values = {right_neighbour(number, lines) for number in range(len(lines))}
    for number, line in enumerate(lines):
        under = patches_under(line.quad, context.grid, context.patch)
        weights[under] = np.maximum(weights[under], 1.0 if number in values else 0.3)
    return weights


def right_neighbour(number: int, lines: Sequence[TextLine]) -> int | None:
    """The next line to the right in the same row; None without one.

    The row is followed along the slope of the line, which photographs tilt.
    """
    start, slope = lines[number].quad[1:3].mean(axis=0), _slope(lines[number])
    candidates = []
    for other, line in enumerate(lines):
        left = line.quad[[0, 3]].mean(axis=0)
        across, expected = left[0] - start[0], start[1] + slope * (left[0] - start[0])
        aligned = abs(left[1] - expected) < _SAME_ROW * min(line.height, lines[number].height)
        if other != number and aligned and across > -0.5 * line.height:
            candidates.append((across, other))
    return min(candidates)[1] if candidates else None


def _slope(line: TextLine) -> float:
    across, down = line.quad[1] - line.quad[0]
    return float(down / across) if line.aspect > 1 and across > 0 else 0.0


def patches_under(quad: np.ndarray, grid: tuple[int, int], patch: int) -> np.ndarray:
    """Which finest patches the bounding box of a quadrangle [4, 2] in pixels meets, bool [rows, columns]."""
    inside = np.zeros(grid, bool)
    (x0, y0), (x1, y1) = quad.min(axis=0), quad.max(axis=0)
    first, last = np.floor([y0 / patch, x0 / patch]), np.ceil([y1 / patch, x1 / patch])
    (top, left), (bottom, right) = np.maximum(first, 0).astype(int), np.maximum(last, 0).astype(int)
    inside[top:bottom, left:right] = True
    return inside
