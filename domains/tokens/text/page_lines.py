"""The lines of a page, found on a coarse copy and read at full detail within a reading budget.

Two passes, the same whatever is asked, so that a page is read once: all lines are found, by a detector and, where signs
stand alone in their rows, by their strokes; then they are read, labels and values before running text. Pages that lie
on their side or upside down are recognised by the shapes of their lines and by how sure the reader is of them, and are
read as they lie.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hra.domains.tokens.text import reader
from hra.domains.tokens.text.isolated import isolated
from hra.domains.tokens.text.lines import TextLine, ends_early, paragraph_heads, running

_SEARCHED = 600_000  # pixels of the copy on which lines are found
# Strokes that stand out less from the paper around them are faint print; as much they are made to stand out.
_FAINT, _CLEAR = 0.2, 0.4
_AROUND = 16  # of the longer side is what paper around a stroke means: larger than a letter, smaller than a shadow
# Pixels of the recogniser's input: labels and values at most, and what is read in all before running text is left out;
# a core reads some 25 a millisecond.
_READ_WIDTH, _SKIMMED_WIDTH = 15_000, 6000
_FINE_WIDTH, _NARROW, _NARROW_LONG = (
    7500,
    0.7,
    0.9,
)  # of labels, above which they are read narrower, down to such shares
_HEAD = 160  # of a label's beginning, at least, where labels are too many to be read whole
_VALUE = 4.0  # aspect below which a line is not: its figures must be right
_COLUMN, _LABEL = 5, 4  # values that are a column, and letters that are a label
_FIGURES = 3  # signs of values that the detector misses; longer ones it finds
_TALL = 2.0  # heights of a label from which a box beside it is not a value
_ABOVE = 6.0  # heights of a label above a column that it may belong to
_READ_SCALE = 2.5  # times as fine as the copy is fine enough for reading
_LETTERS = 0.4  # score below which a line may be no text
# Lines whose beginnings are read to tell how a page lies, how long these are, the score of all that leaves it open, and
# the score of the first one alone that does not.
_PROBES, _PROBED, _UNSURE, _SURE = 3, 5.0, 0.75, 0.9


@dataclass(frozen=True, eq=False)
class PageLines:
    """What was found on a page.

    Attributes
    ----------
    lines : in pixels of the image, corners in the order of reading; at the end values that were not found but must be
        there, see `overlooked`.
    upright : the same lines on the page as one holds it to read it.
    counts : pixels searched, lines found, lines read, pixels of width read, quarter turns.
    """

    lines: list[TextLine]
    upright: list[TextLine]
    counts: Mapping[str, int]


def page_lines(image: np.ndarray) -> PageLines:
    """Lines of an image, found and read.

    Parameters
    ----------
    image : float32 [H, W, 3] in [0, 1].

    Raises
    ------
    MissingExtra : RapidOCR is not installed.
    """
    coarse, scale = _smaller(image, _SEARCHED)
    finer, fine_scale = _smaller(image, _SEARCHED * _READ_SCALE**2)
    strokes = _strokes(coarse)
    strength = float(np.percentile(np.abs(strokes), 99.9))
    if 0 < strength < _FAINT:
        coarse, finer = (_clearer(one, strength) for one in (strokes, _strokes(finer)))
    lines = reader.found_lines(coarse, scale)
    turns = _turns(finer, fine_scale, lines)
    lines = [_turned(line, turns) for line in lines]
    upright = _upright(lines, turns, image.shape[:2])
    height, width = image.shape[:2]
    flat = (width, height) if turns % 2 else (height, width)
    alone = isolated(np.rot90(strokes, turns), [_scaled(line, 1 / scale) for line in upright], strength)
    alone = [_scaled(line, scale) for line in alone]
    upright = [*upright, *alone]
    lines, width = _read(finer, fine_scale, [*lines, *_upright(alone, -turns % 4, flat)], upright)
    upright = [replace(one, text=line.text, edges=line.edges) for one, line in zip(upright, lines, strict=True)]
    counts = {
        "pixels searched for text": coarse.shape[0] * coarse.shape[1],
        "lines found": len(lines),
        "lines read": sum(line.text is not None for line in lines),
        "pixels of width read": width,
        "quarter turns": turns,
    }
    missed = overlooked(upright)
    return PageLines([*lines, *_upright(missed, -turns % 4, flat)], [*upright, *missed], counts)


def _scaled(line: TextLine, scale: float) -> TextLine:
    return replace(line, quad=line.quad * scale)


def _smaller(image: np.ndarray, pixels: float) -> tuple[np.ndarray, float]:
    """A copy of at most this many pixels, and pixels of the image per pixel of it."""
    import cv2

    height, width = image.shape[:2]
    scale = max(np.sqrt(height * width / pixels), 1.0)
    if scale == 1:
        return image, 1.0
    small = cv2.resize(
        image, (max(round(width / scale), 1), max(round(height / scale), 1)), interpolation=cv2.INTER_AREA
    )
    return small, float(scale)


def _strokes(image: np.ndarray) -> np.ndarray:
    """How much darker or lighter than the paper around it each pixel is, float32 [h, w]."""
    import cv2

    grey = (image[..., 0] + image[..., 1] + image[..., 2]) / 3  # the mean takes four times as long
    side = max(max(grey.shape) // _AROUND, 3)
    return grey - cv2.blur(grey, (side, side))


def _clearer(strokes: np.ndarray, strength: float) -> np.ndarray:
    """Faint print of even paper and full contrast, float32 [h, w, 3] in [0, 1]."""
    return np.clip(0.5 + _CLEAR / strength * strokes, 0, 1)[..., None].repeat(3, axis=2)


def _turns(image: np.ndarray, scale: float, lines: Sequence[TextLine]) -> int:
    """Quarter turns clockwise by which the page lies: 0 where it stands upright."""
    lengths = [float(np.ptp(line.quad, axis=0).max()) for line in lines]
    tall = [np.ptp(line.quad[:, 1]) > 1.5 * np.ptp(line.quad[:, 0]) for line in lines]
    on_side = sum(one for one, high in zip(lengths, tall, strict=True) if high) > sum(lengths) / 2
    probes = [lines[i] for i in np.argsort(lengths)[::-1][len(lines) // 3 :] if tall[i] == on_side][:_PROBES]
    first, second = (1, 3) if on_side else (0, 2)
    if not probes:
        return 0
    if not on_side and reader.scores(image, scale, [_beginning(probes[0])]) >= _SURE:
        return first
    sure = reader.scores(image, scale, [_beginning(_turned(line, first)) for line in probes])
    if not on_side and sure >= _UNSURE:
        return first
    other = reader.scores(image, scale, [_beginning(_turned(line, second)) for line in probes])
    return second if other > sure else first


def _beginning(line: TextLine) -> TextLine:
    return replace(line, quad=line.part(0, min(_PROBED / max(line.aspect, 1e-9), 1)))


def _turned(line: TextLine, turns: int) -> TextLine:
    """The line with the corner first where reading begins."""
    return replace(line, quad=np.roll(line.quad, -turns, axis=0))


def _upright(lines: Sequence[TextLine], turns: int, size: tuple[int, int]) -> list[TextLine]:
    """Lines in the coordinates of the page that is turned back."""
    height, width = size
    made = {
        0: lambda x, y: (x, y),
        1: lambda x, y: (y, width - x),
        2: lambda x, y: (width - x, height - y),
        3: lambda x, y: (height - y, x),
    }[turns]
    return [replace(line, quad=np.stack(made(line.quad[:, 0], line.quad[:, 1]), axis=1)) for line in lines]


def _read(
    image: np.ndarray, scale: float, lines: Sequence[TextLine], upright: Sequence[TextLine]
) -> tuple[list[TextLine], int]:
    """The lines, read in the order of promise while the budget lasts; and what was spent."""
    labels, order = _order(upright)
    whole = np.array(_fitting(reader.reading_widths(image, scale, lines), lines, labels), int)
    widths = np.where(labels, np.minimum(whole, _longest(whole[labels])), whole)
    known, spent, chosen = list(lines), 0, []
    for number in order:
        if spent + widths[number] <= (_READ_WIDTH if labels[number] else _SKIMMED_WIDTH):
            spent += widths[number]
            chosen.append(number)
    chosen.sort(key=lambda number: widths[number])  # a batch is padded to its longest line
    shares = [float(widths[i]) / float(whole[i]) for i in chosen]
    begun = [replace(lines[i], quad=lines[i].part(0, share)) for i, share in zip(chosen, shares, strict=True)]
    read = reader.read_lines(image, scale, begun, [int(widths[i]) for i in chosen], _LETTERS)
    for number, share, line in zip(chosen, shares, read, strict=True):
        if line.text is not None:
            known[number] = _with_blanks(line, lines[number], share)
    return known, int(spent)


def _with_blanks(begun: TextLine, line: TextLine, share: float) -> TextLine:
    """A line of which a share was read: what was not is blank."""
    text = begun.text or ""
    blanks = round(len(text) / share) - len(text)
    known = [share * begun.share(letter) for letter in range(len(text) + 1)]
    # From its end backwards, so that the last letter ends there where nothing is blank.
    return line.saying(text + blanks * " ", np.array([*known[:-1], *np.linspace(1, known[-1], blanks + 1)[::-1]]))


def _longest(widths: np.ndarray) -> float:
    """Width beyond which labels are not read, so that each is read at least in part: beginnings tell them apart."""
    least = np.sort(widths)
    left = np.arange(len(least), 0, -1)
    room = (_READ_WIDTH - (np.cumsum(least) - least)) / left  # for each of those that are no shorter
    short = np.flatnonzero(room < least)
    return max(float(np.floor(room[short[0]])), _HEAD) if len(short) else np.inf


def _fitting(widths: Sequence[int], lines: Sequence[TextLine], labels: np.ndarray) -> list[int]:
    """Narrower where there is much to read: words are told by most of their letters, figures by every one."""
    share = _FINE_WIDTH / max(sum(width for width, label in zip(widths, labels, strict=True) if label), 1)
    if share >= 1:
        return list(widths)
    least = [_NARROW_LONG if line.aspect >= reader.LONG else _NARROW for line in lines]
    return [
        width if line.aspect < _VALUE else max(round(width * max(share, floor)), 1)
        for width, line, floor in zip(widths, lines, least, strict=True)
    ]


def _order(lines: Sequence[TextLine]) -> tuple[np.ndarray, list[int]]:
    """Which lines are labels or values, and the order of reading.

    Labels and values come first, short ones before long ones; a long line with a value to its right, as titles have in
    tables of contents, is a label. Then running text: first what begins a paragraph and ends before the margin, which
    stands alone, and what stands beside a short line, as fields of forms do. Then what does one of both: code and
    entries of lists end early, of a paragraph the last line alone.
    """
    long = running(lines)
    boxes = np.array([line.box for line in lines]).reshape(-1, 4)
    alone = paragraph_heads(lines, long).astype(int) + ends_early(lines, long)
    alone[np.any(_level(boxes) & ~long, axis=1)] = 2
    labels = ~long | _beside_value(lines)
    short = sorted(np.flatnonzero(labels).tolist(), key=lambda number: lines[number].aspect)
    text = np.flatnonzero(~labels)
    return labels, [*short, *text[np.argsort(-alone[text], kind="stable")].tolist()]


def _beside_value(lines: Sequence[TextLine]) -> np.ndarray:
    """Whether a short line stands to the right of each in its row, bool [n]."""
    boxes = np.array([line.box for line in lines]).reshape(-1, 4)
    height = boxes[:, 3] - boxes[:, 1]
    value = np.array([line.aspect < _VALUE for line in lines], bool)
    beside = _level(boxes) & value & (boxes[:, 0] > boxes[:, 2][:, None] - 0.5 * height[:, None])
    return np.any(beside, axis=1).reshape(-1)


def _level(boxes: np.ndarray) -> np.ndarray:
    """Whether boxes [n, 4] stand in a row, bool [n, n]."""
    middle, height = (boxes[:, 1] + boxes[:, 3]) / 2, boxes[:, 3] - boxes[:, 1]
    return np.abs(middle[:, None] - middle) < 0.5 * np.minimum(height[:, None], height)


def overlooked(lines: Sequence[TextLine]) -> list[TextLine]:
    """Values that were not found, where a column of figures has a gap beside a label: single ones are easily missed.

    A column is five short lines that end at one place. What such a value says is not known; it is given the text of the
    value of the column that is nearest, so that it counts as one of that kind.
    """
    boxes = np.array([line.box for line in lines]).reshape(-1, 4)
    middle, height = (boxes[:, 1] + boxes[:, 3]) / 2, boxes[:, 3] - boxes[:, 1]
    values = np.flatnonzero([bool(line.text) and line.aspect < _VALUE for line in lines])
    labels = np.flatnonzero([sum(map(str.isalpha, line.text or "")) >= _LABEL for line in lines])
    made, known = [], np.zeros(len(lines), bool)
    for first in values:
        column = values[np.abs(boxes[values, 2] - boxes[first, 2]) < 0.5 * height[first]]
        if known[first] or len(column) < _COLUMN:
            continue
        known[column] = True
        if np.median([len(lines[one].text or "") for one in column]) > _FIGURES:
            continue
        left, right = float(np.median(boxes[column, 0])), float(np.median(boxes[column, 2]))
        for label in labels:
            level = np.abs(middle - middle[label]) < 0.5 * height[label]
            between = (
                middle[column].min() - _ABOVE * height[label] < middle[label] < middle[column].max()
                and boxes[label, 2] < left
            )
            # Numbers that were taken for one line from top to bottom are none of them.
            beside = level & (boxes[:, 2] > boxes[label, 2]) & (height < _TALL * height[label])
            if between and not beside.any():
                like = column[np.argmin(np.abs(middle[column] - middle[label]))]
                _, top, _, bottom = boxes[label]
                quad = np.array([[left, top], [right, top], [right, bottom], [left, bottom]])
                made.append(TextLine(quad, lines[like].text))
    return made
