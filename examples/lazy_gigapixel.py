"""4,096 tokens for a picture of a tera-pixel that never exists: 20 levels, of which only a trace is made.

Run ``python examples/lazy_gigapixel.py [FOLDER]``; windows around the fixation are drawn there (default: out).
"""

import sys
import warnings
from pathlib import Path

import numpy as np
from numba import vectorize

from hra.errors import RepairWarning
from hra.files.images import save_png
from hra.model.lazy_hierarchy import LazyMetric, LazyQuadtree
from hra.traversals.lazy_best_first import LazyBestFirst

LEVELS, SIDE, FIXATION = 20, 2**20, (509_040, 570_365)  # a seahorse at -0.7436 + 0.1318i
GRID = (np.indices((4, 4)).reshape(2, -1).T + 0.5) / 4  # where a rectangle is sampled


@vectorize
def brightness(x, y):
    """Escape time of the Mandelbrot set, 0 to 1, at a pixel of the square -2.2 .. 0.8 by -1.5 .. 1.5."""
    c, z, steps = complex(x / SIDE * 3 - 2.2, y / SIDE * 3 - 1.5), 0j, 0
    while steps < 400 and z.real * z.real + z.imag * z.imag < 4:
        z, steps = z * z + c, steps + 1
    return (steps / 400) ** 0.3


class SampledError(LazyMetric):
    """Squared error of a tile's mean; windows of 1, 1/2, 1/4 ... of the picture around the fixation weigh the same."""

    def evaluate(self, nodes, context):
        """Errors of tiles for a fixation (x, y), in pixels."""
        return [self.sample(np.array(place) * SIDE / 2**level, SIDE / 2**level, context) for level, *place in nodes]

    def sample(self, corner, side, fixation):
        """The error of one tile, sampled in every window that it meets."""
        window = SIDE / 2.0 ** np.arange(LEVELS + 1)[:, None]
        low, high = np.maximum(corner, fixation - window / 2), np.minimum(corner + side, fixation + window / 2)
        share = np.prod(np.maximum(high - low, 0) / window, axis=1)
        met = share > 0  # the widest window may miss a tile at the picture's border
        value = brightness(*(low[met, None] + GRID * (high - low)[met, None]).reshape(-1, 2).T)
        weight = np.repeat(share[met], len(GRID)) / len(GRID) / len(window)
        return weight @ (value - np.average(value, weights=weight)) ** 2 if met.any() else 0.0


def window(cut, side, pixels=320):
    """A square of the picture around the fixation, uint8 [pixels, pixels, 3], in which each tile of the cut is flat."""
    low = np.clip(np.array(FIXATION) - side / 2, 0, SIDE - side)
    shown = np.full((pixels, pixels), 0.0)
    for level, *place in sorted(cut):
        tile = SIDE / 2**level
        x0, y0 = ((np.array(place) * tile - low) / side * pixels).clip(0, pixels).round().astype(int)
        x1, y1 = (((np.array(place) + 1) * tile - low) / side * pixels).clip(0, pixels).round().astype(int)
        shown[y0:y1, x0:x1] = np.mean(brightness(*(np.array(place) * tile + GRID * tile).T))
    return (255 * np.stack([shown**0.6, shown, shown**2], axis=2)).astype(np.uint8)


if __name__ == "__main__":
    warnings.simplefilter("ignore", RepairWarning)  # sampled errors are not quite monotone
    print(f"{(4 ** (LEVELS + 1) - 1) // 3:,} tiles in {LEVELS} levels")
    cut = []
    for allocation in LazyBestFirst(max_expansions=1000).improve(LazyQuadtree(LEVELS), SampledError(), 4096, FIXATION):
        cut = allocation.cut
        print(f"{allocation.expansions:,} expansions: {allocation}")
    (folder := Path(sys.argv[1] if len(sys.argv) > 1 else "out")).mkdir(parents=True, exist_ok=True)
    save_png(folder / "gigapixel.png", np.hstack([window(cut, SIDE / zoom) for zoom in (1, 64, 4096)]))
