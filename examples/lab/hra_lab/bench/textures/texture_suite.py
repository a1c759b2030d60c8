"""The textures suite: feedback, and what residency is worth on the screen and over a path."""

from __future__ import annotations

from hra_lab.bench.suite import Row
from hra_lab.bench.textures.feedback_row import FeedbackBenchmark
from hra_lab.bench.textures.replay_row import ReplayBenchmark
from hra_lab.bench.textures.sources import PlanBenchmark, TileReadBenchmark
from hra_lab.bench.textures.split_row import SplitBenchmark
from hra_lab.bench.textures.view_row import ViewBenchmark

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
