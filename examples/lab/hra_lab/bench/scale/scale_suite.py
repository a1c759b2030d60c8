"""The scale suite."""

from __future__ import annotations

from hra_lab.bench.scale.out_of_core import OutOfCoreRow
from hra_lab.bench.scale.photos import CAMERA
from hra_lab.bench.scale.token_rows import JobsRow, one_actor, one_process, two_actors, two_actors_alone
from hra_lab.bench.suite import Row

_RAY = ("pyarrow.parquet:write_table", "PIL.Image:open", "ray.data:from_items")


def scale_suite() -> tuple[Row, ...]:
    """All rows, in the order of the table."""
    photographs = {"full": 10_000, "size": CAMERA, "budget": 273, "counted": False, "needs": _RAY}
    return (
        JobsRow("tokens_two_jobs", ("one process", one_process)),
        OutOfCoreRow("build_out_of_core"),
        JobsRow("tokens_beside_ray_square", ("ray, two actors", two_actors), full=10_000, counted=False, needs=_RAY),
        JobsRow("tokens_beside_ray", ("ray, two actors", two_actors), **photographs),
        JobsRow("tokens_beside_ray_alone", ("ray, two actors without Ray Data", two_actors_alone), **photographs),
        JobsRow("tokens_two_actors", ("ray, one actor", one_actor), two_actors, **photographs),
    )
