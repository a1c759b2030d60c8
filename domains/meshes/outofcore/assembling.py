"""The parts of all rounds as one file.

Pages come from the contents of parts: where each ends, and its bytes, one run of clusters after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hra.domains.meshes.asset.info import info_text
from hra.domains.meshes.asset.layout import PAGE_BYTES, POSITION, Kind
from hra.domains.meshes.asset.packing import cut_pages
from hra.domains.meshes.asset.tables import FORMS
from hra.domains.meshes.asset.writing import StreamedBody, Table, write_streamed
from hra.domains.meshes.mesh.ragged import run_offsets
from hra.domains.meshes.outofcore.group_order import GroupOrder, Segment
from hra.domains.meshes.outofcore.pieces import load_arrays
from hra.files.atomic_write import write_atomically

_FORMS = {
    "added_by": ("<i4", ()),
    "removed_by": ("<i4", ()),
    "triangle_count": ("<u2", ()),
    "area": ("<f8", ()),
    "box": ("<f4", (2, 3)),
    "center": ("<f4", (3,)),
    "error": ("<f4", ()),
    "hausdorff": ("<f4", ()),
    "level": ("<i4", ()),
    "radius": ("<f4", ()),
    "vertex_count": ("<i4", ()),
}
# Bytes of a vertex of a cluster: its number and its position.
_VERTEX_BYTES = 16


def assemble(
    parts: list[Path], vertices: int, certified: bool, out: Path, origin: tuple[float, float, float]
) -> dict[str, Any]:
    """Write the mesh of all ``parts``, fine to coarse, whose positions count from an origin, and what is in it."""
    order = GroupOrder.of(parts)
    sums, layout = _Sums.of(order), PageLayout.of(order)
    facts = {**sums.facts(), "groups": len(order.order), "certified": certified}
    names = ("triangles", "clusters", "groups", "levels", "root_triangles", "certified")
    facts = {name: facts[name] for name in names}
    (box,) = next(order.segments()).load("done_box")
    body = StreamedBody(
        tables=_tables(order, sums.clusters, certified),
        # Boxes of the base are around everything.
        blocks={
            "bounds": np.stack([box[:, 0].min(axis=0), box[:, 1].max(axis=0)]),
            "info": info_text(facts, None, []),
        },
        streams={POSITION: FORMS[POSITION]},
        page_ends=layout.ends,
        page_sizes=layout.sizes,
        pages=lambda: layout.pages(order),
        vertices=vertices,
        origin=origin,
        triangles=sums.all_triangles,
        clusters=sums.clusters,
    )
    write_atomically(out, lambda stream: write_streamed(stream, body))
    return facts


@dataclass(frozen=True)
class _Sums:
    """Totals of all clusters; triangles : of the source, all_triangles : of all levels."""

    clusters: int
    triangles: int
    all_triangles: int
    levels: int
    root_triangles: int

    @classmethod
    def of(cls, order: GroupOrder) -> _Sums:
        clusters, source, total, levels, root = 0, 0, 0, 0, 0
        for segment in order.segments():
            level, triangles = segment.load("done_level", "done_triangle_count")
            clusters += len(level)
            source += int(triangles[level == 0].sum())
            total += int(triangles.sum())
            levels = max(levels, int(level.max(initial=-1)) + 1)
            root += int(triangles.sum()) if segment.first < 0 else 0
        return cls(clusters, source, total, levels, root)

    def facts(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("triangles", "clusters", "levels", "root_triangles")}


def _tables(order: GroupOrder, clusters: int, certified: bool) -> dict[str, Table]:
    links: dict[str, Callable[[Segment], np.ndarray]] = {
        "added_by": Segment.groups,
        "removed_by": lambda segment: order.places(*segment.load("done_made_by")),
        # As `ClusterMesh.from_table` has it: there are positions alone.
        "error": lambda segment: np.minimum(*segment.load("done_error", "done_hausdorff")),
    }

    def blocks(name: str) -> Iterator[np.ndarray]:
        make = links.get(name) or (lambda segment: segment.load(f"done_{name}")[0])
        return map(make, order.segments())

    def maker(name: str) -> Callable[[], Iterable[np.ndarray]]:
        return lambda: blocks(name)

    return {
        name: Table(Kind.CLUSTER, np.dtype(kind), shape, clusters, maker(name))
        for name, (kind, shape) in _FORMS.items()
        if certified or name != "hausdorff"
    }


@dataclass(frozen=True, eq=False)
class PageLayout:
    """Where pages end.

    Attributes
    ----------
    ends : int64 [P], clusters; sizes : int64 [P], bytes.
    """

    ends: np.ndarray
    sizes: np.ndarray

    @classmethod
    def of(cls, order: GroupOrder) -> PageLayout:
        """The same as for all clusters at once: a page goes on in the next segment."""
        ends, at, clusters, total, used = [], [], 0, 0, 0
        for segment in order.segments():
            vertices, triangles = segment.load("done_vertex_count", "done_triangle_count")
            sizes = _VERTEX_BYTES * vertices.astype(np.int64) + 3 * triangles.astype(np.int64)
            own, used = cut_pages(sizes, segment.groups(), PAGE_BYTES, used)
            offsets = run_offsets(sizes)
            ends.append(own + clusters)
            at.append(offsets[own] + total)
            clusters, total = clusters + len(sizes), total + int(offsets[-1])
        bytes_at = np.concatenate([*at, [total]])
        return cls(np.concatenate([*ends, [clusters]]), np.diff(bytes_at, prepend=0))

    def pages(self, order: GroupOrder) -> Iterator[bytes]:
        """The bytes of one page after the other."""
        ends, at, page = iter(self.ends.tolist()), 0, _Page()
        end = next(ends)
        for run in (run for segment in order.segments() for run in _runs(segment)):
            begin, count = 0, len(run.vertices) - 1
            while begin < count:
                stop = min(count, begin + end - at)
                page.add(run, begin, stop)
                at, begin = at + stop - begin, stop
                if at == end:
                    yield page.take()
                    end = next(ends, -1)


@dataclass(frozen=True, eq=False)
class _Run:
    """The content of a run of clusters; vertices, corners : int64 [n + 1], where each of them begins."""

    data: bytes
    vertices: np.ndarray
    corners: np.ndarray

    def cut(self, begin: int, end: int) -> tuple[bytes, bytes, bytes]:
        """Numbers, positions and corners of the clusters ``begin`` to ``end``."""
        low, high, total = (int(self.vertices[k]) for k in (begin, end, -1))
        behind = _VERTEX_BYTES * total
        return (
            self.data[4 * low : 4 * high],
            self.data[4 * total + 12 * low : 4 * total + 12 * high],
            self.data[behind + int(self.corners[begin]) : behind + int(self.corners[end])],
        )


class _Page:
    """What a page holds so far."""

    def __init__(self) -> None:
        self._columns: tuple[list[bytes], list[bytes], list[bytes]] = ([], [], [])

    def add(self, run: _Run, begin: int, end: int) -> None:
        for column, piece in zip(self._columns, run.cut(begin, end), strict=True):
            column.append(piece)

    def take(self) -> bytes:
        """Its bytes; it is empty then."""
        content = b"".join(piece for column in self._columns for piece in column)
        for column in self._columns:
            column.clear()
        return content


def _runs(segment: Segment) -> Iterator[_Run]:
    names = ["group_sizes", "group_begins", "done_vertex_count", "done_triangle_count"]
    sizes, begins, vertices, triangles = load_arrays(segment.part, names).values()
    rows = run_offsets(sizes)
    with segment.part.with_suffix(".content").open("rb") as stream:
        for run in segment.runs.tolist():
            own = slice(int(rows[run]), int(rows[run + 1]))
            stream.seek(int(begins[run]))
            data = stream.read(int(begins[run + 1] - begins[run]))
            yield _Run(data, run_offsets(vertices[own]), run_offsets(3 * triangles[own].astype(np.int64)))
