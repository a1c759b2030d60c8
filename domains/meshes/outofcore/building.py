"""``build_out_of_core``: the cluster hierarchy of a mesh that does not fit into memory."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from hra.domains.meshes.building.settings import Settings
from hra.domains.meshes.building.threads import processors
from hra.domains.meshes.outofcore.assembling import assemble
from hra.domains.meshes.outofcore.corners import corner_blocks, source_files
from hra.domains.meshes.outofcore.memory import Share, check_source
from hra.domains.meshes.outofcore.pieces import load_arrays, save_arrays
from hra.domains.meshes.outofcore.rounds import build_rounds
from hra.domains.meshes.outofcore.welding import Numbering, weld_part
from hra.errors import FileError, MeshError
from hra.files.local_files import local_path
from hra.files.scratch_folder import scratch_folder
from hra.kernels.chunking import Records, chunk_records

_CORNERS = 9


@dataclass(frozen=True)
class OutOfCoreReport:
    """What building a mesh in parts came to.

    Attributes
    ----------
    triangles, vertices : of the source, without triangles of no extent; clusters, groups, levels : of the hierarchy.
    root_triangles : of the coarsest cut.
    parts : that were built, of all rounds; part_triangles : of the largest that there may be.

    Examples
    --------
    >>> from hra.domains import meshes
    >>> report = meshes.OutOfCoreReport(42480, 21260, 4700, 806, 10, 118, parts=1, part_triangles=199229)
    >>> report.root_triangles
    118
    """

    triangles: int
    vertices: int
    clusters: int
    groups: int
    levels: int
    root_triangles: int
    parts: int
    part_triangles: int


def build_out_of_core(
    source: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    memory: int,
    cluster_size: int = 64,
    group_size: int = 12,
    certified: bool = True,
    jobs: int = 1,
    threads: int | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> OutOfCoreReport:
    """Build the cluster hierarchy of a mesh file that does not fit into memory, and write it to a file.

    The triangles are sorted into parts, each of which fits; positions that parts share stay in place. What a quarter of
    the triangles of each part leave goes into new parts with other borders, until one part is left. Where the job is
    stopped it goes on when it is called again, and comes to the same bytes. What is done lies in ``OUT.parts``, which
    takes about 150 bytes for each triangle and goes when the file is there. Call it behind
    ``if __name__ == "__main__":`` with several jobs, see `hra.files.processes.in_processes`.

    Parameters
    ----------
    source : binary PLY, binary STL or OBJ, or a folder of parts of one mesh. Only positions are read, as float32.
    out : an ``.hra`` file.
    memory : bytes that all processes together may hold, at least 193 MiB, and 180 MiB and a byte for each triangle.
        It decides the parts, and so the result.
    cluster_size, group_size, certified : see `build`.
    jobs : processes; threads : of one process, all processors by default. The result does not depend on them, but that
        more jobs make smaller parts.
    progress : called with the triangles that are simplified away and those of the source.

    Raises
    ------
    FileError : the source is of another format or damaged, or a file cannot be written.
    MeshError : no triangles, or a coordinate that is not finite.
    HraError : too little memory (said once the triangles are counted), or ``OUT.parts`` holds something else.
    OutOfMemory : nothing can be simplified further.

    Warns
    -----
    RepairWarning : vertices carry more than positions.

    Examples
    --------
    >>> import hra, tempfile
    >>> from hra.domains import meshes
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     skull = hra.samples.path("skull.ply")
    ...     meshes.build_out_of_core(skull, f"{folder}/skull.hra", memory=2**28, certified=False).triangles
    42480
    """
    target, share = local_path(out), Share.of(memory, jobs, threads or processors())
    if target.suffix.lower() != ".hra":
        raise FileError("cluster meshes are written as .hra", where=str(target)[:500], fix="use the suffix .hra")
    files, settings = source_files(source), Settings(cluster_size, group_size, certified)
    about = {**asdict(settings), "part_triangles": share.triangles, "files": _facts(files)}
    with scratch_folder(target, about, resumed=True) as folder:
        chunks = _chunks(files, folder, share)
        check_source(sum(chunk.count for chunk in chunks), memory)
        welded, counts = _welded(chunks, folder)
        total = sum(counts)
        if not total:
            raise MeshError("all triangles of the mesh have two equal corners", where=str(source)[:500])
        numbering = Numbering.of(welded, folder, share.sorting)
        parts = build_rounds(welded, numbering, folder, settings, share, lambda left: progress(total - left, total))
        facts = assemble(parts, numbering.count, certified, target)
        progress(total, total)
    names = ("clusters", "groups", "levels", "root_triangles")
    return OutOfCoreReport(
        triangles=facts["triangles"],
        vertices=numbering.count,
        **{name: facts[name] for name in names},
        parts=len(parts),
        part_triangles=share.triangles,
    )


def _facts(files: list[Path]) -> list[list[str | int]]:
    """What tells whether files are the same ones, without reading them."""
    return [[str(file.resolve()), file.stat().st_size, file.stat().st_mtime_ns] for file in files]


def _chunks(files: list[Path], folder: Path, share: Share) -> list[Records]:
    """The triangles of the source in chunks; written down once they are there."""
    done = folder / "chunks.npz"
    if not done.exists():
        path, count = folder / "corners", 0
        with path.open("wb") as out:
            for block in corner_blocks(files, folder / "vertices"):
                block.tofile(out)
                count += len(block)
        if not count:
            raise MeshError("the mesh has no triangles", where=str(files[0])[:500])
        records = Records(path, _CORNERS, 0, count)
        chunks = chunk_records(records, lambda rows: rows.reshape(-1, 3, 3).mean(axis=1), share.triangles, folder)
        names = np.array([chunk.path.name for chunk in chunks])
        save_arrays(done, {"name": names, "run": np.array([[chunk.first, chunk.count] for chunk in chunks])})
        used = {chunk.path for chunk in chunks}
        for old in folder.glob("corners*"):
            if old not in used:
                old.unlink()
    arrays = load_arrays(done, ["name", "run"])
    runs = zip(arrays["name"].tolist(), arrays["run"].tolist(), strict=True)
    return [Records(folder / name, _CORNERS, *run) for name, run in runs]


def _welded(chunks: list[Records], folder: Path) -> tuple[list[Path], list[int]]:
    """The chunks that have triangles, welded; and how many."""
    files, counts = [], []
    for number, chunk in enumerate(chunks):
        file = folder / f"welded-{number}.npz"
        count = len(load_arrays(file, ["triangles"])["triangles"]) if file.exists() else weld_part(chunk, file)
        if count:
            files.append(file)
            counts.append(count)
    return files, counts
