"""Rows of a folder in a Parquet file."""

import tempfile

from pyarrow import parquet

import hra
from hra.domains import tokens

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as out:
        allocation = tokens.TokenAllocation(budget=20, relevance="uniform")
        report = tokens.allocate_folder(hra.samples.path("photo.jpg").parent, out, allocation)
        assert report.images == 3 and not report.errors, report
        rows = parquet.read_table(f"{out}/shard-000000.parquet")
        assert [len(row) for row in rows["indices"].to_pylist()] == [20, 20, 20]
