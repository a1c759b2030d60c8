"""Row: the policies of residency on a drive with revisits, as parts of what separates LRU from the optimum."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from hra.residency import LRU, Belady, LookAhead, Policy, PolicyResult, Refusing, Streaming, Trace, evaluate
from hra.residency.replay.paths import kitti_like
from hra.residency.replay.policies import policies
from hra_lab.bench.harness import Case, Contender, measure
from hra_lab.bench.suite import Scale
from hra_lab.bench.textures.timed_row import timed_row

_TILE = 65_536
# Tiles that a frame may upload: about twice what a frame needs on average.
_UPLOADS = 64
_PREFETCHED = 10
_FRAMES_AHEAD = 300
# Results that the row itself quotes.
_QUOTED = ("refused", "excess_removed_2000", "excess_removed_8000", "thrash")


@dataclass(frozen=True)
class ReplayBenchmark:
    """Look-ahead and streaming on the trace of `kitti_like`; what is timed is `Streaming` with its upload limit."""

    name: str
    needs: tuple[str, ...] = ()

    def measure(self, scale: Scale, repeat: int, bandwidth: float) -> dict[str, Any]:
        """The row.

        ``excess_removed_P`` is the part of the loads of LRU beyond Belady's that look-ahead over 300 frames saves with
        a pool of P tiles; "by levels" lets coarse tiles age more slowly. The other results are of 2000 tiles; those of
        streaming are with an upload limit. ``loads`` is the curve over look-ahead, ``references_per_cpu_s`` the speed
        of every policy, also with a pool that does not hold what a frame wants.
        """
        trace, pools, tight = (
            (kitti_like(), (2000, 8000), 500) if scale == "full" else (kitti_like(60), (400, 800), 100)
        )
        streaming = Streaming(_FRAMES_AHEAD, _UPLOADS * _TILE, prefetch=_PREFETCHED)
        results = _results(trace, pools, evaluate(streaming, trace, pools[0] * _TILE))
        row = timed_row(self.name, _timing(trace, pools[0], [streaming]), None, repeat, results)
        return {
            **row,
            **{name: results[name] for name in _QUOTED if name in results},
            "loads": {str(tiles): _loads(trace, tiles * _TILE) for tiles in pools},
            "references_per_cpu_s": {str(tiles): _rates(trace, tiles, repeat) for tiles in (tight, *pools)},
        }


def _timing(trace: Trace, tiles: int, chosen: list[Policy]) -> Case:
    """Policies in turns; `evaluate` checks every step of their logs, outside of the clock."""
    contenders = [Contender(policy.name, partial(_run, policy, tiles * _TILE)) for policy in chosen]
    return Case(tuple(contenders), lambda _: trace, lambda *_: {}, trace.demands.size, 0)


def _run(policy: Policy, pool: int, trace: Trace) -> Any:
    return policy.run(trace, pool)


def _rates(trace: Trace, tiles: int, repeat: int) -> dict[str, float]:
    chosen = policies("all", trace, _UPLOADS * _TILE, _PREFETCHED)
    clocks = measure(_timing(trace, tiles, chosen), repeat)
    return {name: trace.demands.size / max(clock.cpu_seconds, 1e-9) for name, clock in clocks.items()}


def _loads(trace: Trace, pool: int) -> dict[str, int]:
    curve = (LRU(), *(LookAhead(frames) for frames in (0, 30, _FRAMES_AHEAD, None)), Belady())
    return {policy.name: evaluate(policy, trace, pool).loads for policy in curve}


def _results(trace: Trace, pools: tuple[int, ...], streaming: PolicyResult) -> dict[str, float]:
    pool = pools[0] * _TILE
    usual = evaluate(LRU(), trace, pool)
    return {
        "refused": streaming.refused,
        **{f"excess_removed_{tiles}": _excess_removed(trace, tiles * _TILE, 0.0) for tiles in pools},
        **{f"by levels, {tiles}": _excess_removed(trace, tiles * _TILE, 1.0) for tiles in pools},
        "thrash": evaluate(LookAhead(_FRAMES_AHEAD), trace, pool).thrash,
        "thrash of streaming": streaming.thrash,
        "thrash of LRU": usual.thrash,
        "fault rate": streaming.fault_rate,
        "fault rate of LRU": usual.fault_rate,
        "refused by a cache that refuses": evaluate(Refusing(), trace, 800 * _TILE).refused,
    }


def _excess_removed(trace: Trace, pool: int, level_weight: float) -> float:
    least, usual = evaluate(Belady(), trace, pool).loads, evaluate(LRU(), trace, pool).loads
    return (usual - evaluate(LookAhead(_FRAMES_AHEAD, level_weight), trace, pool).loads) / max(usual - least, 1)
