"""The auction reading of a pool: members bid their marginal gains, and the pool has one price."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.allocating.allocation import Allocation
from hra.allocating.curve import curve


@dataclass(frozen=True)
class Bid:
    """Marginal gains per cost unit on the hull of what a member could gain, left and right of what it received.

    Attributes
    ----------
    last : slope of the hull up to what it received: its last unit's share of what the last step gained; inf if it
        received nothing beyond its base, 0 beyond its use.
    next : slope from there on: what it would pay for one more unit; 0 if it has no more use for any.
    """

    last: float
    next: float


def bid_of(share: Allocation) -> Bid:
    """The bid of one member for its share, read off its curve (on graphs at several prices: `hra.allocating.curve`)."""
    line = curve(share.problem)
    slope = np.r_[np.inf, np.diff(line.gain) / np.diff(line.cost), 0.0]
    left, right = (np.searchsorted(line.cost, share.cost, side) for side in ("left", "right"))
    return Bid(last=float(slope[left]), next=float(slope[right]))
