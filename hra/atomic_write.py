"""Files that are either whole or not there."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

from hra.errors import FileError


def write_atomically(path: str | os.PathLike[str], content: bytes | bytearray) -> None:
    """Write ``content`` to a temporary file in the same folder, flush it to disk, and rename it to ``path``.

    A killed process leaves at most a file ``.NAME.*.tmp``, never half of ``path``.

    Raises
    ------
    FileError : the folder is missing or not writable, or the disk is full; an existing file is left as it was.
    """
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex}.tmp")
    try:
        with temporary.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, target)
    except OSError as error:
        fix = "choose a writable folder with free space"
        raise FileError(f"the file cannot be written: {error.strerror}", where=str(path), fix=fix) from error
    finally:
        temporary.unlink(missing_ok=True)
