"""The nodes of all parts in the level order of one tree, written as `save_tree` writes it."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from hra.domains.points.outofcore.forest import FORMS, Forest, Run
from hra.domains.points.outofcore.node_columns import NodeColumns
from hra.files.atomic_write import write_atomically


class _Slice(NamedTuple):
    """Nodes that follow each other in the columns and in the file; what is added to the parents that stand there."""

    first: int
    length: int
    shift: int


def assemble(forest: Forest, columns: NodeColumns, out: Path) -> int:
    """Write the tree of all parts, and return how many nodes it has."""
    slices = _level_order(forest)
    nodes = sum(one.length for one in slices)
    write_atomically(out, lambda stream: _write(stream, columns, slices, nodes))
    return nodes


def _level_order(forest: Forest) -> list[_Slice]:
    """Level after level, and within one along the Z-order curve, which is the order of `build_tree`."""
    tree, begin = forest.above.tree, forest.above.begin.tolist()
    parent, levels = tree.parent.tolist(), tree.levels
    # A node above all parts is a run of itself.
    runs = {node: Run(forest.end + node, (0, 1)) for node in range(len(parent))}
    parts = {int(tree.leaf[number]): run for number, run in forest.runs.items()}
    runs |= parts
    slices, at, live = [], 0, {}
    start: dict[int, int] = {}  # where the last level of each run that was passed begins
    for depth in range(len(levels) + max(len(run.levels) for run in parts.values())):
        live |= {node: 0 for node in range(*levels[depth])} if depth < len(levels) else {}
        for node in sorted(live, key=begin.__getitem__):
            run, level = runs[node], live[node]
            first, end = run.levels[level : level + 2]
            if level:
                shift = start[node] - run.levels[level - 1]
            elif parent[node] < 0:
                shift = 0
            else:  # the roots of parts have no parent where they stand
                shift = start[parent[node]] - (-1 if node in parts else parent[node])
            slices.append(_Slice(run.first + first, end - first, shift))
            start[node] = at
            at += end - first
        live = {node: level + 1 for node, level in live.items() if level + 2 < len(runs[node].levels)}
    return slices


def _write(stream: IO[bytes], columns: NodeColumns, slices: list[_Slice], nodes: int) -> None:
    with zipfile.ZipFile(stream, "w") as archive:
        with archive.open("kind.npy", "w", force_zip64=True) as member:
            np.lib.format.write_array(member, np.array("points"), allow_pickle=False)
        for name, (kind, width) in FORMS.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                shape = (nodes, width) if width else (nodes,)
                np.lib.format.write_array_header_1_0(member, {"descr": kind, "fortran_order": False, "shape": shape})
                for first, length, shift in slices:
                    values = columns.read(name, first, length)
                    member.write((values + np.int32(shift) if name == "parent" else values).tobytes())
