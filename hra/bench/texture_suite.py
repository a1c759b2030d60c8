"""The textures suite: feedback, and what residency is worth on the screen and over a path."""

from __future__ import annotations

from hra.bench.suite import Row
from hra.bench.texture_feedback_row import FeedbackBenchmark
from hra.bench.texture_replay_row import ReplayBenchmark
from hra.bench.texture_sources import PlanBenchmark, TileReadBenchmark
from hra.bench.texture_split_row import SplitBenchmark
from hra.bench.texture_view_row import ViewBenchmark

_IMAGES = ("PIL.Image:open",)


def texture_suite() -> tuple[Row, ...]:
    """All benchmarks, in the order of the table.

    A row holds ``name``, ``n``, ``ours_s``, ``peer``, ``peer_s``, ``ratio`` (None where there is no peer to time) and
    ``results``: further numbers by name, which the table shows as they are.
    """
    return (
        FeedbackBenchmark("feedback_1080p", needs=_IMAGES),
        ViewBenchmark("views_earth", needs=_IMAGES),
        SplitBenchmark("split_2000", 2000),
        ReplayBenchmark("replay_kitti_like"),
        PlanBenchmark("plan_1e6_tiles"),
        TileReadBenchmark("tile_read"),
    )
