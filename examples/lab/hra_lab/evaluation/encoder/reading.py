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
    x, y = (each.ravel() for each in np.meshgrid(axis, axis))
    centres, width = (boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2] - boxes[:, 0]
    inside = (x[:, None] >= boxes[:, 0]) & (x[:, None] < boxes[:, 2]) & (y[:, None] >= boxes[:, 1])
    inside &= y[:, None] < boxes[:, 3]
    far = np.hypot(x[:, None] - centres[:, 0], y[:, None] - centres[:, 1])
    # Of the tokens that show a point the smallest, then the nearest; without one the nearest of all.
    owner = np.where(inside, width * 1e3 + far, 1e6 + far).argmin(axis=1).reshape(cells * fine, -1)
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
    last = len(owner) - 1
    count = max(1, round(reach * fine))
    first = np.rint(place * fine - count / 2).astype(int)
    columns, rows = (np.clip(start + np.arange(count), 0, last) for start in first)
    return owner[np.ix_(rows, columns)].ravel()
