"""Our residency policy on traces: allocation within the pool, then a `ResidentPool`."""

from __future__ import annotations

from dataclasses import dataclass

from hra.errors import HraError
from hra.residency.closure import close_upward
from hra.residency.fitting import Fitter
from hra.residency.foresight import Foresight
from hra.residency.policy import Log, Policy
from hra.residency.pool import ResidentPool
from hra.residency.serving import Served, serve_frames
from hra.residency.trace import Trace


@dataclass(frozen=True)
class Streaming(Policy):
    """Loads parents first, by gain per byte, within an upload limit; what does not fit this frame is queued.

    All that a frame wants must be there at once, which is what drawing needs; `LookAhead` and `Belady` may evict what
    the current frame has already used. Where a frame wants more than the pool, the choice within it that gains most is
    taken, in favour of what is there.

    Parameters
    ----------
    look_ahead : how many frames after the current one are known; None for all.
    upload_bytes : the most that one frame loads; None for no limit.
    prefetch : how many of the known frames are loaded ahead.
    hysteresis : where a frame wants more than the pool, what is there counts ``1 + hysteresis`` times its gain: by
        default, what replaces it must be worth twice as much.
    """

    look_ahead: int | None = 0
    upload_bytes: int | None = None
    prefetch: int = 0
    hysteresis: float = 1.0

    def __post_init__(self) -> None:
        if self.look_ahead is not None and self.look_ahead < 0:
            raise HraError(f"cannot look {self.look_ahead} frames ahead", where="Streaming", fix="use 0 or more")

    @property
    def name(self) -> str:
        """What tables call it."""
        return f"streaming, {'all' if self.look_ahead is None else self.look_ahead} ahead"

    def run(self, trace: Trace, pool: int) -> Log:
        """Serve every demand of ``trace``, holding at most ``pool`` bytes.

        Raises
        ------
        BudgetTooSmall : the pool does not hold the coarsest items, or the upload limit not the largest other one.
        """
        limits = {"pool_bytes": pool, "upload_bytes": self.upload_bytes, "prefetch": self.prefetch}
        residents = ResidentPool(trace.cost, trace.parents, **limits)
        wanted = close_upward(trace)
        fitter = Fitter(wanted, residents, self.hysteresis)
        foresight = Foresight(wanted, len(trace) if self.look_ahead is None else self.look_ahead)

        def choose(frame: int) -> Served:
            foresight.update(residents.coming, frame)
            return *fitter.fit(frame), foresight.soon(frame, self.prefetch)

        return serve_frames(residents, len(trace), choose)
