"""Shards: Parquet files that are whole or not there."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hra.domains.tokens.corpus.rows import pyarrow
from hra.errors import FileError
from hra.files.atomic_write import write_atomically


def write_shard(path: Path, table: Any) -> None:
    """Write a table of PyArrow as Parquet (Zstandard); equal tables become equal bytes.

    Raises
    ------
    FileError : see `write_atomically`.
    """
    pyarrow()
    from pyarrow import BufferOutputStream, parquet

    buffer = BufferOutputStream()
    parquet.write_table(table, buffer, compression="zstd")
    write_atomically(path, buffer.getvalue().to_pybytes())


def read_errors(paths: Iterable[Path]) -> dict[str, str]:
    """The images of shards that have no tokens, by id, and why.

    Raises
    ------
    FileError : a shard that is no Parquet file, or not one of these.
    """
    return {row["id"]: row["error"] for path in paths for row in _failed(path)}


def _failed(path: Path) -> list[dict[str, str]]:
    pyarrow()
    from pyarrow import ArrowException, parquet

    try:
        table = parquet.read_table(path, columns=["id", "error"], memory_map=True)
        return [row for row in table.to_pylist() if row["error"] is not None]
    except (ArrowException, KeyError, OSError) as error:
        what = f"the shard cannot be read: {str(error)[:200]}"
        raise FileError(what, where=str(path)[:500], fix="take the file away and run the job again") from error
