"""How large a part may be."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hra.errors import HraError

# Measured: what a process holds with everything imported and compiled, and what a triangle of a part takes at most.
_PROCESS_BYTES, _TRIANGLE_BYTES = 180 * 2**20, 400
# Parts are at least so large: what is left of several is then simplified as a whole from where fine steps begin.
_LEAST = 2**15
# Held of everything at once, for each triangle of the source: a few numbers of each group, keys of positions that parts
# share, centers of clusters that wait. 53.7 million triangles held 220 MiB, processes and parts included.
_SOURCE_BYTES = 1
# Bytes of a triangle in a file at least: a row of STL; half a vertex and a face of PLY; half a line of a vertex and a
# line of a face of OBJ.
_FILE_BYTES = {".stl": 50, ".ply": 19, ".obj": 20}


def check_source(triangles: int, memory: int) -> None:
    """Raise HraError where what is held of all ``triangles`` at once would take more than ``memory`` bytes."""
    least = _PROCESS_BYTES + _SOURCE_BYTES * triangles
    if memory < least:
        what = f"the shared data of parts of {triangles:,} triangles takes more than {memory:,} bytes"
        raise HraError(what, where="memory", fix=f"allow {-(-least // 2**20)} MiB or more")


def fits(file: Path, memory: int) -> bool:
    """Whether a mesh file is built as a whole within ``memory`` bytes, or is of a format that is not read in blocks."""
    least = _FILE_BYTES.get(file.suffix.lower())
    if least is None or not file.is_file():
        return True
    triangles = file.stat().st_size // least
    return triangles <= _LEAST or _PROCESS_BYTES + triangles * _TRIANGLE_BYTES <= memory


@dataclass(frozen=True)
class Share:
    """What of the memory each process gets.

    Attributes
    ----------
    triangles : of a part at most; sorting : bytes for keys; jobs, threads : processes, and threads of each.
    """

    triangles: int
    sorting: int
    jobs: int
    threads: int

    @classmethod
    def of(cls, memory: int, jobs: int, threads: int) -> Share:
        """The share of each process where all together have ``memory`` bytes.

        Raises
        ------
        HraError : too little for any part.
        """
        # With several processes the first one only hands out work.
        processes = jobs + (jobs > 1)
        room = memory - processes * _PROCESS_BYTES
        triangles = room // (jobs * _TRIANGLE_BYTES)
        if triangles < _LEAST:
            least = processes * _PROCESS_BYTES + jobs * _LEAST * _TRIANGLE_BYTES
            what = f"{memory:,} bytes are too little to build in {jobs} process{'es' * (jobs > 1)}"
            raise HraError(what, where="memory", fix=f"allow {-(-least // 2**20)} MiB or more")
        return cls(triangles, room // 2, jobs, 1 if jobs > 1 else threads)
