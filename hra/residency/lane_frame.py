"""What a lane did in one frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.residency.reading import ReadFailure


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
class LaneFrame:
    """What one frame did.

    Attributes
    ----------
    members : one for each member of the lane.
    data : what was read, by member and item, for all loads; empty without a reader.
    failures : reads that failed for the first time; their items are numbered over all members, see `Lane.member_of`.
    held_bytes : of the items, of reads in flight and of data that waits for its upload, at the fullest moment.
    """

    members: tuple[MemberFrame, ...]
    data: dict[tuple[int, int], object]
    failures: tuple[ReadFailure, ...]
    held_bytes: int
