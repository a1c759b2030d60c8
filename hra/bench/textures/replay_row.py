"""Row: the policies of residency on a drive with revisits, as parts of what separates LRU from the optimum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hra.bench.harness import Case, Contender, measure
from hra.bench.suite import Scale
from hra.residency import LRU, Belady, LookAhead, Refusing, Streaming, Trace, Verdict, judge, kitti_like

_TILE = 65_536
# Tiles that a frame may upload: about twice what a frame needs on average.
_UPLOADS = 64
_FRAMES_AHEAD = 300


@dataclass(frozen=True)
class ReplayBenchmark:
    """Look-ahead and streaming on the trace of `kitti_like`; what is timed is `Streaming` with its upload limit."""

    name: str
    needs: tuple[str, ...] = ()

    def measure(self, scale: Scale, repeat: int, bandwidth: float) -> dict[str, Any]:
        """The row.

        ``excess_removed_P`` is the part of the loads of LRU beyond Belady's that look-ahead over 300 frames saves with
        a pool of P tiles; "by levels" lets coarse tiles age more slowly. The other results are of 2000 tiles; those of
        streaming are with an upload limit.
        """
        trace, pools = (kitti_like(), (2000, 8000)) if scale == "full" else (kitti_like(60), (400, 800))
        pool = pools[0] * _TILE
        streaming = Streaming(_FRAMES_AHEAD, _UPLOADS * _TILE, prefetch=10)
        case = Case((Contender("hra", lambda given: streaming.run(given, pool)),), lambda _: trace, _unjudged, 0, 0)
        seconds = measure(case, repeat)["hra"].seconds
        return {
            "name": self.name,
            "n": trace.demands.size,
            "ours_s": seconds,
            "peer": None,
            "peer_s": None,
            "ratio": None,
            "results": _results(trace, pools, judge(streaming, trace, pool)),
            "references_per_s": trace.demands.size / seconds,
        }


def _unjudged(given: Any, outputs: Any) -> dict[str, Any]:
    """`judge` checks every step of the log, outside of the clock."""
    return {}


def _results(trace: Trace, pools: tuple[int, ...], streaming: Verdict) -> dict[str, float]:
    pool = pools[0] * _TILE
    ahead = judge(LookAhead(_FRAMES_AHEAD), trace, pool)
    return {
        "refused": streaming.refused,
        **{f"excess_removed_{tiles}": _excess_removed(trace, tiles * _TILE, 0.0) for tiles in pools},
        **{f"by levels, {tiles}": _excess_removed(trace, tiles * _TILE, 1.0) for tiles in pools},
        "thrash": ahead.thrash,
        "thrash of LRU": judge(LRU(), trace, pool).thrash,
        "fault rate": streaming.fault_rate,
        "fault rate of LRU": judge(LRU(), trace, pool).fault_rate,
        "refused by a cache that refuses": judge(Refusing(), trace, 800 * _TILE).refused,
    }


def _excess_removed(trace: Trace, pool: int, level_weight: float) -> float:
    least, usual = judge(Belady(), trace, pool).loads, judge(LRU(), trace, pool).loads
    return (usual - judge(LookAhead(_FRAMES_AHEAD, level_weight), trace, pool).loads) / max(usual - least, 1)
