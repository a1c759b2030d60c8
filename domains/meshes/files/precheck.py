"""What a mesh file claims about itself, checked against its size before any parser allocates memory for it."""

from __future__ import annotations

import re
import struct

from hra.domains.meshes.files.gltf_check import check_glb, check_gltf
from hra.errors import FileError

_STL_HEADER, _STL_TRIANGLE = 84, 50
_PLY_ELEMENT = re.compile(rb"^element[ \t]+(\S+)[ \t]+(\S+)", re.MULTILINE)


def precheck(data: bytes, kind: str, where: str) -> None:
    """Refuse a file whose header cannot be true.

    Parameters
    ----------
    data : the whole file; kind : "glb", "gltf", "ply" or "stl", others have no header to check.

    Raises
    ------
    FileError : empty, truncated, or claiming more elements than its bytes can hold.
    """
    if not data:
        raise FileError("the file is empty", where=where)
    check = {"ply": _check_ply, "stl": _check_stl, "glb": check_glb, "gltf": check_gltf}.get(kind)
    if check:
        check(data, where)


def _check_ply(data: bytes, where: str) -> None:
    end = data.find(b"end_header")
    if not data.startswith(b"ply") or end < 0:
        raise FileError("this is not a PLY file: it does not begin with a PLY header", where=where)
    for name, count in _PLY_ELEMENT.findall(data, 0, end):
        if not count.isdigit() or int(count) > len(data) - end:
            claim = f"{count[:20].decode(errors='replace')} {name[:20].decode(errors='replace')} elements"
            raise FileError(f"the header claims {claim}, but {len(data) - end} bytes follow", where=where)


def _check_stl(data: bytes, where: str) -> None:
    if len(data) >= _STL_HEADER:
        (count,) = struct.unpack_from("<I", data, _STL_HEADER - 4)
        if len(data) == _STL_HEADER + _STL_TRIANGLE * count:
            return
    if not data.lstrip().startswith(b"solid"):
        raise FileError("the number of triangles in the STL header does not match the file's size", where=where)
    if b"endsolid" not in data:
        raise FileError("the text STL file ends before 'endsolid'", where=where, fix="copy or export it again")
