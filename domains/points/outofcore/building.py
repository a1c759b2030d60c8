"""``build_out_of_core``: the tree over a cloud that does not fit into memory."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from hra.domains.points.outofcore.assembling import assemble
from hra.domains.points.outofcore.forest import FORMS, Forest
from hra.domains.points.outofcore.las_records import las_records
from hra.domains.points.outofcore.memory import points_of_part
from hra.domains.points.outofcore.node_columns import NodeColumns
from hra.errors import LimitExceeded
from hra.files.local_files import local_path
from hra.files.scratch_folder import scratch_folder
from hra.kernels.chunking import octree_cells

# Nodes are counted by int32, and there are fewer than two for each point.
_MOST = 2**30


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
    memory. Scratch files lie in ``OUT.parts``, about 100 bytes for each point, and go in the end.

    Parameters
    ----------
    source : LAS, LAZ or COPC, all of it. out : a file as `save_tree` writes it.
    memory : bytes that may be held, at least 260 MiB.

    Raises
    ------
    FileError : another format, a damaged file, one without points, or a file cannot be written.
    HraError : too little memory, or ``OUT.parts`` holds something else. MissingExtra : laspy is not installed.
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
    file, target, most = local_path(source), local_path(out), points_of_part(memory)
    with scratch_folder(target, {"points": str(file.resolve())}, resumed=False) as folder:
        records, bounds = las_records(file, folder / "points")
        if records.count > _MOST:
            raise LimitExceeded(f"the file has {records.count:,} points", where=str(file)[:500], fix="split it")
        cells = octree_cells(records, bounds, most, folder)
        _keep({cell.path for cell in cells}, folder)
        columns = NodeColumns(folder, FORMS)
        nodes = assemble(Forest(cells, bounds, columns), columns, target)
    low, high = (tuple(corner) for corner in bounds.tolist())
    return CloudReport(records.count, nodes, low, high, parts=len(cells), part_points=most)


def _keep(used: set[Path], folder: Path) -> None:
    """Only the files of points that are still read."""
    for file in folder.glob("points*"):
        if file not in used:
            file.unlink()
