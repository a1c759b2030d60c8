"""All rows of the runtime suite."""

from __future__ import annotations

from hra_lab.bench.runtime.frame_row import FrameBenchmark
from hra_lab.bench.runtime.interior_row import InteriorBenchmark
from hra_lab.bench.runtime.peers_row import PeersBenchmark
from hra_lab.bench.suite import Row


def runtime_suite() -> tuple[Row, ...]:
    """All rows, in the order of the table."""
    frames = (FrameBenchmark(f"frame_{copies}", copies) for copies in (1, 100, 10_000))
    return *frames, PeersBenchmark("one_pixel_100", 100), InteriorBenchmark("occlusion_interior")
