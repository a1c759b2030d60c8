"""Which further files a mesh file may name, and its textures.

Texture images are kept as they lie in files, and converted only where glTF has no such format.
"""

from __future__ import annotations

import io
import struct
import warnings
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from hra.domains.meshes.mesh.materials import image_type, is_ktx2
from hra.errors import FileError, LimitExceeded, warn
from hra.files.limits import DEFAULT, Limits
from hra.files.local_files import read_regular

_SHOWN = 200
# Pictures of cuts decode one image at a time.
MAX_PIXELS = DEFAULT.texture_pixels
_FORMATS = ("PNG", "JPEG", "WEBP", "BMP", "TGA", "GIF", "TIFF", "AVIF")
# The decoder's frames (two of WebP), Pillow's image, its converted copy, and what is compressed.
_BYTES_PER_PIXEL = 24


class MissingFile(FileError):
    """A mesh file names a file that is not there: bad for a buffer, a warning for a texture."""


class SiblingFiles:
    """The files of one folder and its subfolders: no absolute path, no address, nothing and no link that leads outside.

    Each is read once, however often it is named.

    Parameters
    ----------
    folder : of the mesh file; size : of the mesh file in bytes.
    """

    def __init__(self, folder: Path, limits: Limits = DEFAULT, size: int = 0) -> None:
        self._folder = folder.resolve()
        self._known: dict[Path, bytes] = {}
        self.limits = limits
        self.size = size

    def get(self, name: str) -> bytes:
        """The content of the file ``name``.

        Raises
        ------
        FileError : the name leads out of the folder, or to something that is not a regular file.
        LimitExceeded : a file that is too long.
        MissingFile : the file does not exist.
        """
        plain, where = unquote(name).replace("\\", "/"), name[:_SHOWN]
        if ":" in plain or "\0" in plain or plain.startswith("/"):
            raise _outside(where)
        try:
            file = (self._folder / plain).resolve()
            there = file.exists()
        except (OSError, RuntimeError):  # too long for the file system, or a link to itself
            file, there = self._folder, False
        if not file.is_relative_to(self._folder):
            raise _outside(where)
        if not there or file.is_dir():
            fix = "put it beside the mesh file, or embed it"
            raise MissingFile("the mesh file names a missing file", where=f"{self._folder}/{where}", fix=fix)
        if file not in self._known:
            self._known[file] = read_regular(file, self.limits)
            self.size += len(self._known[file])
        return self._known[file]


def _outside(where: str) -> FileError:
    return FileError("the mesh file names a file outside of its folder", where=where, fix="embed it, or use a GLB")


class Textures:
    """The base-colour images of one mesh file; equal ones are looked at once.

    Parameters
    ----------
    files : what the mesh file consists of; images that must be decoded may take memory in proportion.
    """

    def __init__(self, files: SiblingFiles) -> None:
        self._files = files
        self._known: dict[bytes, bytes | None] = {}
        self._decoded = 0

    def read(self, content: bytes, where: str) -> bytes | None:
        """An image as the bytes of a format of `Texture`; None with a warning where it cannot be read.

        PNG, JPEG, WebP, AVIF and KTX2 are kept byte by byte, after a look at their header; other formats that Pillow
        reads (BMP, TGA, GIF, TIFF) are converted to PNG.

        Warns
        -----
        RepairWarning : the texture is left out: damaged, too large, or of an unknown format.
        """
        if content not in self._known:
            self._known[content] = self._read(content, where)
        return self._known[content]

    def _read(self, content: bytes, where: str) -> bytes | None:
        if is_ktx2(content):
            width, height = ktx2_size(content)
            large = width * height > self._files.limits.texture_pixels
            return _drop(f"has {width} x {height} pixels", where) if large else content
        try:
            from PIL import Image
        except ImportError:
            return content if image_type(content) else _drop("needs Pillow to be converted", where)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                image = Image.open(io.BytesIO(content), formats=_FORMATS)
            if image.width * image.height > self._files.limits.texture_pixels:
                return _drop(f"has {image.width} x {image.height} pixels", where)
            if image_type(content):
                return content
            self._decoded += image.width * image.height
            needed = _BYTES_PER_PIXEL * self._decoded
            self._files.limits.check_memory(needed, max(self._files.size, len(content)), where)
            return as_png(image)
        except LimitExceeded as error:
            return _drop(f"is too large to be converted ({error.what})", where)
        except Exception as error:  # Pillow raises whatever its decoders stumble over
            return _drop(f"cannot be read ({type(error).__name__})", where)


def ktx2_size(content: bytes) -> tuple[int, int]:
    """Width and height of a KTX2 file, which stand behind its format and the size of a texel."""
    return struct.unpack_from("<2I", content, 20)


def as_png(image: Any) -> bytes:
    """A Pillow image as a PNG file, with alpha where it has any."""
    out = io.BytesIO()
    image.convert("RGBA" if image.has_transparency_data else "RGB").save(out, "PNG")
    return out.getvalue()


def _drop(reason: str, where: str) -> None:
    warn(f"{where}: the texture {reason} and was left out")
