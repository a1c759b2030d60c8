"""What is left of a job that was killed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from hra.errors import FileError
from hra.files.local_files import local_path


def remaining(names: Iterable[str], out: str | os.PathLike[str]) -> list[str]:
    """The images without a row in the Parquet files that Ray wrote to ``out``, in their order.

    Run the pipeline on these, and its rows are those of a run that was never killed. A file that was cut off holds no
    row and is taken away.

    Parameters
    ----------
    names : the ids of all images: paths, or what the column ``id`` named.
    out : folder of ``write_parquet``; it need not be there.

    Raises
    ------
    FileError : a file that cannot be read or taken away, or is whole and has no column ``id``.

    Examples
    --------
    >>> from hra.integrations.ray import remaining
    >>> remaining(["a.png", "b.png"], "not-there-yet")
    ['a.png', 'b.png']
    """
    done = {name for file in sorted(local_path(out).glob("*.parquet")) for name in _ids(file)}
    return [name for name in names if name not in done]


def _ids(file: Path) -> list[str]:
    from pyarrow import ArrowInvalid, parquet

    try:
        with parquet.ParquetFile(file) as found:
            if "id" not in found.schema_arrow.names:
                raise FileError("the file has no column id", where=str(file), fix="name a folder of its own")
            return found.read(["id"])["id"].to_pylist()
    except ArrowInvalid:  # its end, which is written last, is not there
        return _take_away(file)
    except OSError as error:
        raise FileError(f"the rows cannot be read: {error}", where=str(file)) from error


def _take_away(file: Path) -> list[str]:
    try:
        file.unlink()
    except OSError as error:
        fix = "take it away, and run again"
        raise FileError(f"a file that was cut off cannot be removed: {error}", where=str(file), fix=fix) from error
    return []
