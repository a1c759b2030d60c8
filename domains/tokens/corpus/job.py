"""``allocate_folder``: token rows of all images of a folder, shard by shard, by several processes.

Shards are Parquet files that are whole or not there.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from hra import __version__
from hra.domains.tokens.corpus.allocation import TokenAllocation
from hra.domains.tokens.corpus.rows import pyarrow
from hra.errors import FileError, HraError, check_kind
from hra.files.atomic_write import write_atomically
from hra.files.file_list import FileList
from hra.files.job_folder import open_job
from hra.files.json_text import parse_object
from hra.files.local_files import read_regular
from hra.files.processes import in_processes, keep_freed_memory
from hra.model.arrays import is_number
from hra.pooling.stream_price import Demand, common_price
from hra.traversals.base import is_whole


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
    FileError : a shard that is not a Parquet file, or not one of these.
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
        raise FileError(what, where=str(path)[:500], fix="remove the file and run the job again") from error


# What files are called whose formats `load_image` reads.
SUFFIXES = frozenset((
    *(".apng", ".avif", ".bmp", ".dib", ".gif", ".j2k", ".jfif", ".jp2", ".jpe", ".jpeg", ".jpf", ".jpg", ".jpx"),
    *(".pbm", ".pgm", ".png", ".pnm", ".ppm", ".tga", ".tif", ".tiff", ".webp"),
))  # fmt: skip
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class CorpusReport:
    """What a job over a folder came to.

    Attributes
    ----------
    images, shards : of the folder; resumed : shards that were there already.
    errors : from the name of an image without tokens to why.
    price : what tokens had to gain, where a price shared the budget.
    skipped : how many files of the folder have another suffix, by suffix: they get no rows.
    """

    images: int
    shards: int
    resumed: int
    errors: dict[str, str]
    price: float | None
    skipped: dict[str, int] = field(default_factory=dict)


def allocate_folder(
    images: str | os.PathLike[str],
    out: str | os.PathLike[str],
    allocation: TokenAllocation,
    *,
    jobs: int = 1,
    shard_size: int = 256,
    sample: int | None = None,
    progress: Progress = lambda done, total: None,
) -> CorpusReport:
    """Write the token rows of all images below a folder as Parquet files ``shard-000000.parquet`` ...

    A job that was killed goes on where it stopped: shards are written whole, and those that are there are not made
    again. The rows are the same however often it was killed and by however many processes they are made. Call it behind
    ``if __name__ == "__main__":``, see `hra.files.processes.in_processes`.

    Parameters
    ----------
    images : folder; out : another one, which is made if it is not there.
    allocation : what to do with each image.
    jobs : processes.
    shard_size : images of a file, a multiple of ``allocation.bank``.
    sample : share one budget over all images by a price, which is fixed on this many of them, evenly spaced.
    progress : called with the images that are done and all of them.

    Raises
    ------
    FileError : a folder without images, one that cannot be written, or a damaged file of a job that goes on.
    HraError : ``out`` holds another job, sizes that do not fit, or a process that was killed.
    MissingExtra : PyArrow is not installed.

    Examples
    --------
    >>> import hra, tempfile
    >>> from hra.domains import tokens
    >>> if __name__ == "__main__":
    ...     with tempfile.TemporaryDirectory() as out:
    ...         allocation = tokens.TokenAllocation(budget=20, relevance="uniform")
    ...         tokens.allocate_folder(hra.samples.path("photo.jpg").parent, out, allocation).images
    3
    """
    pyarrow()
    check_kind("allocation", allocation, TokenAllocation, "pass TokenAllocation(budget=...)")
    _check(allocation, shard_size, sample)
    folder = FileList.of(images, SUFFIXES)
    named = {**asdict(allocation), "relevance": allocation.relevance_name}
    shard_size, sample = int(shard_size), None if sample is None else int(sample)  # JSON has none of NumPy's
    given = {"hra": __version__, "allocation": named, "shard_size": shard_size, "sample": sample}
    open_job(out, {**given, **folder.facts}, "shard-*.parquet")
    if sample is not None:
        allocation = replace(allocation, price=_price(folder, allocation, sample, jobs, Path(out)))
    shards = [Path(out, f"shard-{number:06}.parquet") for number in range(-(-len(folder.names) // shard_size))]
    missing = [number for number, shard in enumerate(shards) if not shard.exists()]
    done = len(folder.names) - sum(len(folder.shard(number, shard_size)) for number in missing)
    progress(done, len(folder.names))
    tasks = ((shards[number], folder.shard(number, shard_size)) for number in missing)
    for count in in_processes(partial(_make_shard, allocation, folder.root), tasks, jobs) if missing else ():
        done += count
        progress(done, len(folder.names))
    resumed = len(shards) - len(missing)
    return CorpusReport(
        len(folder.names), len(shards), resumed, read_errors(shards), allocation.price, dict(folder.others)
    )


def _check(allocation: TokenAllocation, shard_size: int, sample: int | None) -> None:
    if not is_whole(shard_size) or shard_size < 1 or shard_size % allocation.bank:
        fix = f"use a multiple of the bank, {allocation.bank}"
        raise HraError(f"shards of {shard_size!r} images", where="shard_size", fix=fix)
    if sample is None:
        return
    if not is_whole(sample) or sample < 1:
        raise HraError(f"a sample of {sample!r} images", where="sample", fix="use 1 or more")
    if allocation.bank > 1 or allocation.price is not None:
        raise HraError("a sample beside a bank or price", where="sample", fix="leave one of them out")


def _price(folder: FileList, allocation: TokenAllocation, sample: int, jobs: int, out: Path) -> float:
    """The price that was fixed when the job began, or now that of a sample."""
    file = out / "price.json"
    if file.exists():
        price: Any = parse_object(read_regular(file), "price", str(file)).get("price")
        if not is_number(price) or not 0 <= price < math.inf:
            raise FileError(f"the price is {price!r}", where=str(file), fix="use another folder, or remove this one")
        return float(price)
    rows = ({"path": str(folder.root / name)} for name in folder.sample(sample))
    demands = [one for one in in_processes(allocation.demand, rows, jobs) if isinstance(one, Demand)]
    if not demands:
        what = f"none of the {sample} images of the sample can be read"
        raise HraError(what, where=str(folder.root)[:500], fix="use a larger sample, or check the files")
    price = common_price(demands, allocation.budget * len(demands))
    write_atomically(file, json.dumps({"price": price, "images": len(demands)}).encode())
    return price


def _make_shard(allocation: TokenAllocation, root: Path, task: tuple[Path, list[str]]) -> int:
    """Write one shard, in a process that does nothing else; the number of its images."""
    keep_freed_memory()
    shard, names = task
    table = allocation({"id": names, "path": [str(root / name) for name in names]})
    write_shard(shard, table)
    return len(names)
