"""What a flight held, drew and showed, frame by frame."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from hra.errors import MissingExtra


def flight_plot(frames: Sequence[dict[str, Any]], pool_bytes: float) -> bytes:
    """A PNG of the frames' records, see `hra.domains.meshes.commands.flying`: bytes, triangles, and differences."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra.of("matplotlib", "viz") from error
    compared = frames[0]["flip"] is not None
    figure = Figure(figsize=(9, 7.5 if compared else 5.2), layout="constrained")
    held, drawn, *shown = figure.subplots(2 + compared, sharex=True)
    held.plot([frame["held_bytes"] / 2**20 for frame in frames], label="held")
    held.bar(range(len(frames)), [frame["loaded_bytes"] / 2**20 for frame in frames], color="C1", label="uploaded")
    held.axhline(pool_bytes / 2**20, color="black", linestyle="--", label="pool")
    held.set(ylabel="MiB", ylim=(0, None))
    for name, label in (("triangles", "in the cut"), ("in_frustum", "in the frustum"), ("visible", "not hidden")):
        drawn.plot([frame[name] / 1000 for frame in frames], label=label)
    drawn.set(ylabel="thousand triangles", ylim=(0, None))
    for axes in shown:
        axes.plot([frame["flip"] for frame in frames], color="C3", label="FLIP against full detail")
        axes.set(ylabel="FLIP", ylim=(0, None))
    for axes in (held, drawn, *shown):
        axes.legend(loc="upper right", fontsize="small")
        axes.spines[["top", "right"]].set_visible(False)
    (shown[-1] if shown else drawn).set_xlabel("frame")
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=100)
    return stream.getvalue()
