"""Windows of an image in which two ways to show it differ most, enlarged."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from hra.files.images import psnr
from hra.pages.demo.pictures import images

# Windows are this share of the image's shorter side, and begin at multiples of a quarter of theirs.
_SHARE = 0.22


def crops(image: np.ndarray, ours: np.ndarray, other: np.ndarray, names: tuple[str, str]) -> Figure:
    """The two windows in which ``ours`` is ahead most, and the one in which ``other`` is, if there is one.

    Parameters
    ----------
    image, ours, other : [H, W, 3] in 0 .. 1; names : of the two.
    """
    ahead, side = _lead(image, ours, other)
    places = _best(ahead, 2) + [place for place in _best(-ahead, 1) if ahead[place] < 0]
    panels = []
    for row, column in places:
        window = np.s_[row * side // 4 : row * side // 4 + side, column * side // 4 : column * side // 4 + side]
        panels.append(("the image, enlarged", image[window]))
        panels += [
            (f"{name}: {psnr(shown[window], image[window]):.1f} dB here", shown[window])
            for name, shown in zip(names, (ours, other), strict=True)
        ]
    return images(panels, columns=3, width=3.2)


def _lead(image: np.ndarray, ours: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, int]:
    """By how much less squared error ``ours`` has in every window, and how many pixels wide windows are."""
    side = max(int(_SHARE * min(image.shape[:2])) // 4 * 4, 4)
    lead = (np.square(other - image) - np.square(ours - image)).sum(axis=2)
    total = np.pad(lead.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    summed = total[side:, side:] - total[:-side, side:] - total[side:, :-side] + total[:-side, :-side]
    return summed[:: side // 4, :: side // 4], side


def _best(value: np.ndarray, count: int) -> list[tuple[int, int]]:
    """Places of the largest values whose windows do not overlap."""
    left, places = value.copy(), []
    while len(places) < count and np.isfinite(left).any():
        row, column = (int(i) for i in np.unravel_index(np.argmax(left), left.shape))
        places.append((row, column))
        left[max(row - 3, 0) : row + 4, max(column - 3, 0) : column + 4] = -np.inf
    return places
