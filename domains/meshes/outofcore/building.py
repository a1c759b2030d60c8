"""``build_out_of_core``: the cluster hierarchy of a mesh that does not fit into memory.

Round after round: parts, what they share, and fewer and larger parts of what is left, until it is one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from hra import __version__
from hra.domains.meshes.building.settings import Settings, processors
from hra.domains.meshes.outofcore.assembling import assemble
from hra.domains.meshes.outofcore.corners import corner_blocks, origin_of, source_files
from hra.domains.meshes.outofcore.memory import Share, check_source
from hra.domains.meshes.outofcore.part import FirstRound, LaterRound, PartWork
from hra.domains.meshes.outofcore.pieces import load_arrays, save_arrays, vertex_numbers
from hra.domains.meshes.outofcore.welding import Numbering, weld_part
from hra.errors import FileError, MeshError, OutOfMemory
from hra.files.local_files import local_path
from hra.files.processes import in_processes
from hra.files.scratch_folder import scratch_folder
from hra.kernels.chunking import Records, chunk_records, shared_keys, weighted_parts
from hra.model.arrays import whole_in
from hra.residency.live.pool import byte_limit

_CORNERS = 9
# Rounds draw their borders at other places: a border of one is inside of a part of the next.
_SHARES = (None, 0.41)
# A round that leaves more than this share is not worth it.
_VAIN = 0.9


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
    the triangles of each part leave goes into new parts with other borders, until one part is left. A job that was
    stopped goes on when it is called again, and gives the same bytes. Finished work lies in ``OUT.parts``, which takes
    about 150 bytes for each triangle and is removed once the file is there. Call it under ``if __name__ ==
    "__main__":`` with several jobs, see `hra.files.processes.in_processes`.

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
    InvalidBudget : a memory that is not a number >= 0.
    HraError : sizes, jobs or threads out of range, too little memory (said once the triangles are counted), or
        ``OUT.parts`` holds something else.
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
    settings, jobs = Settings(cluster_size, group_size, certified), whole_in("jobs", jobs, range(1, 1025))
    if threads is not None:
        threads = whole_in("threads", threads, range(1, 1025))
    memory = int(byte_limit("memory", memory))
    target, share = local_path(out), Share.of(memory, jobs, threads or processors())
    if target.suffix.lower() != ".hra":
        raise FileError("cluster meshes are written as .hra", where=str(target)[:500], fix="use the suffix .hra")
    files = source_files(source)
    about = {"hra": __version__, **asdict(settings), "part_triangles": share.triangles, "files": _facts(files)}
    with scratch_folder(target, about, resumed=True) as folder:
        chunks, origin = _chunks(files, folder, share)
        check_source(sum(chunk.count for chunk in chunks), memory)
        welded, counts = _welded(chunks, folder)
        total = sum(counts)
        if not total:
            raise MeshError("all triangles of the mesh have two equal corners", where=str(source)[:500])
        numbering = Numbering.of(welded, folder, share.sorting)
        parts = build_rounds(welded, numbering, folder, settings, share, lambda left: progress(total - left, total))
        facts = assemble(parts, numbering.count, certified, target, origin)
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


def _chunks(files: list[Path], folder: Path, share: Share) -> tuple[list[Records], tuple[float, float, float]]:
    """The triangles of the source in chunks, and what they count from; written down once they are there."""
    done = folder / "chunks.npz"
    if not done.exists():
        path, count, origin = folder / "corners", 0, origin_of(files, folder / "vertices")
        with path.open("wb") as out:
            for block in corner_blocks(files, folder / "vertices", origin):
                block.tofile(out)
                count += len(block)
        if not count:
            raise MeshError("the mesh has no triangles", where=str(files[0])[:500])
        records = Records(path, _CORNERS, 0, count)
        chunks = chunk_records(records, lambda rows: rows.reshape(-1, 3, 3).mean(axis=1), share.triangles, folder)
        names = np.array([chunk.path.name for chunk in chunks])
        runs = np.array([[chunk.first, chunk.count] for chunk in chunks])
        save_arrays(done, {"name": names, "run": runs, "origin": np.array(origin)})
        used = {chunk.path for chunk in chunks}
        for old in folder.glob("corners*"):
            if old not in used:
                old.unlink()
    arrays = load_arrays(done, ["name", "run", "origin"])
    x, y, z = arrays["origin"].tolist()
    runs = zip(arrays["name"].tolist(), arrays["run"].tolist(), strict=True)
    return [Records(folder / name, _CORNERS, *run) for name, run in runs], (x, y, z)


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


@dataclass(frozen=True, eq=False)
class Waiting:
    """The clusters that a round leaves.

    Attributes
    ----------
    files : of its parts; part : int64 [N], which of them each cluster is in.
    center : float32 [N, 3]; triangles : int64 [N]; level : the highest.
    """

    files: list[Path]
    part: np.ndarray
    center: np.ndarray
    triangles: np.ndarray
    level: int

    @classmethod
    def of(cls, files: list[Path]) -> Waiting:
        """What the parts in ``files`` left."""
        found = [load_arrays(file, ["center", "triangle_count", "level"]) for file in files]
        sizes = [len(one["center"]) for one in found]
        center, triangles, level = (np.concatenate([one[name] for one in found]) for name in found[0])
        part = np.repeat(np.arange(len(files)), sizes)
        return cls(files, part, center, triangles.astype(np.int64), int(level.max(initial=0)))

    def parts(self, label: np.ndarray) -> list[list[tuple[Path, np.ndarray]]]:
        """The files of which each new part takes rows, and which rows."""
        begins = np.searchsorted(self.part, np.arange(len(self.files)))
        found = []
        for new in range(int(label.max()) + 1):
            rows = np.flatnonzero(label == new)
            olds = np.unique(self.part[rows]).tolist()
            found.append([(self.files[old], rows[self.part[rows] == old] - begins[old]) for old in olds])
        return found


def build_rounds(
    welded: list[Path],
    numbering: Numbering,
    folder: Path,
    settings: Settings,
    share: Share,
    progress: Callable[[int], None],
) -> list[Path]:
    """All parts of all rounds, fine to coarse.

    Parameters
    ----------
    progress : called with the triangles that are left after a part.

    Raises
    ------
    OutOfMemory : what parts of this memory can be simplified to does not fit into it.
    """
    built: list[Path] = []
    whole, level, rounds, total = len(welded) == 1, 0, 0, None
    load: FirstRound | LaterRound = FirstRound(welded, numbering)
    count = len(welded)
    while True:
        own = folder / f"round-{len(built)}"
        own.mkdir(exist_ok=True)
        work = PartWork(own, len(built), level, whole, settings, share.threads, load)
        left = 0
        for _, triangles in _run(work, count, share.jobs):
            left += triangles
            progress(left)
        files = [own / f"{number}.npz" for number in range(count)]
        built += files
        if whole:
            return built
        if total is not None and left > _VAIN * total:
            what = f"parts of {share.triangles:,} triangles leave {left:,} that cannot be simplified further"
            raise OutOfMemory(what, where="memory", fix="allow more memory")
        total, waiting = left, Waiting.of(files)
        rounds += 1
        label = weighted_parts(waiting.center, waiting.triangles, share.triangles, _SHARES[rounds % 2])
        count, level = int(label.max()) + 1, waiting.level
        whole = count == 1
        parts = waiting.parts(label)
        load = LaterRound(parts, _shared_numbers(parts, own, share.sorting))


def _run(work: PartWork, count: int, jobs: int) -> Iterable[tuple[int, int]]:
    return map(work, range(count)) if jobs == 1 else in_processes(work, range(count), min(jobs, count))


def _shared_numbers(parts: list[list[tuple[Path, np.ndarray]]], folder: Path, memory: int) -> np.ndarray:
    """The numbers of the vertices that several parts have, uint64, rising."""
    files = [folder / f"numbers-{number}.npy" for number in range(len(parts))]
    for part, file in zip(parts, files, strict=True):
        numbers = [vertex_numbers(path, rows) for path, rows in part]
        np.save(file, np.unique(np.concatenate(numbers)).astype(np.uint64))
    return shared_keys(files, memory)
