"""The scale suite."""

from __future__ import annotations

from dataclasses import replace

from hra.lab.bench.scale.out_of_core import OutOfCoreRow
from hra.lab.bench.scale.token_rows import JobsRow, one_process, two_actors
from hra.lab.bench.suite import Row


def scale_suite() -> tuple[Row, ...]:
    """All rows, in the order of the table."""
    ray = JobsRow("tokens_beside_ray", ("ray, two actors", two_actors), counted=False)
    return (
        JobsRow("tokens_two_jobs", ("one process", one_process)),
        OutOfCoreRow("build_out_of_core"),
        replace(ray, needs=(*ray.needs, "ray.data:from_items")),
    )
