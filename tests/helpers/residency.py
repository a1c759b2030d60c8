"""Plain twins of the compiled policies: how many items each one loads."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import cache

from hypothesis import strategies as st

from hra.residency import Trace

# What the fixture `random_trace` gives, its seeds, and sizes of pools for it.
MakeTrace = Callable[..., Trace]
SEEDS = st.integers(0, 10**6)
POOLS = st.integers(0, 60)


def lru_loads(trace: Trace, pool: int) -> int:
    held: OrderedDict[int, int] = OrderedDict()
    loads = 0
    for item in trace.demands.tolist():
        if item in held:
            held.move_to_end(item)
        elif trace.cost[item] <= pool:
            loads += 1
            held[item] = int(trace.cost[item])
            while sum(held.values()) > pool:
                held.popitem(last=False)
    return loads


def fewest_loads(trace: Trace, pool: int) -> int:
    """The optimum by trying every eviction; all items cost 1."""
    demands = tuple(trace.demands.tolist())

    @cache
    def fewest(position: int, held: frozenset[int]) -> int:
        if position == len(demands):
            return 0
        item = demands[position]
        if item in held:
            return fewest(position + 1, held)
        if len(held) < pool:
            return 1 + fewest(position + 1, held | {item})
        return 1 + min(fewest(position + 1, (held - {victim}) | {item}) for victim in held)

    return fewest(0, frozenset())


def look_ahead_loads(trace: Trace, pool: int, frames: int, weight: float = 0.0) -> int:
    """Known next uses are searched in the trace, anew for every eviction."""
    used_at: dict[int, int] = {}
    aging = [1 / (1 + weight * level) for level in _levels(trace)]
    demands, loads = trace.demands.tolist(), 0
    for frame in range(len(trace)):
        known = int(trace.frames[min(frame + 1 + frames, len(trace))])
        for position in range(trace.frames[frame], trace.frames[frame + 1]):
            item = demands[position]
            if item not in used_at:
                if trace.cost[item] > pool:
                    continue
                loads += 1
                while sum(int(trace.cost[i]) for i in used_at) + trace.cost[item] > pool:
                    ages = {held: (position - used) * aging[held] for held, used in used_at.items()}
                    del used_at[_first_to_go(ages, demands[position:known])]
            used_at[item] = position
    return loads


def _levels(trace: Trace) -> list[int]:
    depth: list[int] = []
    for above in [] if trace.parents is None else trace.parents.tolist():
        depth.append(0 if above < 0 else depth[above] + 1)
    return [max(depth) - d for d in depth] if depth else [0] * trace.cost.size


def _first_to_go(ages: dict[int, float], coming: list[int]) -> int:
    unknown = {item: age for item, age in ages.items() if item not in coming}
    return max(unknown, key=unknown.__getitem__) if unknown else max(ages, key=coming.index)


def refusing_loads(trace: Trace, pool: int, least: float, step: float) -> tuple[int, int]:
    """Loads and refusals."""
    used_at: OrderedDict[int, int] = OrderedDict()
    loads = refused = 0
    for frame in range(len(trace)):
        for item in trace.frame(frame).tolist():
            if item in used_at:
                used_at.move_to_end(item)
            elif sum(int(trace.cost[i]) for i in used_at) + trace.cost[item] > pool:
                refused += 1
                continue
            else:
                loads += 1
            used_at[item] = frame
        used = sum(int(trace.cost[i]) for i in used_at)
        excess = used - least * pool
        goal = used - min(max(step * least * pool, step * excess), excess)
        while excess > 0 and sum(int(trace.cost[i]) for i in used_at) > goal:
            oldest = next(iter(used_at))
            if used_at[oldest] == frame:
                break
            del used_at[oldest]
    return loads, refused


def godot_loads(trace: Trace, pool: int) -> tuple[int, int]:
    """Loads and refusals."""
    wanted_at: dict[int, int] = {}
    loads = refused = 0
    for frame in range(len(trace)):
        wanted = trace.frame(frame).tolist()
        for item in wanted:
            if item in wanted_at:
                wanted_at[item] = frame
        for item in wanted:
            if item in wanted_at:
                continue
            held = sum(int(trace.cost[i]) for i in wanted_at if wanted_at[i] == frame)
            if held + trace.cost[item] > pool:
                refused += 1
                continue
            while sum(int(trace.cost[i]) for i in wanted_at) + trace.cost[item] > pool:
                del wanted_at[min(wanted_at, key=lambda i: (wanted_at[i], -trace.cost[i], -i))]
            wanted_at[item] = frame
            loads += 1
    return loads, refused


def age_loads(trace: Trace, pool: int, age: int) -> tuple[int, int]:
    """Loads and refusals of a cache that drops what was not wanted for more than ``age`` frames, and nothing else."""
    used_at: dict[int, int] = {}
    loads = refused = 0
    for f in range(len(trace)):
        wanted = trace.frame(f).tolist()
        used_at = {i: f if i in wanted else at for i, at in used_at.items()}
        used_at = {i: at for i, at in used_at.items() if f - at <= age}
        for item in wanted:
            if item in used_at:
                continue
            if sum(trace.cost[list(used_at)]) + trace.cost[item] > pool:
                refused += 1
                continue
            used_at[item] = f
            loads += 1
    return loads, refused
