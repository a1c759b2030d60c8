"""Rows by an actor of Ray Data."""

import ray
import ray.data

import hra
from hra.integrations.ray import TokenAllocation

ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
paths = [{"path": str(hra.samples.path(name))} for name in ("photo.jpg", "page.png")]
rows = ray.data.from_items(paths).map_batches(
    TokenAllocation,
    fn_constructor_kwargs={"budget": 20, "relevance": "uniform"},
    batch_format="pyarrow",
    concurrency=1,
)
assert sorted(len(row["indices"]) for row in rows.take_all()) == [20, 20]
ray.shutdown()
