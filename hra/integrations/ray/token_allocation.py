"""Token rows by Ray's actors, and what is left of a job that was killed."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import ray

from hra import __version__
from hra.domains import tokens
from hra.domains.tokens.corpus.job import write_shard
from hra.domains.tokens.corpus.rows import as_text, rows_of
from hra.errors import FileError, HraError, check_kind, wrong_kind
from hra.files.job_folder import open_job
from hra.files.local_files import local_path
from hra.files.processes import keep_freed_memory


def remaining(names: Iterable[str], out: str | os.PathLike[str]) -> list[str]:
    """The images without a row in the Parquet files that Ray wrote to ``out``, in their order.

    Run the pipeline on these, and its rows are those of a run that was never killed. A file that was cut off holds no
    row and is taken away. Names alone count: of an image whose content has changed, the old row stays.

    Parameters
    ----------
    names : the ids of all images: paths, or what the column ``id`` named.
    out : folder of ``write_parquet``; it need not be there.

    Raises
    ------
    HraError : names that are none or there twice, or a single text.
    FileError : a file that cannot be read or taken away, or is whole and has no column ``id``.

    Examples
    --------
    >>> from hra.integrations.ray import remaining
    >>> remaining(["a.png", "b.png"], "not-there-yet")
    ['a.png', 'b.png']
    """
    fix = "pass the ids of all images in a list: paths, or what the column id named"
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise wrong_kind("names", names, list, fix)
    names = list(names)
    for number, name in enumerate(names):
        check_kind(f"names[{number}]", name, str, fix)
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:  # which of them has the row cannot be told
        fix = "pass each id once; rows of one image with several questions need ids of their own, in a column id"
        raise HraError(f"{twice[0]!r:.200} is named more than once", where="names", fix=fix)
    done = {name for file in sorted(local_path(out).glob("*.parquet")) for name in _ids(file)}
    return [name for name in names if as_text(name) not in done]


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
        fix = "remove it, and run again"
        raise FileError(f"a file that was cut off cannot be removed: {error}", where=str(file), fix=fix) from error
    return []


@dataclass(frozen=True)
class TokenAllocation(tokens.TokenAllocation):
    """`hra.domains.tokens.TokenAllocation` as the callable class of Ray Data's ``map_batches``.

    Ray makes one of each actor; its arguments go into ``fn_constructor_kwargs``. Batches may have any format; rows in,
    arguments and errors are those of the base class.

    Parameters
    ----------
    out : folder into which actors write the rows of each batch as one Parquet file, whole or not at all, before they
        hand on its columns ``id`` and ``error``. A pipeline that is killed loses no more than the batch that each actor
        has in hand, and needs no processor for tasks that write. Actors on other machines have to see the folder. ""
        hands on the rows, for Ray to write.

    Raises
    ------
    FileError : the folder cannot be made or written.
    HraError : it holds rows of other settings, or of another version of hra.

    Examples
    --------
    >>> import hra
    >>> from hra.integrations.ray import TokenAllocation
    >>> allocate = TokenAllocation(budget=20, relevance="uniform")  # ds.map_batches(TokenAllocation, ...) makes it
    >>> allocate({"path": [str(hra.samples.path("photo.jpg"))]}).num_rows
    1
    """

    out: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if ray.is_initialized() and ray.get_runtime_context().get_actor_id():
            keep_freed_memory()  # a process of Ray's that does nothing else
        if self.out:
            settings = asdict(self)
            open_job(settings.pop("out"), {"hra": __version__, "allocation": settings}, "*.parquet")

    def __call__(self, batch: Any) -> Any:
        """The rows of a batch, a table of PyArrow; with a folder ``out`` only their ``id`` and ``error``."""
        rows = batch.to_dict("list") if hasattr(batch, "to_dict") else batch
        table = super().__call__(rows)
        if not self.out:
            return table
        asked = [str(row.get("question")) for row in rows_of(rows)]
        write_shard(Path(self.out, _file_of(table["id"].to_pylist(), asked)), table)
        return table.select(["id", "error"])


def _file_of(names: list[str], asked: list[str]) -> str:
    """A file for these images and questions: Ray repeats the batch of an actor that died, which must not have two.

    The same images with other questions are another batch, whose rows must not take the place of these.
    """
    return f"{hashlib.sha256(json.dumps([names, asked]).encode()).hexdigest()[:32]}.parquet"
