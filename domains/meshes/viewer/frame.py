"""What a frame of a view drew, in numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.allocating.allocation import Allocation, ratio
from hra.kernels.raster.clusters.renderer import FrameFacts


@dataclass(frozen=True)
class ViewFrame:
    """One frame.

    Attributes
    ----------
    facts : what the renderer drew of the cut, and what it culled.
    error : the largest that the cut leaves; unit : "px", or empty where the metric does not count in pixels.
    gap : how far what the cut gains is from the most that any cut within the triangles could, 0 to 1; None where pixels
        are the limit, or errors do not add up.
    resident_bytes : slots that were taken at the frame's fullest moment; pool_bytes : all slots.
    uploaded_bytes : what went to the GPU for this frame.
    queued : pages that are waited for.
    frozen : whether this is an earlier frame that is seen from elsewhere.
    seconds : what choosing, streaming and drawing took, without colours.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> meshes.build(hra.samples.path("skull.ply")).save("skull.hra")
    >>> asset = meshes.open_asset("skull.hra")
    >>> with meshes.ViewSession(asset, hra.Camera.orbit(asset.bounds, viewport=(160, 120)), triangles=5_000) as session:
    ...     frame = session.frame()
    >>> frame.facts.triangles <= 5_000, frame.queued
    (True, 0)
    """

    facts: FrameFacts
    error: float
    unit: str
    gap: float | None
    resident_bytes: int
    pool_bytes: int
    uploaded_bytes: int
    queued: int
    frozen: bool
    seconds: float

    def lines(self) -> list[str]:
        """What a window tells of it."""
        drawn = self.facts
        held, pool = self.resident_bytes / 1e6, self.pool_bytes / 1e6
        waiting = f", {self.queued} pages to come" if self.queued else ""
        frozen = ", culling frozen" if self.frozen else ""
        gap = "" if self.gap is None else f", gap {100 * self.gap:.2g} %"
        return [
            f"{1 / self.seconds:.1f} fps, {1e3 * self.seconds:.1f} ms a frame{frozen}",
            f"{drawn.triangles:,} triangles, {drawn.in_frustum:,} in view, {drawn.visible:,} not hidden, "
            f"{drawn.drawn:,} drawn",
            f"{held:,.2f} of {pool:,.2f} MB resident, {self.uploaded_bytes / 1e3:,.1f} kB up{waiting}",
            f"error {self.error:.3g} {self.unit}".rstrip() + gap,
        ]


def error_of(allocation: Allocation, refined: np.ndarray) -> float:
    """The largest error where ``refined`` [R] leaves off; no more than the allocation's, if it refines as much."""
    return float(allocation.problem.peak[~refined].max(initial=0.0))


def gap_of(allocation: Allocation, refined: np.ndarray) -> float:
    """How far what the refinements ``refined`` [R] gain is from the allocation's upper bound, 0 to 1."""
    best = allocation.upper_bound
    return ratio(best - float(allocation.problem.gain[refined].sum()), best)
