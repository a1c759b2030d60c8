"""One pool for all that is held: textures and meshes advance it together, frame by frame."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from hra.allocating.allocation import Allocation
from hra.errors import ArrayError, BudgetTooSmall, HierarchyError, HraError, check_kind
from hra.model.arrays import indices, offsets_of
from hra.residency.live.explanation import Explanation
from hra.residency.live.items import Items
from hra.residency.live.loading import Loader, ReadFailure, Reading
from hra.residency.live.pool import ResidentPool, byte_limit
from hra.residency.live.pool_kernels import PINNED


@dataclass(frozen=True, eq=False)
class MemberFrame:
    """What one frame asks of one member: first drop the evictions, then upload the loads, each in order.

    Attributes
    ----------
    loads, evictions : int32, items. None of the evictions is wanted, and none is among the loads.
    resident : bool [N], what is there after both.
    wanted : int64 [K], ascending: the best items for the frame that fit into the pool.
    queued : int32 [Q], what of it is not resident yet, in the order in which it is loaded.
    """

    loads: np.ndarray
    evictions: np.ndarray
    resident: np.ndarray
    wanted: np.ndarray
    queued: np.ndarray


@dataclass(frozen=True, eq=False)
class ResidencyFrame:
    """What one frame did.

    Attributes
    ----------
    members : one for each member that shares the pool.
    data : what was read, by member and item, for all loads; empty without a reader.
    failures : reads that failed for the first time; their items are numbered over all members, see
        `SharedResidency.member_of`.
    held_bytes : of the items, of reads in flight and of data that waits for its upload, at the fullest moment.
    """

    members: tuple[MemberFrame, ...]
    data: dict[tuple[int, int], object]
    failures: tuple[ReadFailure, ...]
    held_bytes: int


class SharedResidency:
    """A pool of bytes that several members share, advanced once per frame.

    The order is always: what is pinned (roots and mip tails), then the upload limit, then quality. What is no longer
    wanted stays until its room is needed, so that a view that returns finds it.

    With a reader no frame waits for data: it loads what has arrived, and goes on with what is there. The pool then
    counts three things, which together never exceed it: the items that are held, reads in flight, and data that has
    arrived and is not uploaded yet. A frame's data is let go when the next one begins.

    Parameters
    ----------
    members : what is held, such as `ForestItems` and `PagedItems`.
    pool_bytes : the most that is ever held.
    upload_bytes : the most that one frame uploads, None for no limit; pinned items, which the first frame loads, do not
        count.
    reading : reads the items, numbered over all members, one after the other; None where the caller loads what a frame
        names.

    Raises
    ------
    HraError : no members, or something else in their place or that of the reader.
    ArrayError : bytes of reads that are not one number above 0 for each item.
    InvalidBudget : a limit that is not a number >= 0.
    BudgetTooSmall : the pool does not hold what is pinned beside what is in flight, or the upload limit not the largest
        item.

    Examples
    --------
    >>> import hra
    >>> from hra.residency import ForestItems, SharedResidency
    >>> mips = hra.Hierarchy.chains([3, 3], [4, 16, 64, 4, 16, 64], cost_unit="bytes")
    >>> shared = SharedResidency([ForestItems(mips)], pool_bytes=90, upload_bytes=64)
    >>> for gains in ([0, 9, 8, 0, 9, 0], [0, 9, 8, 0, 9, 0]):
    ...     allocation = hra.solve(mips, shared.budget, gains=gains)
    ...     print(shared.advance([allocation]).members[0].loads.tolist())
    [0, 3, 1, 4]
    []
    """

    def __init__(
        self,
        members: Sequence[Items],
        pool_bytes: float,
        *,
        upload_bytes: int | None = None,
        reading: Reading | None = None,
    ) -> None:
        fix = "pass a list of members, such as ForestItems(hierarchy) and PagedItems(paged)"
        check_kind("members", members, Sequence, fix)
        if not members:
            raise HraError("a shared pool needs at least one member", where="SharedResidency", fix=fix)
        for member in members:
            check_kind("member", member, Items, fix)
        self.members = tuple(members)
        self._first = offsets_of(np.array([member.cost.size for member in members], np.int64))
        cost = np.concatenate([member.cost for member in members])
        parents = np.concatenate(
            [
                np.where(m.parents >= 0, m.parents + first, m.parents)
                for m, first in zip(members, self._first, strict=False)
            ]
        )
        byte_limit("pool_bytes", pool_bytes)
        self.pool_bytes = pool_bytes
        self._loader = None if reading is None else Loader(reading)
        held = 0 if reading is None else _in_flight(reading, cost, parents, pool_bytes)
        self.budget = pool_bytes - held
        room = int(min(self.budget, cost.sum()))
        self._pool = ResidentPool(cost, parents, pool_bytes=room, upload_bytes=upload_bytes, prefetch=sys.maxsize)
        self._uploaded: list[int] = []
        self._failures: list[ReadFailure] = []
        self.peak_bytes = 0

    @property
    def used_bytes(self) -> int:
        """Bytes of the items that are held, reads in flight and waiting data."""
        return self._pool.used_bytes + (0 if self._loader is None else self._loader.held_bytes)

    def member_of(self, item: int) -> tuple[int, int]:
        """The member that an item belongs to, and its number there.

        Raises
        ------
        ArrayError : no such item.
        """
        (item,) = indices("item", [item], 0, int(self._first[-1])).tolist()
        member = int(np.searchsorted(self._first, item, side="right")) - 1
        return member, item - int(self._first[member])

    def advance(
        self, allocations: Sequence[Allocation], upcoming: Sequence[Sequence[Allocation]] = ()
    ) -> ResidencyFrame:
        """One frame.

        Parameters
        ----------
        allocations : one for each member, together within `budget`.
        upcoming : those of the next frames, as far as they are known, the next one first: what is left of reads and
            uploads is spent on them.

        Raises
        ------
        HraError : not one allocation for each member, or no sequence of those to come.
        HierarchyError : an allocation of something else.
        InvalidBudget : together they are larger than the budget.
        """
        check_kind("upcoming", upcoming, Sequence, "pass a list with the allocations of each next frame")
        wanted, gain = self._wanted(allocations)
        soon = [self._wanted(ahead)[0] for ahead in upcoming]
        data = self._pinned_data()
        ready = self._collect()
        before = self._pool.resident.copy()
        changes = self._pool.advance(wanted, gain, soon, ready)
        there = self._pool.resident
        # An item that went and came back within the frame just stays.
        loads, evictions = changes.loaded[~before[changes.loaded]], changes.evicted[~there[changes.evicted]]
        held = self.used_bytes
        if self._pool.frame == 0:
            loads = np.concatenate([self._pool.coarsest, loads])
            held += self._pinned_bytes
        data |= self._take(loads)
        self._request(changes.queued, soon)
        held = max(held, self.used_bytes)
        self.peak_bytes = max(self.peak_bytes, held)
        failures, self._failures = tuple(self._failures), []
        return ResidencyFrame(self._parts(loads, evictions, wanted, changes.queued), data, failures, held)

    def explain(self, item: int, member: int = 0) -> Explanation:
        """Why an item is resident, queued or evicted; items are numbered as in that member.

        Raises
        ------
        ArrayError : no such member, or no such item of it.
        """
        (member,) = indices("member", [member], 0, len(self.members)).tolist()
        (item,) = indices("item", [item], 0, self.members[member].cost.size).tolist()
        first = int(self._first[member])
        why = self._pool.explain(first + item)
        above = None if why.missing_parent is None else why.missing_parent - first
        return replace(why, item=item, missing_parent=above)

    def close(self) -> None:
        """Cancel what is being read."""
        if self._loader is not None:
            self._uploaded = []
            self._loader.close()

    def _wanted(self, allocations: Sequence[Allocation]) -> tuple[np.ndarray, np.ndarray]:
        where, fix = "SharedResidency.advance", "pass one allocation for each member"
        check_kind("allocations", allocations, Sequence, fix)
        if len(allocations) != len(self.members):
            raise HraError(f"{len(allocations)} allocations for {len(self.members)} members", where=where, fix=fix)
        items, gains = [], []
        for member, allocation, first in zip(self.members, allocations, self._first.tolist(), strict=False):
            check_kind("allocation", allocation, Allocation, fix)
            if not allocation.hierarchy.same_as(member.hierarchy):
                fix = "use the allocators of its members"
                raise HierarchyError("the allocation is of other textures or pages", fix=fix)
            wanted, gain = member.wanted(allocation)
            # Items of a member's own may be code of users: what lies beyond them would be items of the next member.
            items.append(indices(f"wanted of {type(member).__name__}", wanted, 0, member.cost.size) + first)
            gains.append(gain)
        return np.concatenate(items), np.concatenate(gains)

    @property
    def _pinned_bytes(self) -> int:
        """What the data of pinned items takes, which the first frame hands out."""
        return 0 if self._loader is None else int(np.ceil(self._loader.reading.held_bytes)[self._pool.coarsest].sum())

    def _pinned_data(self) -> dict[tuple[int, int], object]:
        """Before the first frame, the data of what is pinned, without which no frame can be drawn."""
        if self._loader is None or self._pool.frame >= 0:
            return {}
        return {self.member_of(item): self._loader.read_now(item) for item in self._pool.coarsest.tolist()}

    def _collect(self) -> np.ndarray | None:
        """Let go of what was uploaded, take in what has arrived; what can be loaded."""
        if self._loader is None:
            return None
        for item in self._uploaded:
            self._loader.release(item)
        self._uploaded = []
        self._failures += self._loader.collect()  # kept where this frame is refused: each is reported once
        ready = self._pool.resident.copy()  # what goes and comes back within the frame just stays
        ready[list(self._loader.arrived)] = True
        return ready

    def _take(self, loads: np.ndarray) -> dict[tuple[int, int], object]:
        """The data of what is loaded; it stays until the next frame."""
        if self._loader is None:
            return {}
        arrived = self._loader.arrived
        self._uploaded = [item for item in loads.tolist() if item in arrived]
        return {self.member_of(item): arrived[item] for item in self._uploaded}

    def _request(self, queued: np.ndarray, soon: list[np.ndarray]) -> None:
        """Have read what is missing; not in the first frame, while the data of what is pinned is still there."""
        if self._loader is not None and self._pool.frame > 0:
            ahead = np.concatenate([np.empty(0, np.int64), *soon])
            missing = ahead[~self._pool.resident[ahead]].tolist()
            self._loader.request(list(dict.fromkeys([*self._uploaded, *queued.tolist(), *missing])))

    def _parts(
        self, loads: np.ndarray, evictions: np.ndarray, wanted: np.ndarray, queued: np.ndarray
    ) -> tuple[MemberFrame, ...]:
        parts, there = [], self._pool.resident.copy()
        for first, last in pairwise(self._first):
            own = [part[(part >= first) & (part < last)] - first for part in (loads, evictions, wanted, queued)]
            parts.append(MemberFrame(own[0], own[1], there[first:last], own[2], own[3]))
        return tuple(parts)


def _in_flight(reading: Reading, cost: np.ndarray, parents: np.ndarray, pool_bytes: float) -> int:
    """Bytes of the pool that are kept for what is in flight; the first frame holds all pinned data at once."""
    pinned, read = parents == PINNED, np.ceil(reading.held_bytes)
    if read.size != cost.size:
        what = f"{read.size} numbers of bytes that reads take for {cost.size} items"
        raise ArrayError(what, where="held_bytes", fix="pass one for each item of all members, one after the other")
    held = max(byte_limit("limit_bytes", reading.limit_bytes), int(read[pinned].sum()))
    least = held + int(cost[pinned].sum())
    if pool_bytes < least:
        what = f"the coarsest items and data in flight take {least:,} bytes, the pool has {pool_bytes:,.12g}"
        raise BudgetTooSmall(what, where="pool_bytes", fix=f"use at least {least}")
    return held
