"""Canvases as arrays, to train on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from hra_lab.evidence.canvas import Canvas
from hra_lab.evidence.questions import COLOURS

_MOST = 6


@dataclass(frozen=True, eq=False)
class Stock:
    """N canvases as arrays.

    Attributes
    ----------
    images : uint8 [N, 256, 256, 3].
    things : int16 [N, T, 6], (x0, y0, x1, y1, answer, colour); answer -1 where a canvas has less.
    ground : int8 [N], number of its colour.
    """

    images: np.ndarray
    things: np.ndarray
    ground: np.ndarray

    @classmethod
    def of(cls, made: Iterable[Canvas]) -> Stock:
        """The arrays of canvases."""
        images, things, ground = [], [], []
        for canvas in made:
            rows = [(*t.box, t.answer, COLOURS.index(t.colour)) for t in canvas.things[:_MOST]]
            images.append(canvas.image)
            things.append(rows + [(0, 0, 1, 1, -1, -1)] * (_MOST - len(rows)))
            ground.append(COLOURS.index(canvas.ground))
        return cls(np.stack(images), np.array(things, np.int16), np.array(ground, np.int8))
