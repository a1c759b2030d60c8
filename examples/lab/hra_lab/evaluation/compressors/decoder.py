"""What can be told of features from the tokens of their cells: repeated, or decoded by a linear map."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Cell = tuple[int, int]
"""Rows and columns of features below one token."""

# Of the mean square of the tokens' numbers: what a further unit of the map costs. A map without a price does worse on
# the page of text, which it has seen least of, than repeating its tokens does.
_PRICE = 1e-3


@dataclass(frozen=True, eq=False)
class Decoder:
    """Features of each cell as its token, plus an affine map of it.

    Attributes
    ----------
    cell : features below a token.
    matrix : float64 [D + 1, features of a cell * D]; the last row is for a 1 behind the token.
    """

    cell: Cell
    matrix: np.ndarray

    @classmethod
    def repeating(cls, width: int, cell: Cell) -> Decoder:
        """Every feature is the token of its cell."""
        return cls(cell, np.zeros((width + 1, cell[0] * cell[1] * width)))

    @classmethod
    def fitted(cls, tokens: list[np.ndarray], features: list[np.ndarray], cell: Cell, price: float = _PRICE) -> Decoder:
        """Ridge regression over tokens [r, c, D] and features [rows, columns, D] of pictures, each as important."""
        repeated = cls.repeating(features[0].shape[2], cell)
        weights = [1 / np.sqrt(spread(each) * each.size) for each in features]
        rows = np.concatenate([w * _with_one(each) for w, each in zip(weights, tokens, strict=True)])
        missing = [whole - repeated.decode(each) for whole, each in zip(features, tokens, strict=True)]
        wanted = np.concatenate([w * _cells(each, cell) for w, each in zip(weights, missing, strict=True)])
        square = rows.T @ rows
        paid = price * np.trace(square) / len(square)
        return cls(cell, np.linalg.solve(square + paid * np.eye(len(square)), rows.T @ wanted))

    def decode(self, tokens: np.ndarray) -> np.ndarray:
        """Features [rows, columns, D] from tokens [r, c, D]."""
        r, c, width = tokens.shape
        made = (_with_one(tokens) @ self.matrix).reshape(r, c, *self.cell, width) + tokens[:, :, None, None]
        return made.swapaxes(1, 2).reshape(r * self.cell[0], c * self.cell[1], width)


def spread(features: np.ndarray) -> float:
    """Mean squared distance of features [rows, columns, D] from their mean, for each number."""
    return float(features.var(axis=(0, 1)).mean()) + 1e-30


def _with_one(tokens: np.ndarray) -> np.ndarray:
    flat = tokens.reshape(-1, tokens.shape[-1]).astype(np.float64)
    return np.concatenate([flat, np.ones((len(flat), 1))], axis=1)


def _cells(features: np.ndarray, cell: Cell) -> np.ndarray:
    rows, columns, width = features.shape
    parts = features.reshape(rows // cell[0], cell[0], columns // cell[1], cell[1], width)
    return parts.swapaxes(1, 2).reshape(-1, cell[0] * cell[1] * width)
