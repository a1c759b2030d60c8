"""From the features of tokens to a map of features over the encoder's grid: which token shows each cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

CELLS = 16
"""Along a side: the grid of the full run."""


@dataclass(frozen=True, eq=False)
class Reading:
    """Weights float32 [256, K] of the features of K tokens for every cell.

    Attributes
    ----------
    owner : every cell takes the token that shows it, and else the nearest one.
    blended : the same, smoothed as bilinear interpolation smooths a small map, by the size of the token.
    """

    owner: np.ndarray
    blended: np.ndarray


def reading_of(boxes: np.ndarray, cells: int = CELLS) -> Reading:
    """How tokens at ``boxes`` [K, 4] (x0, y0, x1, y1), in cells of the grid, are read; smaller ones lie above.

    A cell of a token that is w cells wide takes the mean of what is shown in a window w cells wide around it. In a
    whole grid that is bilinear interpolation exactly; a token of one cell keeps its value. A cell that no token shows
    takes the mean of what is nearest, in a window that reaches to the nearest centre.
    """
    fine = 6  # points along a side of a cell
    axis = (np.arange(cells * fine) + 0.5) / fine
    centres, width = (boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2] - boxes[:, 0]
    # Along each axis by itself, points [P, K]: distances from centres, and whether tokens reach there.
    apart = [axis[:, None] - centres[:, side] for side in (0, 1)]
    in_x, in_y = ((axis[:, None] >= boxes[:, side]) & (axis[:, None] < boxes[:, side + 2]) for side in (0, 1))
    far = np.sqrt(apart[0] ** 2 + apart[1][:, None] ** 2)
    # Of the tokens that show a point the smallest, then the nearest; without one the nearest of all.
    owner = (np.where(in_x & in_y[:, None], width * 1e3, 1e6) + far).argmin(axis=2)
    owned, blended = (np.zeros((cells * cells, len(boxes)), np.float32) for _ in range(2))
    for cell in range(cells * cells):
        row, column = divmod(cell, cells)
        place = np.array([column + 0.5, row + 0.5])
        shows = np.all((boxes[:, :2] <= place) & (boxes[:, 2:] > place), axis=1)
        distance = np.hypot(*(centres - place).T)
        if shows.any():
            own = np.flatnonzero(shows)[width[shows].argmin()]
            reach = float(width[own])
        else:
            own, reach = int(distance.argmin()), max(1.0, 2 * float(distance.min()))
        owned[cell, own] = 1
        blended[cell] = np.bincount(_window(owner, place, reach, fine), minlength=len(boxes))
    return Reading(owned, blended / blended.sum(axis=1, keepdims=True))


def _window(owner: np.ndarray, place: np.ndarray, reach: float, fine: int) -> np.ndarray:
    """The tokens at the points of a square window; over the border the outermost points count on."""
    last, count = len(owner) - 1, max(1, round(reach * fine))
    first = np.rint(place * fine - count / 2).astype(int)
    columns, rows = (np.minimum(np.maximum(np.arange(start, start + count), 0), last) for start in first.tolist())
    return owner[rows[:, None], columns].ravel()
