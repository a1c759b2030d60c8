"""Features that an encoder gave for an image, in rows and columns, of any array kind.

The regions of tokens share the cells of such a grid by area.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hra.compiling import njit
from hra.errors import ArrayError
from hra.model.arrays import indices, to_numpy

Grid = tuple[int, int]
"""(rows, columns)."""


@dataclass(frozen=True, eq=False)
class FeatureGrid:
    """Features of the cells of a grid over an image, row by row. Make it with `of`.

    Attributes
    ----------
    values : floating point [rows * columns, D]; a torch tensor on its device where one was given, else NumPy.
    grid : (rows, columns).
    """

    values: Any
    grid: Grid

    @classmethod
    def of(cls, features: Any, grid: Grid | None = None) -> FeatureGrid:
        """Features [h, w, D], or [N, D] with a ``grid`` of N cells.

        Raises
        ------
        ArrayError : another shape, a grid that does not fit, no numbers, NaN or infinite values.
        """
        grid = None if grid is None else checked_grid(grid)
        values = features if is_torch(features) else to_numpy(features)
        shape = tuple(values.shape)
        _check_numbers(values, shape)
        if len(shape) == 3 and grid in (None, shape[:2]):
            grid = (shape[0], shape[1])
        elif len(shape) != 2 or grid is None or grid[0] * grid[1] != shape[0]:
            raise ArrayError(f"features of shape {shape} are not those of a grid", where="features", fix=_fix(shape))
        return cls(_floating(values.reshape(grid[0] * grid[1], shape[-1])), grid)

    def edges(self, size: Grid, patch: int) -> tuple[np.ndarray, np.ndarray]:
        """Pixels at which rows [rows + 1] and columns [columns + 1] begin and end in an image (height, width).

        A grid of the image's own patches lies on them, the last ones clipped; any other is stretched over the image.
        """
        rows, columns = self.grid
        if self.grid == (-(-size[0] // patch), -(-size[1] // patch)):
            down, across = np.arange(rows + 1.0), np.arange(columns + 1.0)
            return np.minimum(down * patch, size[0]), np.minimum(across * patch, size[1])
        return np.linspace(0, size[0], rows + 1), np.linspace(0, size[1], columns + 1)


def checked_grid(grid: Any, name: str = "grid") -> Grid:
    """``grid`` as two ints from 1 on, else ArrayError."""
    rows, columns = indices(name, grid, 1, 2**31, 2).tolist()
    return rows, columns


def take_rows(values: Any, index: np.ndarray) -> Any:
    """Rows ``index`` int [n] of NumPy or torch ``values`` [N, D]."""
    return values[index if isinstance(values, np.ndarray) else move_to(index, values)]


def move_to(array: np.ndarray, like: Any) -> Any:
    """An array as a tensor on the device of ``like``."""
    from torch import from_numpy

    return from_numpy(np.ascontiguousarray(array)).to(like.device)


def is_torch(values: Any) -> bool:
    """Whether an array is a torch tensor; torch itself is not imported."""
    return type(values).__module__.split(".")[0] == "torch" or hasattr(values, "requires_grad_")


def _check_numbers(values: Any, shape: tuple[int, ...]) -> None:
    numeric = values.dtype.kind in "iuf" if isinstance(values, np.ndarray) else not values.is_complex()
    if not numeric or 0 in shape:
        raise ArrayError(f"features of shape {shape} and {values.dtype} are not vectors", where="features")
    if _is_finite(values):
        return
    finite = np.isfinite(values) if isinstance(values, np.ndarray) else values.isfinite()
    if not finite.all():
        index = np.argwhere(~to_numpy(finite))[0].tolist()
        raise ArrayError("a feature is not finite", where=f"features{index}", fix="pass finite numbers")


def _is_finite(values: Any) -> bool:
    """Whether a sum of squares says so: one pass without a table. Large numbers and strides are not decided here."""
    if not isinstance(values, np.ndarray):
        return bool(values.detach().sum().isfinite())  # torch's sums are as quick
    if values.dtype.kind != "f" or not values.flags.c_contiguous:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(np.dot(values.ravel(), values.ravel())))


def _floating(values: Any) -> Any:
    """float32 where the numbers are whole; NumPy always becomes float32, the kind that tokens have."""
    if isinstance(values, np.ndarray):
        return values.astype(np.float32, copy=False)
    return values if values.is_floating_point() else values.float()


def _fix(shape: tuple[int, ...]) -> str:
    """How to pass features of a shape that is not one of a grid; which rows and columns is for the caller to know."""
    if len(shape) == 4:
        return "pass one image's features: features[0]"
    if len(shape) == 3:
        return f"pass one image's features, features[0], with grid=(rows, columns) of {shape[1]} cells"
    cells = shape[0] if len(shape) == 2 else "N"
    return f"pass [h, w, D], or [N, D] with grid=(rows, columns) of {cells} cells; a class token is none: features[1:]"


class Regions(NamedTuple):
    """The regions of tokens as rectangles: several of one token add up.

    owner : int64 [R], the token of each rectangle; boxes : float64 [R, 4], (x0, y0, x1, y1) in pixels.
    """

    owner: np.ndarray
    boxes: np.ndarray

    @classmethod
    def of(cls, boxes: np.ndarray) -> Regions:
        """One rectangle for each token."""
        return cls(np.arange(len(boxes)), np.asarray(boxes, np.float64))


class Overlaps(NamedTuple):
    """What tokens and cells share, sorted by token, then cell.

    token, cell : int64 [n]; area : float64 [n], square pixels, > 0.
    """

    token: np.ndarray
    cell: np.ndarray
    area: np.ndarray

    @classmethod
    def of(cls, regions: Regions, rows: np.ndarray, columns: np.ndarray) -> Overlaps:
        """The overlaps of regions with the cells, row by row, between the edges of ``rows`` and ``columns``."""
        cells = (rows.size - 1) * (columns.size - 1)
        key, area = _overlaps(regions.owner, regions.boxes, rows, columns)
        shared, index = np.unique(key, return_inverse=True)
        return cls(*np.divmod(shared, cells), np.bincount(index, area, minlength=shared.size))

    def totals(self, count: int) -> np.ndarray:
        """Square pixels of each of ``count`` tokens that lie on the grid, float64."""
        return np.bincount(self.token, self.area, minlength=count)


def _overlaps(owner: np.ndarray, boxes: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> tuple:
    first_x, last_x = _touched(boxes[:, 0], boxes[:, 2], columns)
    first_y, last_y = _touched(boxes[:, 1], boxes[:, 3], rows)
    count = int(np.maximum(last_x - first_x, 0) @ np.maximum(last_y - first_y, 0))
    key, area = np.empty(count, np.int64), np.empty(count)
    _list(owner, boxes, rows, columns, first_x, last_x, first_y, last_y, key, area)
    return key, area


def _touched(low: np.ndarray, high: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first cell that each interval touches and the one behind the last."""
    return np.maximum(np.searchsorted(edges, low, "right") - 1, 0), np.searchsorted(edges[:-1], high, "left")


