"""A contact sheet: many methods on one image, each with where its tokens are and what they give back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hra.domains.tokens.pictures.lettering import GAP, written
from hra.domains.tokens.pyramid.downsample import resize
from hra.errors import ArrayError, check_kind
from hra.model.arrays import to_numpy, whole_number

_LINE = 18  # pixels of a line


@dataclass(frozen=True, eq=False)
class Panel:
    """One method on the sheet.

    Attributes
    ----------
    pictures : [H, W, 3] each, uint8 or floats in [0, 1], shown side by side.
    lines : of text below them.

    Raises
    ------
    ArrayError : other pictures. HraError : lines that are no texts.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> panel = tokens.Panel([np.zeros((90, 160, 3), np.uint8)], ["pyramid", "273 tokens"])
    >>> len(panel.pictures), panel.lines[0]
    (1, 'pyramid')
    """

    pictures: Sequence[np.ndarray]
    lines: Sequence[str]

    def __post_init__(self) -> None:
        check_kind("pictures", self.pictures, (list, tuple), "pass a list of images [H, W, 3]")
        for number, picture in enumerate(self.pictures):
            array = to_numpy(picture)
            # Other integers are no colours that are known: 16 bits, or bytes that were widened.
            if array.ndim != 3 or array.shape[2] != 3 or not (array.dtype == np.uint8 or array.dtype.kind == "f"):
                what = f"pictures[{number}] must be [H, W, 3] of uint8 or floats, got {array.dtype} {list(array.shape)}"
                raise ArrayError(what, where=f"pictures[{number}]")
        check_kind("lines", self.lines, (list, tuple), "pass a list of texts")
        for number, line in enumerate(self.lines):
            check_kind(f"lines[{number}]", line, str, "pass a list of texts")


def contact_sheet(panels: Sequence[Panel], columns: int = 2, width: int = 360) -> np.ndarray:
    """All panels in rows of ``columns``, every picture ``width`` pixels wide.

    Parameters
    ----------
    panels : with as many pictures each, all of one size.

    Returns
    -------
    uint8 [H, W, 3].

    Raises
    ------
    ArrayError : no panel, panels that differ in number or size of their pictures, or no columns or width.
    MissingExtra : Pillow is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> panels = [tokens.Panel([np.zeros((90, 160, 3), np.uint8)], [name]) for name in ("grid", "pyramid")]
    >>> tokens.contact_sheet(panels, columns=2, width=160).shape[2]
    3
    """
    fix = "pass a list of tokens.Panel(pictures, lines)"
    check_kind("panels", panels, (list, tuple), fix)
    for number, panel in enumerate(panels):
        check_kind(f"panels[{number}]", panel, Panel, fix)
    if len({tuple(picture.shape for picture in panel.pictures) for panel in panels}) != 1:
        raise ArrayError("a contact sheet needs panels of equal pictures", where="panels")
    counts = whole_number(columns) or 0, whole_number(width) or 0
    if min(counts) < 1:
        what = f"a sheet of {columns} columns of {width} pixels"
        raise ArrayError(what, where="columns, width", fix="use whole numbers of 1 or more")
    columns, width = counts
    lines = max(len(panel.lines) for panel in panels)
    cells = [_cell(panel, width, lines) for panel in panels]
    blank = np.full_like(cells[0], 255)
    cells += [blank] * (-len(cells) % columns)
    rows = [np.concatenate(cells[first : first + columns], axis=1) for first in range(0, len(cells), columns)]
    return np.concatenate(rows)


def _cell(panel: Panel, width: int, lines: int) -> np.ndarray:
    """The panel's pictures with its text below, on white."""
    small = [_thumbnail(picture, width) for picture in panel.pictures]
    below = np.full((lines * _LINE + GAP, small[0].shape[1], 3), 255, np.uint8)
    columns = [np.pad(picture, ((GAP, 0), (GAP, 0), (0, 0)), constant_values=255) for picture in small]
    text = np.pad(below, ((0, 0), (0, sum(column.shape[1] for column in columns) - width), (0, 0)), constant_values=255)
    return np.concatenate([np.concatenate(columns, axis=1), written(text, panel.lines, height=_LINE)])


def _thumbnail(picture: np.ndarray, width: int) -> np.ndarray:
    pixels = picture / np.float32(255) if picture.dtype == np.uint8 else picture
    height = max(1, round(width * pixels.shape[0] / pixels.shape[1]))
    small = resize(np.ascontiguousarray(pixels, np.float32), (height, width))
    return np.rint(255 * np.clip(small, 0, 1)).astype(np.uint8)
