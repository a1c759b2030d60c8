"""``hra texture replay`` of recorded traces.

It says of policies: records for JSON, a table and a picture.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.table import Table

from hra.console import running, write_json
from hra.errors import MissingExtra
from hra.files.atomic_write import write_atomically

if TYPE_CHECKING:
    import numpy as np

    from hra.domains.textures import ViewQuality
    from hra.residency import PolicyResult, Trace

_NO_ERROR = 1e-9  # px2; below are differences of sums
_COUNTS = ("loads", "faults", "late", "refused", "thrash", "peak_bytes")


@dataclass(frozen=True, eq=False)
class PolicyViews:
    """What a policy shows of a scene.

    Attributes
    ----------
    quality : of the views that are compared.
    residual, least : float64 [F], their texel errors and what no choice of pages within the pool undercuts, px2.
    """

    quality: ViewQuality
    residual: np.ndarray
    least: np.ndarray

    @property
    def over_least(self) -> float:
        """The error of all views as a multiple of the least one; inf where only that is 0."""
        error, least = float(self.residual.sum()), float(self.least.sum())
        if least > _NO_ERROR:
            return error / least
        return 1.0 if error <= _NO_ERROR else math.inf


@dataclass(frozen=True, eq=False)
class PolicyRow:
    """A policy's result beside the loads and bytes of Belady's policy, and its views, None without a scene."""

    result: PolicyResult
    belady: PolicyResult
    views: PolicyViews | None = None

    @property
    def loads_over_belady(self) -> float:
        """Loads as a multiple of Belady's; 1 where nothing is loaded."""
        return self.result.loads / self.belady.loads if self.belady.loads else 1.0

    def record(self) -> dict[str, Any]:
        """What stands in the JSON file."""
        loaded, least = int(self.result.loaded_bytes.sum()), int(self.belady.loaded_bytes.sum())
        ratios = {"loads_over_belady": self.loads_over_belady, "bytes_over_belady": loaded / least if least else 1.0}
        per_frame = {"resident": self.result.resident_bytes, "loaded": self.result.loaded_bytes}
        return self.result.summary() | ratios | self._of_views() | {"per_frame": per_frame}

    def _of_views(self) -> dict[str, Any]:
        names = ("mean_psnr", "mean_flip", "psnr", "flip", "residual_px2", "residual_over_least")
        if self.views is None:
            return dict.fromkeys(names)
        quality, views = self.views.quality, self.views
        flip = quality.flip if quality.flip.size else None
        means = quality.mean_psnr, None if flip is None else float(flip.mean())
        return dict(zip(names, (*means, quality.psnr, flip, views.residual, views.over_least), strict=True))


def sizes(trace: Trace, pool: int) -> dict[str, Any]:
    """What is replayed; Belady's loads are the fewest possible where all items cost the same."""
    return {
        "frames": len(trace),
        "references": trace.demands.size,
        "items": trace.distinct,
        "pool_bytes": pool,
        "belady_is_optimal": bool((trace.cost == trace.cost[:1]).all()),
    }


def show_rows(title: str, rows: Sequence[PolicyRow]) -> None:
    """One line per policy; the columns of views only where there are any."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE)
    table.add_column("policy", no_wrap=True)
    views = ("dB", "error / least") if any(row.views for row in rows) else ()
    views += ("FLIP",) if any(row.views and row.views.quality.flip.size for row in rows) else ()
    for column in ("loads", "/ Belady", *_COUNTS[1:-1], "peak bytes", *views):
        table.add_column(column, justify="right", no_wrap=True)
    for row in rows:
        counts = [f"{getattr(row.result, name):,}" for name in _COUNTS]
        table.add_row(row.result.policy, counts[0], f"{row.loads_over_belady:.3f}", *counts[1:], *_views(row.views))
    # A pipe passes for 80 columns, which would cut the numbers off.
    Console(width=max(Console().width, 140)).print(table)


def _views(views: PolicyViews | None) -> list[str]:
    if views is None:
        return []
    flip = [f"{views.quality.flip.mean():.4f}"] if views.quality.flip.size else []
    return [f"{views.quality.mean_psnr:.1f}", f"{views.over_least:.3f}", *flip]


def write_picture(path: Path, rows: Sequence[PolicyRow], pool: int) -> None:
    """Draw what is resident over time, and loaded so far beyond what Belady's policy has, one line per policy."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise MissingExtra.of("matplotlib", "viz") from error
    figure = Figure(figsize=(10, 6), layout="constrained")
    resident, loaded = figure.subplots(2, sharex=True)
    for number, row in enumerate(rows):
        # Ever thinner, so that none hides the one before.
        style = {"linewidth": 3.2 - 0.2 * number, "color": f"C{number % 10}", "linestyle": "-" if number < 10 else ":"}
        beyond = row.result.loaded_bytes.cumsum() - row.belady.loaded_bytes.cumsum()
        resident.plot(row.result.resident_bytes / 2**20, **style)
        loaded.plot(beyond / 2**20, label=row.result.policy, **style)
    resident.axhline(pool / 2**20, color="black", linestyle="--", label="pool")
    resident.set(ylabel="resident, MiB", ylim=(0, None))
    loaded.set(xlabel="frame", ylabel="loaded so far beyond Belady's, MiB")
    figure.legend(loc="outside right center", fontsize="small")
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=100)
    write_atomically(path, stream.getvalue())


def replay_trace(
    path: Path,
    pool: int,
    policy: str,
    upload: int | None,
    prefetch: int,
    json_file: Path | None,
    picture: Path | None,
) -> None:
    """Run policies on a trace and show what each one loads."""
    from hra.residency import Belady, evaluate, load_trace
    from hra.residency.replay.policies import policies

    trace, rows = load_trace(path), []
    chosen = policies(policy, trace, upload, prefetch)
    with running("replay") as progress:
        least = evaluate(Belady(), trace, pool)
        for contender in chosen:
            progress(contender.name)
            rows.append(PolicyRow(evaluate(contender, trace, pool), least))
    write_json(json_file, {**sizes(trace, pool), "policies": [row.record() for row in rows]})
    if picture is not None:
        write_picture(picture, rows, pool)
    show_rows(f"{path.name}: {trace!r}", rows)
