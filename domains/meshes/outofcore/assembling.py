"""The parts of all rounds as one file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hra.domains.meshes.asset.info import cluster_facts, info_text
from hra.domains.meshes.asset.layout import PAGE_BYTES, Kind
from hra.domains.meshes.asset.packing import page_ends
from hra.domains.meshes.asset.streaming import StreamedBody, Table, write_streamed
from hra.domains.meshes.asset.streams import FORMS, POSITION
from hra.domains.meshes.outofcore.part import GROUP_BITS
from hra.domains.meshes.outofcore.pieces import load_arrays
from hra.domains.meshes.ragged import run_offsets
from hra.model.hierarchy import Hierarchy
from hra.safety.atomic_write import write_atomically

# Bytes of a vertex of a cluster: its number and its position.
_VERTEX_BYTES = 16


def assemble(parts: list[Path], vertices: int, certified: bool, out: Path) -> dict[str, int]:
    """Write the mesh of all ``parts``, fine to coarse, and what is in it."""
    links = _Links.of(parts)
    facts = cluster_facts(*links.facts(), certified=certified)
    content = _Content.of(parts, links)
    body = StreamedBody(
        tables=_tables(content, links, certified),
        blocks={"bounds": content.bounds(), "info": info_text(facts, None, [])},
        streams={POSITION: FORMS[POSITION]},
        page_ends=page_ends(content.cluster_bytes, links.added_by, PAGE_BYTES),
        pages=content.pages,
        page_offsets=run_offsets(content.cluster_bytes),
        vertices=vertices,
        triangles=int(content.triangles.sum()),
    )
    write_atomically(out, lambda stream: write_streamed(stream, body))
    return facts


@dataclass(frozen=True, eq=False)
class _Links:
    """Clusters in the order of the file, which is that of the groups that they are members of.

    Attributes
    ----------
    order : int64 [N], each cluster's place among those of all parts; added_by, removed_by : int32 [N].
    level : int32 [N]; triangles : int64 [N]; groups : how many there are.
    first : int64 [R + 1], the run of clusters (base or group) that each run of the parts is in the file.
    """

    order: np.ndarray
    added_by: np.ndarray
    removed_by: np.ndarray
    level: np.ndarray
    triangles: np.ndarray
    groups: int
    run: np.ndarray

    @classmethod
    def of(cls, parts: list[Path]) -> _Links:
        names = ["group_sizes", "done_made_by", "done_level", "done_triangle_count"]
        found = [load_arrays(part, names) for part in parts]
        runs = [one["group_sizes"] for one in found]
        # The last run is the base, which is no group.
        groups = np.array([len(sizes) for sizes in runs])
        groups[-1] -= 1
        # Coarse first, as hierarchies are: the last group of the last part is 0.
        last = np.cumsum(groups[::-1])[::-1] - 1
        own = np.concatenate([end - np.arange(count) for end, count in zip(last, groups, strict=True)] + [[-1]])
        sizes = np.concatenate(runs)
        made_by, level, triangles = (np.concatenate([one[name] for one in found]) for name in names[1:])
        made = last[np.maximum(made_by >> GROUP_BITS, 0)] - (made_by & (2**GROUP_BITS - 1))
        removed_by = np.where(made_by < 0, -1, made)
        hierarchy = Hierarchy.groups(triangles, np.repeat(own, sizes), removed_by, cost_unit="triangles")
        added_by = hierarchy.added_by
        order = np.argsort(added_by, kind="stable")
        run = added_by[run_offsets(sizes)[:-1]] + 1
        links = hierarchy.removed_by[order]
        return cls(order, added_by[order], links, level[order], triangles[order], len(hierarchy), run)

    def facts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
        return self.level, self.added_by, self.triangles, self.groups


@dataclass(frozen=True, eq=False)
class _Content:
    """The clusters of the parts, in the order of the file.

    Attributes
    ----------
    place : int64 [N], where in the file the clusters of the parts stand, part after part.
    vertex_count, triangles, cluster_bytes : int64 [N], in the order of the file.
    run_first : int64 [R + 1], the first cluster of each run of the file.
    runs : for each run of the file its part's content, and where it begins and ends there.
    """

    parts: list[Path]
    place: np.ndarray
    vertex_count: np.ndarray
    triangles: np.ndarray
    cluster_bytes: np.ndarray
    run_first: np.ndarray
    source: np.ndarray
    begins: np.ndarray

    @classmethod
    def of(cls, parts: list[Path], links: _Links) -> _Content:
        place = np.empty(len(links.order), np.int64)
        place[links.order] = np.arange(len(links.order))
        count = links.groups + 1
        source, begins = np.empty(count, np.int64), np.empty((count, 2), np.int64)
        at = 0
        for number, part in enumerate(parts):
            own = load_arrays(part, ["group_begins"])["group_begins"]
            rows = links.run[at : at + len(own) - 1]
            source[rows], begins[rows] = number, np.stack([own[:-1], own[1:]], axis=1)
            at += len(rows)
        vertex_count = _column(parts, place, "vertex_count").astype(np.int64)
        sizes = vertex_count * _VERTEX_BYTES + 3 * links.triangles
        first = np.append(np.searchsorted(links.added_by, np.arange(-1, links.groups)), len(place))
        return cls(parts, place, vertex_count, links.triangles, sizes, first, source, begins)

    def column(self, name: str) -> np.ndarray:
        """A table of the file."""
        return _column(self.parts, self.place, name)

    def bounds(self) -> np.ndarray:
        """Least and largest coordinates, float32 [2, 3]: boxes of the base are around everything."""
        box = self.column("box")[: self.run_first[1]]
        return np.stack([box[:, 0].min(axis=0), box[:, 1].max(axis=0)])

    def pages(self, ends: np.ndarray) -> Iterator[bytes]:
        """The bytes of the pages that end at clusters ``ends`` [P]."""
        begin, run = 0, 0
        cached: tuple[int, bytes] = (-1, b"")
        for end in ends.tolist():
            numbers, positions, corners = [], [], []
            while begin < end:
                while self.run_first[run + 1] <= begin:
                    run += 1
                if cached[0] != run:
                    cached = run, self._read(run)
                stop = min(end, int(self.run_first[run + 1]))
                for pieces, piece in zip(
                    (numbers, positions, corners), self._cut(run, begin, stop, cached[1]), strict=True
                ):
                    pieces.append(piece)
                begin = stop
            yield b"".join([*numbers, *positions, *corners])

    def _read(self, run: int) -> bytes:
        begin, end = self.begins[run].tolist()
        with self.parts[int(self.source[run])].with_suffix(".content").open("rb") as stream:
            stream.seek(begin)
            return stream.read(end - begin)

    def _cut(self, run: int, begin: int, end: int, data: bytes) -> tuple[bytes, bytes, bytes]:
        """Numbers, positions and corners of the clusters ``begin`` to ``end`` of a run."""
        first, last = self.run_first[run : run + 2].tolist()
        if (begin, end) == (first, last):
            low, high, total = 0, int(self.vertex_count[first:last].sum()), int(self.vertex_count[first:last].sum())
        else:
            low = int(self.vertex_count[first:begin].sum())
            high = low + int(self.vertex_count[begin:end].sum())
            total = int(self.vertex_count[first:last].sum())
        corner = 3 * int(self.triangles[first:begin].sum())
        stop = corner + 3 * int(self.triangles[begin:end].sum())
        behind = 16 * total
        return (
            data[4 * low : 4 * high],
            data[4 * total + 12 * low : 4 * total + 12 * high],
            data[behind + corner : behind + stop],
        )


def _column(parts: list[Path], place: np.ndarray, name: str) -> np.ndarray:
    result, at = None, 0
    for part in parts:
        rows = load_arrays(part, [f"done_{name}"])[f"done_{name}"]
        if result is None:
            result = np.empty((len(place), *rows.shape[1:]), rows.dtype)
        result[place[at : at + len(rows)]] = rows
        at += len(rows)
    return np.empty(0) if result is None else result


def _tables(content: _Content, links: _Links, certified: bool) -> dict[str, Table]:
    known = {
        "added_by": lambda: links.added_by,
        "removed_by": lambda: links.removed_by,
        "triangle_count": lambda: links.triangles.astype("<u2"),
        "vertex_count": lambda: content.vertex_count.astype("<i4"),
    }
    forms = {
        "added_by": ("<i4", ()),
        "removed_by": ("<i4", ()),
        "triangle_count": ("<u2", ()),
        "area": ("<f8", ()),
        "box": ("<f4", (2, 3)),
        "center": ("<f4", (3,)),
        "error": ("<f4", ()),
        **({"hausdorff": ("<f4", ())} if certified else {}),
        "level": ("<i4", ()),
        "radius": ("<f4", ()),
        "vertex_count": ("<i4", ()),
    }

    def maker(name: str) -> Callable[[], np.ndarray]:
        return known.get(name) or (lambda: content.column(name))

    count = len(links.order)
    return {
        name: Table(Kind.CLUSTER, np.dtype(kind), shape, count, maker(name)) for name, (kind, shape) in forms.items()
    }
