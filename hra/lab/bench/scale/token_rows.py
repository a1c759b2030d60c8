"""Token rows of a folder: two processes beside one, and Ray's two actors beside two processes."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hra.domains import tokens
from hra.lab.bench.scale.photos import write_photos
from hra.lab.bench.suite import Scale

SETTINGS: dict[str, Any] = {"budget": 100, "relevance": "cues"}
_SHARD = 64
_BLOCK = 500  # paths that Ray hands out at once


@dataclass(frozen=True)
class JobsRow:
    """Seconds of whole jobs, processes started anew: ``ours`` in two processes, the peer another way.

    Attributes
    ----------
    peer : makes the same rows of a folder of images in an empty folder.
    full, small : images; "small" is for tests.
    counted : whether the peer's processes are children of this one, so that their processor time is known.
    """

    name: str
    peer: tuple[str, Callable[[Path, Path], None]]
    full: int = 2000
    small: int = 4
    counted: bool = True
    needs: tuple[str, ...] = ("pyarrow.parquet:write_table", "PIL.Image:open")

    def measure(self, scale: Scale, repeat: int, bandwidth: float) -> dict[str, Any]:
        """The row; ``ratio`` is the peer's time over ours, ``rate`` our images per second."""
        count = self.full if scale == "full" else self.small
        own, other = [], []
        with tempfile.TemporaryDirectory() as root:
            images = Path(root, "images")
            images.mkdir()
            write_photos(images, count)
            for turn in range(repeat):
                own.append(_seconds(two_processes, images, Path(root, f"own{turn}")))
                other.append(_seconds(self.peer[1], images, Path(root, f"peer{turn}")))
        (ours, cpu), (peer, peer_cpu) = (map(statistics.median, zip(*times, strict=True)) for times in (own, other))
        return {
            "name": self.name,
            "n": count,
            "ours_s": ours,
            "ours_cpu_s": cpu,
            "peer": self.peer[0],
            "peer_s": peer,
            "peer_cpu_s": peer_cpu if self.counted else None,
            "ratio": peer / ours,
            "rate": count / ours,
        }


def one_process(images: Path, out: Path) -> None:
    """All shards one after the other."""
    tokens.allocate_folder(images, out, tokens.TokenAllocation(**SETTINGS), shard_size=_SHARD)


def two_processes(images: Path, out: Path) -> None:
    """Two shards at a time."""
    tokens.allocate_folder(images, out, tokens.TokenAllocation(**SETTINGS), shard_size=_SHARD, jobs=2)


def two_actors(images: Path, out: Path) -> None:
    """Ray Data with two actors on this machine, which is started and stopped."""
    import ray.data

    from hra.integrations.ray import TokenAllocation

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        paths = [{"path": str(path)} for path in sorted(images.iterdir())]
        rows = ray.data.from_items(paths, override_num_blocks=len(paths) // _BLOCK + 4).map_batches(
            TokenAllocation,
            fn_constructor_kwargs={**SETTINGS, "out": str(out)},
            batch_format="pyarrow",
            batch_size=_SHARD,
            concurrency=2,
        )
        rows.materialize()
    finally:
        ray.shutdown()


def _seconds(job: Callable[[Path, Path], None], images: Path, out: Path) -> tuple[float, float]:
    """Of the clock, and of all processors in processes that have ended."""
    before, start = os.times(), time.perf_counter()
    job(images, out)
    wall, after = time.perf_counter() - start, os.times()
    return wall, sum(after[:4]) - sum(before[:4])
