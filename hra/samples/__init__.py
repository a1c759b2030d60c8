"""Real inputs that ship with hra: a mesh, an Earth map, a photo and a page of text.

NOTICE names their sources and licences.

>>> import hra
>>> hra.samples.names()
['earth.jpg', 'page.png', 'photo.jpg', 'skull.ply']
>>> hra.samples.path("page.png").name
'page.png'
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from hra.errors import FileError, check_choice

_SUFFIXES = {".jpg", ".ply", ".png"}


def names() -> list[str]:
    """The names that `path` takes, sorted."""
    return sorted(file.name for file in _folder().iterdir() if file.suffix in _SUFFIXES)


def path(name: str) -> Path:
    """The file of one sample.

    - ``skull.ply``: dog skull, 42,480 triangles in 23 closed components, metres.
    - ``earth.jpg``: Earth without clouds, 4096 x 2048 RGB, equirectangular.
    - ``photo.jpg``: dandelions, one in focus, 2048 x 1152 RGB.
    - ``page.png``: page of a manual with headings, text and a figure, 1240 x 1754 grey (A4 at 150 dpi).

    Raises
    ------
    FileError : the sample is unknown.
    """
    check_choice("sample", name, names(), FileError)
    return _folder() / name


def _folder() -> Path:
    # hra is always installed unpacked (Warp and numba compile from source files), so that a resource is a file.
    return Path(str(resources.files("hra.samples")))
