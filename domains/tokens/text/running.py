"""Which lines are running text, which of them begin a paragraph, and which are complete before the margin."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hra.domains.tokens.text.lines import TextLine

_LONG = 12.0  # aspect from which a line is not a label and no value
_WIDE, _RATHER_LONG = 0.6, 8.0  # or this share of the width of all text: loose boxes make lines look shorter
_APART = 1.25  # of the usual distance of lines
_EARLY = 3.0  # heights of a line before the margin: more than most words that would not fit are long


def running(lines: Sequence[TextLine]) -> np.ndarray:
    """Whether each line is running text, bool [n]."""
    aspects = np.array([line.aspect for line in lines])
    boxes = np.array([line.box for line in lines]).reshape(-1, 4)
    width = np.ptp(boxes[:, [0, 2]]) if len(lines) else 0.0
    return (aspects >= _LONG) | ((aspects >= _RATHER_LONG) & (boxes[:, 2] - boxes[:, 0] >= _WIDE * width))


def paragraph_heads(lines: Sequence[TextLine], long: np.ndarray) -> np.ndarray:
    """Whether each line stands farther below the line above it than running text usually does, bool [n].

    Parameters
    ----------
    long : which lines are running text, bool [n].
    """
    x0, y0, x1, y1 = np.array([line.box for line in lines]).reshape(-1, 4).T
    middle = (y0 + y1) / 2
    # From the middle of the nearest line above to that of each line; infinite without one.
    over = (x0 < x1[:, None]) & (x1 > x0[:, None]) & (middle < middle[:, None])
    gaps = np.where(over, middle[:, None] - middle, np.inf).min(axis=1, initial=np.inf)
    known = gaps[np.isfinite(gaps) & long]
    return gaps > _APART * (np.median(known) if len(known) else 0.0)


def ends_early(lines: Sequence[TextLine], long: np.ndarray) -> np.ndarray:
    """Whether each line ends well before the rightmost end of running text, bool [n].

    Parameters
    ----------
    long : which lines are running text, bool [n].
    """
    ends, heights = np.array([line.box[2] for line in lines]), np.array([line.height for line in lines])
    return ends < ends[long].max(initial=0) - _EARLY * heights
