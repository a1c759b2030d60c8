"""Token rows by Ray's actors."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import ray

from hra.domains import tokens
from hra.domains.tokens.corpus.shards import write_shard
from hra.files.job_folder import open_job
from hra.files.processes import keep_freed_memory


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
    HraError : it holds rows of other settings.

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
            open_job(settings.pop("out"), {"allocation": settings})

    def __call__(self, batch: Any) -> Any:
        """The rows of a batch, a table of PyArrow; with a folder ``out`` only their ``id`` and ``error``."""
        table = super().__call__(batch.to_dict("list") if hasattr(batch, "to_dict") else batch)
        if not self.out:
            return table
        write_shard(Path(self.out, _file_of(table["id"].to_pylist())), table)
        return table.select(["id", "error"])


def _file_of(names: list[str]) -> str:
    """A file for these images: Ray repeats the batch of an actor that died, which must not have two of them."""
    return f"{hashlib.sha256(json.dumps(names).encode()).hexdigest()[:32]}.parquet"
