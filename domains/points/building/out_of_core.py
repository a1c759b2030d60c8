"""``build_out_of_core``: the tree over a cloud that does not fit into memory.

LAS and LAZ files become records on disk, block by block; each part gets a tree of its own. The nodes of all parts are
written in the level order of one tree, as `save_tree` writes it.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from hra.domains.points.building.forest import FORMS, WIDTH, Forest, NodeColumns, Run, packed, packed_type, places_of
from hra.domains.points.cloud.cloud_tree import FIELD
from hra.domains.points.cloud.extent import Extent, GrowingExtent
from hra.domains.points.files.las import checked_reader, is_copc, read_las, rounding, warn_of_rounding
from hra.domains.points.files.las_header import (
    WEEK,
    GrowingShades,
    Place,
    check_header,
    las_errors,
    las_fields,
    las_library,
    las_place,
    las_shades,
    said_fields,
)
from hra.domains.points.files.saved import FIELD_ENTRY, additions, check_suffix
from hra.errors import ArrayError, FileError, HraError, LimitExceeded
from hra.files.atomic_write import write_atomically
from hra.files.local_files import local_path, open_regular
from hra.files.scratch_folder import scratch_folder
from hra.kernels.chunking import Records, octree_cells

# Nodes are counted by int32, and there are fewer than two for each point.
_MOST = 2**30
# Of points as they are stored: what is made of a block takes ten times as much.
_BLOCK_BYTES = 2**22
# Measured: what a process holds with everything imported, compiled and counted; and what a point of a part takes at
# most beside its fields, which are held once, and one of them three times.
_PROCESS_BYTES, _POINT_BYTES, _COPIES = 270 * 2**20, 360, 3
# Smaller parts would be read and written for ever.
_LEAST = 2**16


@dataclass(frozen=True)
class CloudReport:
    """What building a cloud in parts came to.

    Attributes
    ----------
    leaves, nodes : of the tree. low, high : corners of the positions.
    parts : octree cells that were built one by one; part_points : that each may have at most.

    Examples
    --------
    >>> from hra.domains import points
    >>> points.CloudReport(2, 3, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), parts=1, part_points=100_000).leaves
    2
    """

    leaves: int
    nodes: int
    low: tuple[float, ...]
    high: tuple[float, ...]
    parts: int
    part_points: int


def build_out_of_core(source: str | os.PathLike[str], out: str | os.PathLike[str], *, memory: int) -> CloudReport:
    """Build the tree over a LAS or LAZ file that does not fit into memory, and write it to a file.

    The points are sorted into the largest cells of the octree that fit into memory, each becomes a tree, and a tree
    over the cells' roots stands above them. The file is that of `build` and `save_tree` byte for byte, whatever the
    memory. Scratch files lie in ``OUT.parts`` and go in the end: about 100 bytes for each point and 2.6 times what its
    fields take.

    Parameters
    ----------
    source : LAS, LAZ or COPC, all of it. out : a file as `save_tree` writes it.
    memory : bytes that may be held by a process that does nothing else, at least 293 MiB, and more if points have
        fields.

    Raises
    ------
    FileError : another format, a damaged file, one without points, a suffix of ``out`` that is not ``.hpt``, or a file
        cannot be written.
    HraError : too little memory, or ``OUT.parts`` holds something else. MissingExtra : laspy is not installed.
    ArrayError : a coordinate that is not finite, or a cloud of 1e9 units or more.
    LimitExceeded : more than 2**30 points, more at one place than a part may have, or an archive that unpacks to too
        much.

    Examples
    --------
    >>> import laspy, numpy as np, tempfile
    >>> from hra.domains import points
    >>> las = laspy.create(point_format=2)
    >>> las.x = las.y = las.z = np.arange(5.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     las.write(f"{folder}/a.las")
    ...     points.build_out_of_core(f"{folder}/a.las", f"{folder}/a.hpt", memory=2**30).leaves
    5
    """
    check_suffix(out)
    file, target = local_path(source), local_path(out)
    points_of_part(memory, packed_type({}))  # too little for any points is said before they are read
    with scratch_folder(target, {"points": str(file.resolve())}, resumed=False) as folder:
        facts, full = las_facts(file)
        most = points_of_part(memory, facts.kind)
        records, extent = las_records(file, folder / "points", facts, full)
        if records.count > _MOST:
            raise LimitExceeded(f"the file has {records.count:,} points", where=str(file)[:500], fix="split it")
        try:
            cells = octree_cells(records, extent.octree_box(), most, folder)
        except LimitExceeded as error:  # it names the file of records, which the caller does not know
            raise LimitExceeded(error.what, where=str(file)[:500], fix=error.fix) from error
        _keep({cell.path for cell in cells}, folder)
        places = places_of(facts.kind)
        fields = {FIELD + n: (own.base.str, own.shape[0] if own.shape else 0) for n, (own, _) in places.items()}
        columns = NodeColumns(folder, {**FORMS, **fields})
        nodes = assemble(Forest(cells, extent, columns, facts.kind), columns, target, facts)
    low, high = (tuple(corner.tolist()) for corner in (extent.low, extent.high))
    return CloudReport(records.count, nodes, low, high, parts=len(cells), part_points=most)


def _keep(used: set[Path], folder: Path) -> None:
    """Keep only the files of points that are still read."""
    for file in folder.glob("points*"):
        if file not in used:
            file.unlink()


class _Slice(NamedTuple):
    """Nodes that follow each other in the columns and in the file; what is added to the parents that stand there."""

    first: int
    length: int
    shift: int


class Facts(NamedTuple):
    """What holds for all points: the type of their fields, see `packed_type`; origin and coordinate system."""

    kind: np.dtype
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)
    crs: dict[int, bytes] = {}  # noqa: RUF012, never changed


def assemble(forest: Forest, columns: NodeColumns, out: Path, facts: Facts) -> int:
    """Write the tree of all parts, and return how many nodes it has."""
    slices = _level_order(forest)
    nodes = sum(one.length for one in slices)
    write_atomically(out, lambda stream: _write(stream, columns, slices, nodes, facts))
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


def _write(stream: IO[bytes], columns: NodeColumns, slices: list[_Slice], nodes: int, facts: Facts) -> None:
    names = [name.removeprefix(FIELD) for name in columns.forms if name.startswith(FIELD)]
    entries = {
        f"{FIELD_ENTRY}{names.index(n.removeprefix(FIELD))}" if n.startswith(FIELD) else n: n for n in columns.forms
    }
    more = additions(names, facts.origin, facts.crs)
    with zipfile.ZipFile(stream, "w") as archive:

        def write(entry: str, array: np.ndarray) -> None:
            with archive.open(f"{entry}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)

        write("kind", np.array("points"))
        for entry, name in entries.items():
            if entry == f"{FIELD_ENTRY}0":
                for addition, array in more.items():
                    write(addition, array)
            kind, width = columns.forms[name]
            with archive.open(f"{entry}.npy", "w", force_zip64=True) as member:
                shape = (nodes, width) if width else (nodes,)
                np.lib.format.write_array_header_1_0(member, {"descr": kind, "fortran_order": False, "shape": shape})
                for first, length, shift in slices:
                    values = columns.read(name, first, length)
                    member.write((values + np.int32(shift) if name == "parent" else values).tobytes())
        if not names:
            for addition, array in more.items():
                write(addition, array)


def las_facts(source: Path) -> tuple[Facts, GrowingShades]:
    """What holds for all points of a file, and what its colours and intensities mean.

    Where coordinates begin, what colours are full and which fields say something is known after the last point.

    Raises
    ------
    FileError : not LAS or LAZ, damaged, or without points. LimitExceeded : it would unpack to more than an archive may.
    MissingExtra : laspy is not installed.
    """
    if source.suffix.lower() not in (".las", ".laz"):
        fix = "convert it to LAS, or build it without --memory"
        raise FileError("only LAS and LAZ files are read in blocks", where=str(source)[:500], fix=fix)
    there, full, place = None, GrowingShades(), Place({}, False, ())
    said, fixed = dict[str, np.ndarray](), False
    steps = np.full(3, np.inf)
    for places, shades, fields, place, total, fixed, steps in _blocks(source):  # noqa: B007, the same for all
        there = there or GrowingExtent(total)
        there.add(places)
        full.add(shades)
        for name, rows in fields.items():  # one row that says something, if any does
            if not len(said.get(name, ())):
                said[name] = rows[rows.reshape(len(rows), -1).any(axis=1)][:1]
    kind = packed_type(said_fields({n: rows for n, rows in said.items() if len(rows)}, place, str(source)))
    whole = None if there is None else there.extent()
    if whole is None or not np.isfinite(whole.low).all() or not np.isfinite(whole.high).all():
        raise FileError("the file holds no points", where=str(source)[:500])
    corners = whole.map_corners()
    warn_of_rounding(rounding(corners[1] - corners[0]), steps, str(source)[:500])
    x, y, z = read_las(source, 0).origin if fixed else corners[0].tolist()
    return Facts(kind, (x, y, z), place.crs), full


def las_records(source: Path, path: Path, facts: Facts, full: GrowingShades) -> tuple[Records, Extent]:
    """Write positions, colours and fields of all points as float32 rows [P, 6 + k], as `read_las` would give them.

    Parameters
    ----------
    facts, full : of the file, see `las_facts`.

    Returns
    -------
    The rows, and the extent of their positions.

    Raises
    ------
    ArrayError : a coordinate that is not finite. FileError : see `las_facts`.
    """
    kind, local, count = facts.kind, None, 0
    with path.open("wb") as out:
        for places, shades, fields, _, total, *_ in _blocks(source):
            rows = np.column_stack([places - facts.origin, full.shown(shades)]).astype(np.float32)
            if not np.isfinite(rows).all():
                raise ArrayError("a coordinate is not finite", where=str(source)[:500], fix="repair the file")
            own = {WEEK if name == "gps_time" and WEEK in (kind.names or ()) else name: v for name, v in fields.items()}
            np.hstack([rows, packed(own, kind, len(rows))]).tofile(out)
            local = local or GrowingExtent(total)
            local.add(rows[:, :3])
            count += len(rows)
    if local is None:
        raise FileError("the file holds no points", where=str(source)[:500])
    return Records(path, WIDTH + kind.itemsize // 4, 0, count), local.extent()


class _Block(NamedTuple):
    """Positions float64 [n, 3], colours and intensities [n, 4] as they are stored, fields; and `las_place`.

    ``total``: points of the file. ``fixed``: what coordinates count from is known from its root, see `read_copc`.
    ``steps``: of the file's coordinates [3].
    """

    places: np.ndarray
    shades: np.ndarray
    fields: dict[str, np.ndarray]
    place: Place
    total: int
    fixed: bool
    steps: np.ndarray


def _blocks(source: Path) -> Iterator[_Block]:
    where = str(source)
    las_library()  # what is missing is said first
    with open_regular(source) as stream:
        size = os.fstat(stream.fileno()).st_size
        claims = check_header(stream, size, where)
        with las_errors(where):
            reader = checked_reader(stream, size, claims, where)
            at = stream.tell()
            place, fixed = las_place(reader.header, stream, size), is_copc(stream, size, claims)
            stream.seek(at)
        step = max(_BLOCK_BYTES // max(claims.length, 1), 1)
        for _ in range(0, claims.points, step):
            with las_errors(where):
                found = reader.read_points(step)
                block = np.column_stack([found.x, found.y, found.z]), las_shades(found), las_fields(found)
            yield _Block(*block, place, claims.points, fixed, reader.header.scales)


def points_of_part(memory: int, fields: np.dtype) -> int:
    """How many points the trees of parts may have within ``memory`` bytes; ``fields`` : their type, see `packed_type`.

    Raises
    ------
    HraError : too little for any part.
    """
    point_bytes = _POINT_BYTES + fields.itemsize
    point_bytes += _COPIES * max((own.itemsize for own, _ in places_of(fields).values()), default=0)
    points = (memory - _PROCESS_BYTES) // point_bytes
    if points < _LEAST:
        least = _PROCESS_BYTES + _LEAST * point_bytes
        what = f"{memory:,} bytes are too little to build a cloud in parts"
        what += f" whose points have fields of {fields.itemsize:,} bytes" if fields.itemsize else ""
        raise HraError(what, where="memory", fix=f"allow {-(-least // 2**20)} MiB or more")
    return points
