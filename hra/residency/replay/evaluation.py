"""The evaluation of policies: the log of each is replayed, every step of it is checked, and all is counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.compiling import njit
from hra.errors import HraError, check_kind, wrong_kind
from hra.model.arrays import indices, to_numpy
from hra.residency.live.pool import byte_limit
from hra.residency.replay.policy import Log, Policy
from hra.residency.replay.trace import Trace

# An item that comes back within this many frames of its eviction counts as thrash: a second at 60 frames per second.
THRASH_WINDOW = 60


@dataclass(frozen=True, eq=False, repr=False)
class PolicyResult:
    """What a policy did with a trace.

    Attributes
    ----------
    policy : its name.
    pool : bytes that it was allowed to hold.
    references : demands in all.
    resident_bytes, loaded_bytes : int64 [F], held at the end of each frame, loaded during it.
    missing_bytes : int64 [F], demanded by each frame and not there when it began.
    loads, evictions : numbers of items.
    faults : demands for what was not there when their frame began.
    late : demands for what was not there when their frame ended.
    refused : demands that were turned away because the pool was full.
    thrash : loads of what was evicted at most 60 frames before.
    orphans : loads without the parent, and evictions under a resident child.
    peak_bytes : the most that was ever held, counted after every single load.
    """

    policy: str
    pool: int
    references: int
    resident_bytes: np.ndarray
    loaded_bytes: np.ndarray
    missing_bytes: np.ndarray
    loads: int
    evictions: int
    faults: int
    late: int
    refused: int
    thrash: int
    orphans: int
    peak_bytes: int

    @property
    def fault_rate(self) -> float:
        """Share of the demands that were page faults."""
        return self.faults / self.references if self.references else 0.0

    def summary(self) -> dict[str, Any]:
        """The numbers, without those of single frames, ready for JSON."""
        names = ("loads", "evictions", "faults", "late", "refused", "thrash", "orphans", "peak_bytes")
        counts = {name: getattr(self, name) for name in names}
        return {"policy": self.policy, **counts, "bytes": int(self.loaded_bytes.sum()), "fault_rate": self.fault_rate}

    def __repr__(self) -> str:
        return f"{self.policy}: {self.loads:,} loads, {self.thrash:,} of them thrash, {self.refused:,} refused"


def evaluate(policy: Policy, trace: Trace, pool: int) -> PolicyResult:
    """Run ``policy`` on ``trace`` within ``pool`` bytes and count what it did.

    Raises
    ------
    InvalidBudget : the pool is not a number >= 0.
    HraError : the policy loaded what was there, evicted what was not, exceeded the pool, or its log is none of the
        trace.
    """
    for argument, given, kind in (("policy", policy, Policy), ("trace", trace, Trace)):
        check_kind(argument, given, kind, "call evaluate(policy, trace, pool)")
    pool = byte_limit("pool", pool)
    return evaluate_log(policy.name, policy.run(trace, pool), trace, pool)


def evaluate_log(name: str, log: Log, trace: Trace, pool: int) -> PolicyResult:
    """Count what a ``log`` says; errors as in `evaluate`."""
    events, ends, refused = _checked(name, log, len(trace))
    counts, resident, loaded, missing = (np.zeros(size, np.int64) for size in (7, *3 * (len(trace),)))
    parents = np.full(trace.cost.size, -1, np.int32) if trace.parents is None else trace.parents
    wanted = trace.frames, trace.demands, trace.cost, parents
    wrong = _count(wanted, (ends, events), pool, counts, (resident, loaded, missing))
    if wrong >= 0:
        raise HraError(f"{name} broke the rules of the pool", where=f"event {wrong}", fix="report this as a bug")
    loads, evictions, faults, late, thrash, orphans, peak = counts.tolist()
    return PolicyResult(
        policy=name,
        pool=pool,
        references=trace.demands.size,
        resident_bytes=resident,
        loaded_bytes=loaded,
        missing_bytes=missing,
        loads=loads,
        evictions=evictions,
        faults=faults,
        late=late,
        refused=int(refused.sum()),
        thrash=thrash,
        orphans=orphans,
        peak_bytes=peak,
    )


def _checked(name: str, log: Any, frames: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Events, their ends and what was refused, as integers: the log may be code of users."""
    if not isinstance(log, Log):
        raise wrong_kind("what a policy returns", log, Log, f"return a Log from the run of {name}")
    events, ends, refused = map(to_numpy, (log.events, log.frames, log.refused))
    whole = _is_whole(events) and _is_whole(ends)
    if not whole or ends.size != frames + 1 or refused.shape != (frames,):
        what = f"{name} logged {ends.size - 1} frames and {refused.size} counts of what it refused, of {frames} frames"
        raise HraError(what, where="Log", fix="log whole numbers, and each frame of the trace")
    if ends[0] != 0 or (ends[1:] < ends[:-1]).any() or ends[-1] != events.size:
        what = f"the frames of {name} do not rise from 0 to its {events.size} events"
        raise HraError(what, where="Log.frames", fix="log where the events of each frame begin and end")
    refused = indices(f"refused of {name}", refused, 0, 2**62)
    events = events if events.dtype == np.int32 else events.astype(np.int64)  # traces are large
    return events, ends.astype(np.int64), refused


def _is_whole(array: np.ndarray) -> bool:
    """Whether an array is a vector of integers that int64 holds."""
    return array.ndim == 1 and (not array.size or (array.dtype.kind in "iu" and np.can_cast(array.dtype, np.int64)))


@njit(cache=True)
def _count(wanted, log, pool, counts, per_frame):
    """Fill the counts; the position of the first event that breaks a rule, or -1."""
    (frames, demands, cost, parents), (log_frames, events) = wanted, log
    resident_bytes, loaded_bytes, missing_bytes = per_frame
    there, children = np.zeros(cost.size, np.bool_), np.zeros(cost.size, np.int32)
    evicted_at = np.full(cost.size, -THRASH_WINDOW - 1, np.int64)
    used = 0
    for f in range(frames.size - 1):
        for r in range(frames[f], frames[f + 1]):
            if not there[demands[r]]:
                counts[2] += 1
                missing_bytes[f] += cost[demands[r]]
        for e in range(log_frames[f], log_frames[f + 1]):
            loads = events[e] >= 0
            item = events[e] if loads else -1 - events[e]
            if item >= cost.size or there[item] == loads:
                return e
            above = parents[item]
            there[item] = loads
            if loads:
                used += cost[item]
                loaded_bytes[f] += cost[item]
                counts[0] += 1
                counts[4] += f - evicted_at[item] <= THRASH_WINDOW
                counts[5] += above >= 0 and not there[above]
            else:
                used -= cost[item]
                evicted_at[item] = f
                counts[1] += 1
                counts[5] += children[item] > 0
            if above >= 0:
                children[above] += 1 if loads else -1
            if used > pool:
                return e
            counts[6] = max(counts[6], used)
        for r in range(frames[f], frames[f + 1]):
            counts[3] += not there[demands[r]]
        resident_bytes[f] = used
    return -1
