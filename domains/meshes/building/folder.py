"""``build_folder``: the cluster hierarchies of all meshes of a folder, by several processes."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from hra import __version__
from hra.domains.meshes.building.builder import build
from hra.domains.meshes.building.settings import Settings
from hra.domains.meshes.files.suffixes import READ
from hra.errors import HraError, MissingExtra
from hra.files.file_list import FileList
from hra.files.job_folder import open_job
from hra.files.limits import DEFAULT, Limits
from hra.files.processes import in_processes
from hra.model.arrays import whole_in

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class FolderReport:
    """What building a folder came to.

    Attributes
    ----------
    meshes : of the folder; resumed : those that were built already.
    errors : from the name of a mesh that cannot be built to why.
    """

    meshes: int
    resumed: int
    errors: dict[str, str]


@dataclass(frozen=True)
class _Task:
    """How each mesh is built, and where it goes."""

    root: Path
    out: Path
    settings: Settings
    appearance: bool
    grid_bits: int | None
    limits: Limits

    def __call__(self, name: str) -> tuple[str, str | None]:
        """The name, and why it cannot be built, if it cannot."""
        try:
            own = {**asdict(self.settings), "appearance": self.appearance}
            clusters = build(self.root / name, **own, threads=1, limits=self.limits)
            clusters.save(self.place(name), self.grid_bits)
        except MissingExtra:
            raise  # wrong with all of them
        except HraError as error:
            return name, f"{error.code}: {error.what}"
        return name, None

    def place(self, name: str) -> Path:
        """Suffixes are kept: ``scan.ply`` and ``scan.stl`` may stand beside each other."""
        return self.out / f"{name.replace('/', '__')}.hra"


def build_folder(
    meshes: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    cluster_size: int = 64,
    group_size: int = 12,
    certified: bool = True,
    appearance: bool = False,
    grid_bits: int | None = None,
    jobs: int = 1,
    limits: Limits = DEFAULT,
    progress: Progress = lambda done, total: None,
) -> FolderReport:
    """Build every mesh file below a folder into ``out``, as ``NAME.SUFFIX.hra``; "/" in names becomes "__".

    A job that was killed goes on where it stopped. Call it behind ``if __name__ == "__main__":``, see
    `hra.files.processes.in_processes`.

    Parameters
    ----------
    meshes : folder; out : another one, which is made if it is not there.
    cluster_size, group_size, certified, appearance, limits : see `build`; grid_bits : see `ClusterMesh.save`.
    jobs : processes of one thread each.
    progress : called with the meshes that are done and all of them.

    Raises
    ------
    FileError : a folder without meshes, or one that cannot be written.
    HraError : sizes out of range, ``out`` holds another job, two meshes become one file, or a process was killed.

    Examples
    --------
    >>> import hra, tempfile
    >>> from hra.domains import meshes
    >>> if __name__ == "__main__":
    ...     with tempfile.TemporaryDirectory() as out:
    ...         meshes.build_folder(hra.samples.path("skull.ply").parent, out, certified=False).meshes
    1
    """
    folder, settings = FileList.of(meshes, frozenset(READ)), Settings(cluster_size, group_size, certified)
    task = _Task(folder.root, Path(out), settings, appearance, grid_bits, limits)
    if len({task.place(name) for name in folder.names}) < len(folder.names):
        raise HraError("two meshes would become one file", where=str(folder.root)[:500], fix="rename one of them")
    grid_bits = None if grid_bits is None else whole_in("grid_bits", grid_bits, range(8, 17))
    chosen = {**asdict(settings), "appearance": appearance, "grid_bits": grid_bits}
    open_job(out, {"hra": __version__, **chosen, **folder.facts}, "*.hra")
    missing = [name for name in folder.names if not task.place(name).exists()]
    resumed, errors = len(folder.names) - len(missing), {}
    progress(resumed, len(folder.names))
    for done, (name, error) in enumerate(in_processes(task, missing, jobs) if missing else (), resumed + 1):
        if error is not None:
            errors[name] = error
        progress(done, len(folder.names))
    return FolderReport(len(folder.names), resumed, dict(sorted(errors.items())))
