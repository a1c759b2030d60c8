"""Trees over regular grids: every 2 x 2 cells are one cell of the next level."""

from __future__ import annotations

import numpy as np

from hra.errors import HraError
from hra.kernels.pyramids.levels.layout import Layout
from hra.kernels.trees.tree import Tree


def grid_tree(height: int, width: int) -> Tree:
    """The quadtree over a grid of features, from one cell for all of it down to the single features.

    Cell (y, x) has the children (2y, 2x), (2y, 2x + 1), (2y + 1, 2x) and (2y + 1, 2x + 1) as far as they exist. Nodes
    are numbered level by level from coarse to fine, row by row; row ``y * width + x`` of leaf values is feature (y, x).
    One tree serves a batch: values are [B, height * width, C].

    Raises
    ------
    HraError : height or width below 1.
    """
    for name, size in (("height", height), ("width", width)):
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 1:
            raise HraError(f"{name} is {size!r}", where=f"argument {name}", fix="a whole number >= 1")
    sizes = Layout.of((int(height), int(width), 1), None).sizes[::-1]
    first = np.cumsum([0] + [rows * columns for rows, columns in sizes])
    parents = [np.full(1, -1)]
    for begin, (_, above), (rows, columns) in zip(first, sizes, sizes[1:], strict=False):
        y, x = np.indices((rows, columns)).reshape(2, -1)
        parents.append(begin + y // 2 * above + x // 2)
    return Tree.of(np.concatenate(parents))