@njit(cache=True)
def _list(owner, boxes, rows, columns, first_x, last_x, first_y, last_y, key, area):
    across, next_free = columns.size - 1, 0
    cells = across * (rows.size - 1)
    for k in range(len(boxes)):
        for y in range(first_y[k], last_y[k]):
            height = min(boxes[k, 3], rows[y + 1]) - max(boxes[k, 1], rows[y])
            for x in range(first_x[k], last_x[k]):
                width = min(boxes[k, 2], columns[x + 1]) - max(boxes[k, 0], columns[x])
                key[next_free] = owner[k] * cells + y * across + x
                area[next_free] = max(height, 0.0) * max(width, 0.0)
                next_free += 1


def runs(labels: np.ndarray) -> Regions:
    """Labels int [H, W] (-1 for none) as rectangles of one row of pixels each."""
    height, width = labels.shape
    begins = np.ones((height, width), bool)
    begins[:, 1:] = labels[:, 1:] != labels[:, :-1]
    y, x = np.nonzero(begins)
    ends = np.append(x[1:], 0)
    ends[ends == 0] = width
    kept = labels[y, x] >= 0
    boxes = np.stack([x, y, ends, y + 1], axis=1)[kept]
    return Regions(labels[y, x][kept].astype(np.int64), boxes.astype(np.float64))
