"""How much a reader may take: every number in one place, checked before the memory is taken.

A file is an argument of somebody else's. Each reader adds up what the file's own numbers make it take, and refuses with
a `LimitExceeded` that names the limit where that is too much. Pass other limits to go on, as in
``meshes.load(path, limits=Limits(memory_bytes=2**33))``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any

from hra.errors import HraError, LimitExceeded, OutOfMemory


@dataclass(frozen=True)
class Limits:
    """What reading one file, with the files that it names, may take.

    Attributes
    ----------
    file_bytes : of the file, and of each file that it names.
    memory_bytes, memory_per_byte : what is unpacked, repeated or converted may take ``memory_bytes`` and
        ``memory_per_byte`` for each byte of the files; plain arrays of a file take less than that by themselves.
    vertices, triangles : of a mesh file, with all repetitions.
    pixels : of an image (a page of A2 at 600 dpi has 139 million).
    texels : of an image that is opened as a texture and read tile by tile.
    texture_pixels : of all images of a mesh file together that must be decoded.
    images, buffers : that a mesh file names.
    instances : places where a mesh file shows a mesh.
    node_depth : of nodes within nodes.
    json_values, json_depth : of a JSON header: values, and brackets within brackets.
    header_bytes : of a header that is text (PLY, traces, allocations).
    archive_ratio : an archive beyond ``memory_bytes`` may unpack to this many times its length; compressed geometry of
        so many times the files' bytes counts as files do.

    Raises
    ------
    HraError : a limit that is not a whole number above 0.
    """

    file_bytes: int = 4 * 2**30
    memory_bytes: int = 2**28
    memory_per_byte: int = 4
    vertices: int = 2**29
    triangles: int = 2**29
    pixels: int = 150_000_000
    texels: int = 2**28
    texture_pixels: int = 2**26
    images: int = 2**14
    buffers: int = 2**14
    instances: int = 2**20
    node_depth: int = 500
    json_values: int = 2**21
    json_depth: int = 200
    header_bytes: int = 2**20
    archive_ratio: int = 64

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if type(value) is not int or value < 1:
                raise HraError(f"the limit {field.name} is {value!r}", where="Limits", fix="use a whole number above 0")

    def check(self, name: str, amount: int, where: str) -> None:
        """Raise LimitExceeded if ``amount`` is beyond the limit ``name``."""
        limit = getattr(self, name)
        if amount > limit:
            what = f"it has {_short(amount)} {name.replace('_', ' ')}, more than the limit of {limit:,}"
            raise LimitExceeded(
                what, where=where, fix=f"split it; in Python, pass limits=Limits({name}=...) if you trust the file"
            )

    def check_memory(self, needed: int, size: int, where: str, plain: int = 0) -> None:
        """Raise LimitExceeded if reading files of ``size`` bytes would take ``needed`` bytes of memory.

        ``plain`` bytes, to which compressed parts of them unpack, count as files do: as many as an archive may hold.
        """
        limit = self.memory_bytes + self.memory_per_byte * (size + min(plain, self.archive_ratio * size))
        if needed > limit:
            what = f"its {_short(size)} bytes would take {_short(needed)} bytes of memory, more than {limit:,}"
            fix = f"in Python, pass limits=Limits(memory_bytes={_short(needed, '_')}) if you trust the file"
            raise LimitExceeded(what, where=where, fix=fix)

    def check_archive(self, unpacked: int, size: int, where: str) -> None:
        """Raise LimitExceeded if an archive of ``size`` bytes states that it unpacks to ``unpacked`` bytes."""
        if unpacked > max(self.memory_bytes, self.archive_ratio * size):
            what = f"its {_short(size)} bytes would unpack to {_short(unpacked)}, more than {self.archive_ratio} times"
            fix = f"in Python, pass limits=Limits(memory_bytes={_short(unpacked, '_')}) if you trust the file"
            raise LimitExceeded(what, where=where, fix=fix)


DEFAULT = Limits()
# Poses are text of about a hundred bytes a frame.
POSES = Limits(file_bytes=2**28)

# Sizes of what is not read from a file. Viewports beyond these have no pixels on any screen or in any texture.
VIEWPORT_SIDE = 2**16
VIEWPORT_PIXELS = 2**27
# Pictures that are drawn take up to 100 bytes a pixel, and drivers refuse longer sides.
PICTURE_SIDE = 2**14
PICTURE_PIXELS = 2**25
# The longest path that Linux takes.
PATH_BYTES = 4096


def _short(number: int, separator: str = ",") -> str:
    """A number that may have any number of digits."""
    return f"{number:{separator}}" if number.bit_length() < 128 else f"about 2**{number.bit_length()}"


@contextmanager
def enough_memory(what: str, where: str, needed: int | None = None) -> Iterator[None]:
    """Turn a MemoryError within into `OutOfMemory`.

    Parameters
    ----------
    what : is too large; where : its file.
    needed : bytes, as far as they are known before.
    """
    try:
        yield
    except MemoryError as error:
        size = f"{needed:,} bytes" if needed else _asked(error)
        fix = "use a machine with more memory, raise a limit such as ulimit -v, or split the file"
        raise OutOfMemory(f"{what} is too large for this machine: it needs {size}", where=where, fix=fix) from error


def _asked(error: MemoryError) -> Any:
    """What NumPy says that it could not get, or that nothing is known."""
    words = str(error)
    return (
        words[words.find("allocate ") + 9 :].partition(" for ")[0] + " more"
        if "allocate " in words
        else "more than is free"
    )
