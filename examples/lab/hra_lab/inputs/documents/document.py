"""A page with questions: what it shows, and where each answer stands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Field:
    """One labelled value of a page.

    Attributes
    ----------
    kind : what it is, such as "total"; see `fields.FIELDS`.
    label, value : as printed.
    quad : float64 [4, 2], corners (x, y) of the printed value in pixels, clockwise from the top left.
    """

    kind: str
    label: str
    value: str
    quad: np.ndarray

    @property
    def box(self) -> tuple[int, int, int, int]:
        """Pixels (x0, y0, x1, y1), end excluded, that enclose the value."""
        (x0, y0), (x1, y1) = np.floor(self.quad.min(axis=0)), np.ceil(self.quad.max(axis=0))
        return int(x0), int(y0), int(x1), int(y1)


@dataclass(frozen=True, eq=False)
class Document:
    """A page and its fields.

    Attributes
    ----------
    name : layout and number.
    image : float32 [H, W, 3] in [0, 1].
    texts : everything that is printed, in the order of printing.
    quads : float64 [4, 2] each, where it is printed, as `Field.quad`.
    photographed : whether it was seen by the camera model.
    """

    name: str
    image: np.ndarray
    fields: tuple[Field, ...]
    texts: tuple[str, ...] = ()
    quads: tuple[np.ndarray, ...] = ()
    photographed: bool = False
