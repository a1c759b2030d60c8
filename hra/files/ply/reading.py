"""PLY in: all elements of a file by name."""

from __future__ import annotations

from hra.files.limits import DEFAULT, Limits
from hra.files.ply.binary import read_binary
from hra.files.ply.columns import Columns
from hra.files.ply.header import parse_ply_header
from hra.files.ply.text import read_text


def read_elements(data: bytes, where: str, limits: Limits = DEFAULT) -> dict[str, Columns]:
    r"""All elements of a PLY file, text or binary, by name.

    Parameters
    ----------
    data : the file's content; where : what errors call it.

    Raises
    ------
    FileError : no PLY file, or its rows are not what the header promises. LimitExceeded : its header is too long.

    Examples
    --------
    >>> from hra.files.ply import read_elements
    >>> text = b"ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nend_header\n1\n2.5\n"
    >>> read_elements(text, "two.ply")["vertex"].scalars["x"].tolist()
    [1.0, 2.5]
    """
    header = parse_ply_header(data, where, limits)
    return read_binary(data, header, header.order, where) if header.order else read_text(data, header, where)
