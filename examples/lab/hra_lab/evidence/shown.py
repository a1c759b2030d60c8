"""What each token shows, as the generator knows it: a label for every token instead of one for every question."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hra_lab.evidence.canvas import Thing
from hra_lab.evidence.questions import COLOURS
from hra_lab.evidence.sprites import PATTERNS

PARTS = (2, len(PATTERNS), len(COLOURS))
"""How many labels there are of each part: nothing or a thing, its pattern, and the colour of its plate."""
# A token shows a thing if one covers so much of the other. Of one so many times as large nothing is told.
COVERED = 0.3
LARGER = 10


def shown(boxes: np.ndarray, things: Sequence[Thing]) -> np.ndarray:
    """Labels int8 [K, 3] of tokens with ``boxes`` [K, 4], in the order of `PARTS`; -1 where nothing is to be told."""
    labels = np.array([(0, -1, -1), (-1, -1, -1), *map(_labels, things)], np.int8)
    if not things:
        return labels[:1].repeat(len(boxes), axis=0)
    # Sides up to 256: the area of the coarsest token does not fit the int16 of stored boxes.
    token, thing = boxes.astype(np.int64)[:, None], np.array([thing.box for thing in things])[None]
    common = np.minimum(token[..., 2:], thing[..., 2:]) - np.maximum(token[..., :2], thing[..., :2])
    areas = [np.prod(box[..., 2:] - box[..., :2], axis=-1) for box in (token, thing)]
    covered = common.clip(0).prod(axis=-1) / np.minimum(*areas)
    best = covered.argmax(axis=1)
    shows = covered.max(axis=1) > COVERED
    coarse = areas[0][:, 0] > LARGER * areas[1][0, best]
    return labels[np.where(shows, np.where(coarse, 1, 2 + best), 0)]


def _labels(thing: Thing) -> tuple[int, ...]:
    return (1, thing.answer, COLOURS.index(thing.colour))
