"""The trees of all parts, and the tree above them: the same nodes as those of one tree over all points.

The nodes of the parts lie on disk, an array after the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hra.domains.points.cloud.cloud_tree import CLASSES, FIELD
from hra.domains.points.cloud.extent import Extent
from hra.domains.points.cloud.moments import (
    NEIGHBOURS,
    Moments,
    areas_of,
    check_finite,
    commonest,
    counts_of,
    disc_sizes,
    likenesses,
    majorities,
    merged,
    overhangs,
    raised,
    spacing,
    spreads,
)
from hra.kernels.chunking import Records
from hra.kernels.trees import PointTree, build_tree

FORMS = {
    "parent": ("<i4", 0),
    **{name: ("<f4", 3) for name in ("position", "color")},
    **{name: ("<f4", 0) for name in ("reach", "size", "color_loss", "cover_loss", "shift")},
}
_LOSSES = ("color_loss", "cover_loss", "shift")
# Position and colour.
WIDTH = 6


@dataclass(frozen=True)
class Run:
    """The nodes of a tree in the columns: the first, where each level begins from there, and last their number."""

    first: int
    levels: tuple[int, ...]


class Forest:
    """Parts and the tree above, whose leaves they are, in three sweeps: spacing, discs, and what sticks out of them.

    Where a part holds fewer points than a spacing is known from, its radii come from above; what a disc that sticks out
    costs is relative to the root's. Each sweep goes over the parts, then over the tree above.

    Parameters
    ----------
    cells : rows of points (position, colour, bytes of fields) in octree cells, in Z-order.
    extent : of the positions.
    columns : takes the nodes, of `FORMS` and of fields: those of each part, last those of the tree above.
    fields : types of fields, see `packed_type`.

    Attributes
    ----------
    above : the tree over the parts. runs : of each part, by its number, in the order of the columns; end : where that
        of the tree above begins there.
    """

    def __init__(self, cells: list[Records], extent: Extent, columns: NodeColumns, fields: np.dtype) -> None:
        self._cells, self._columns, self._fields = cells, columns, fields
        self._extent, self._bounds = extent, extent.octree_box()
        width = cells[0].width
        # Of each part: the point that stands for it, and how many points there are of each class.
        self._likenesses = np.zeros((len(cells), width), np.float32)
        self._classes = np.zeros((len(cells), 256), np.int64)
        first = [Records(cell.path, cell.width, cell.first, 1).read()[0, :3] for cell in cells]
        self.above = build_tree(np.array(first), bounds=self._bounds)
        self.runs: dict[int, Run] = {}
        self.end = 0
        self._counts, self._areas = _no_moments(len(cells)), _no_moments(len(cells))
        self._roots = {name: np.zeros(len(cells), np.float32) for name in ("size", *_LOSSES)}
        with np.errstate(over="ignore", invalid="ignore"):  # refused in the end
            self._sweep_spacing()
            self._sweep_overhangs()

    def _sweep_spacing(self) -> None:
        """Sweep spacings, and discs for each part that tells by itself how far its points lie apart."""
        few = [number for number in range(len(self._cells)) if not self._sweep_part(number)]
        parent, leaf = self.above.tree.parent, self.above.tree.leaf
        radii = spacing(parent, leaf, merged(parent, leaf, self._counts))
        for number in few:
            rows = self._cells[number].read()
            self._make_discs(number, self._grown(rows), rows, np.full(len(rows), radii[number]))

    def _sweep_part(self, number: int) -> bool:
        """Whether a part itself tells how far its points lie apart. A method, so that nothing of a part is kept."""
        rows = self._cells[number].read()
        grown = self._grown(rows)
        parent, leaf = grown.tree.parent, grown.tree.leaf
        counts = counts_of(parent, leaf, rows[:, :WIDTH])
        _put(self._counts, number, counts)
        if len(rows) < NEIGHBOURS:
            return False
        radii = spacing(parent, leaf, counts)
        del counts  # as large as what is found next
        self._make_discs(number, grown, rows, radii)
        return True

    def _grown(self, rows: np.ndarray) -> PointTree:
        return build_tree(np.ascontiguousarray(rows[:, :3]), bounds=self._bounds)

    def _make_discs(self, number: int, grown: PointTree, rows: np.ndarray, radii: np.ndarray) -> None:
        parent, leaf = grown.tree.parent, grown.tree.leaf
        values = np.ascontiguousarray(rows[:, :WIDTH])
        found = areas_of(parent, leaf, values, radii)
        like = likenesses(parent, leaf, found.mean, values)
        self._likenesses[number] = rows[like[0]]
        self._add_fields(parent, leaf, rows, like, number)
        del values, like
        _put(self._areas, number, found)
        size = disc_sizes(parent, leaf, found, radii)
        losses = {"color_loss": found.color_loss, "shift": spreads(found)}
        losses = {name: raised(parent, leaf, loss, 0) for name, loss in losses.items()}
        self._columns.add(parent=parent, size=size, **_shown(found), **losses)
        self.runs[number] = Run(self.end, grown.tree.level_offsets)
        self.end += len(parent)
        for name, values in {"size": size, **losses}.items():
            self._roots[name][number] = values[0]

    def _add_fields(
        self, parent: np.ndarray, leaf: np.ndarray, rows: np.ndarray, like: np.ndarray, number: int | None
    ) -> None:
        """Fields of the nodes of a part, or of the tree above: node v has those of ``rows[like[v]]``.

        One field after the other: together they may take more than all else that a part takes.
        """
        for name in self._fields.names or ():
            own = unpacked(rows[:, WIDTH:], self._fields, name)
            values = own[like]
            if name == CLASSES:
                if number is not None:
                    self._classes[number] = np.bincount(own, minlength=256)
                    values = commonest(parent, leaf, own)
                else:
                    some = np.flatnonzero(self._classes.any(axis=0))
                    found = majorities(parent, leaf, some, lambda value: self._classes[:, int(value)])
                    values = found.astype(own.dtype)
            self._columns.add(**{FIELD + name: values})

    def _sweep_overhangs(self) -> None:
        parent, leaf = self.above.tree.parent, self.above.tree.leaf
        found = merged(parent, leaf, self._areas)
        size = disc_sizes(parent, leaf, found, self._roots["size"])
        for number, run in self.runs.items():
            below, own = (self._columns.read(name, run.first, run.levels[-1]) for name in ("parent", "size"))
            loss = raised(below, _leaves(below), overhangs(own, size[0]), 0)
            self._columns.add(cover_loss=loss)
            self._roots["cover_loss"][number] = loss[0]
        losses = {"color_loss": found.color_loss, "cover_loss": overhangs(size, size[0]), "shift": spreads(found)}
        losses = {name: raised(parent, leaf, loss, self._roots[name]) for name, loss in losses.items()}
        # What is not finite below makes the root so, too.
        extent = float((self._extent.high - self._extent.low).max())
        arrays = [found.mean[0], found.reach[0], size[0], *losses.values()]
        check_finite(arrays, float(found.mass[0]), extent, extent, sum(cell.count for cell in self._cells))
        self._columns.add(parent=parent, size=size, **_shown(found), **losses)
        like = likenesses(parent, leaf, found.mean, self._likenesses[:, :3])
        self._add_fields(parent, leaf, self._likenesses, like, None)


def packed_type(fields: Mapping[str, np.ndarray]) -> np.dtype:
    """The type of a row of fields, little-endian, in their order, padded to whole float32."""
    forms = [(name, rows.dtype.newbyteorder("<"), rows.shape[1:]) for name, rows in fields.items()]
    packed = np.dtype(forms).itemsize if forms else 0
    names, kinds, offsets, at = [], [], [], 0
    for name, kind, shape in forms:
        form = np.dtype((kind, shape))
        names, kinds, offsets, at = [*names, name], [*kinds, form], [*offsets, at], at + form.itemsize
    return np.dtype({"names": names, "formats": kinds, "offsets": offsets, "itemsize": packed + -packed % 4})


def places_of(kind: np.dtype) -> dict[str, tuple[np.dtype, int]]:
    """Type of each field and where it begins in a row, in their order."""
    held: Any = kind.fields or {}
    return {name: held[name][:2] for name in kind.names or ()}


def packed(fields: Mapping[str, np.ndarray], kind: np.dtype, count: int) -> np.ndarray:
    """The fields of ``count`` points as float32 [count, k] of their bytes."""
    rows = np.zeros((count, kind.itemsize), np.uint8)
    for name, (own, at) in places_of(kind).items():
        values = np.ascontiguousarray(fields[name], own.base)
        rows[:, at : at + own.itemsize] = values.view(np.uint8).reshape(count, -1)
    return rows.view(np.float32)


def unpacked(rows: np.ndarray, kind: np.dtype, name: str) -> np.ndarray:
    """A field of rows that `packed` made."""
    own, at = places_of(kind)[name]
    # Rows that follow each other in memory would be copied as a whole.
    content = rows.view(np.uint8)[:, at : at + own.itemsize]
    return np.ascontiguousarray(content).view(own.base).reshape(len(rows), *own.shape)


def _no_moments(count: int) -> Moments:
    return Moments(*(np.zeros(shape, np.float32) for shape in (count, (count, 6), (count, 6), count, count)))


def _put(roots: Moments, number: int, found: Moments) -> None:
    """Keep the root of a part."""
    for rows, own in zip(roots, found, strict=True):
        rows[number] = own[0]


def _shown(found: Moments) -> dict[str, np.ndarray]:
    return {"position": found.mean[:, :3], "color": found.mean[:, 3:].clip(0, 1), "reach": found.reach}


def _leaves(parent: np.ndarray) -> np.ndarray:
    inner = np.zeros(len(parent), bool)
    inner[parent[1:]] = True
    return np.flatnonzero(~inner)


class NodeColumns:
    """Files of what nodes have, to which parts are added.

    Parameters
    ----------
    folder : for the files; forms : dtype and length of a row, 0 for a number, by name.
    """

    def __init__(self, folder: Path, forms: Mapping[str, tuple[str, int]]) -> None:
        self.forms = dict(forms)
        self._files = {name: folder / f"nodes-{name}" for name in forms}
        for file in self._files.values():
            file.write_bytes(b"")

    def add(self, **arrays: np.ndarray) -> None:
        """Add rows to some of the columns."""
        for name, values in arrays.items():
            with self._files[name].open("ab") as out:
                np.ascontiguousarray(values, self.forms[name][0]).tofile(out)

    def read(self, name: str, first: int, count: int) -> np.ndarray:
        """Some rows of a column."""
        kind, width = self.forms[name]
        numbers, size = max(width, 1), np.dtype(kind).itemsize
        # Not mapped: mapped pages count as memory of this process for as long as the system likes.
        values = np.fromfile(self._files[name], kind, count * numbers, offset=first * numbers * size)
        return values.reshape(count, width) if width else values
