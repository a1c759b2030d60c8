"""The parts of all rounds as one file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hra.domains.meshes.asset.info import info_text
from hra.domains.meshes.asset.layout import POSITION, Kind
from hra.domains.meshes.asset.tables import FORMS
from hra.domains.meshes.asset.writing import StreamedBody, Table, write_streamed
from hra.domains.meshes.outofcore.group_order import GroupOrder, Segment
from hra.domains.meshes.outofcore.page_content import PagePlan
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


def assemble(parts: list[Path], vertices: int, certified: bool, out: Path) -> dict[str, Any]:
    """Write the mesh of all ``parts``, fine to coarse, and what is in it."""
    order = GroupOrder.of(parts)
    sums, plan = _Sums.of(order), PagePlan.of(order)
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
        page_ends=plan.ends,
        page_sizes=plan.sizes,
        pages=lambda: plan.pages(order),
        vertices=vertices,
        triangles=sums.all_triangles,
        clusters=sums.clusters,
    )
    write_atomically(out, lambda stream: write_streamed(stream, body))
    return facts


@dataclass(frozen=True)
class _Sums:
    """Of all clusters; triangles : of the source, all_triangles : of all levels."""

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
