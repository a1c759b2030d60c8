"""Token rows of a folder: two processes beside one, and Ray's actors, with and without Ray Data, beside processes."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hra.domains import tokens
from hra.errors import BackendUnavailable
from hra_lab.bench.scale.photos import SQUARE, write_photos
from hra_lab.bench.suite import Scale

_SHARD = 64

Job = Callable[[Path, Path, dict[str, Any]], "float | None"]
"""Makes rows of a folder of images in an empty folder, with settings of `TokenAllocation`; where it is a pipeline, the
seconds of it that start and end what it runs on."""


@dataclass(frozen=True)
class JobsRow:
    """Seconds of whole jobs, processes started fresh: ``ours`` one way, the peer another.

    Attributes
    ----------
    peer : its name, and what makes the same rows.
    ours : two processes, unless said otherwise.
    full, small : images; "small" is for tests.
    size : of an image, (width, height) in pixels.
    budget : tokens of an image.
    counted : whether the peer's processes are children of this one, so that their processor time is known.
    """

    name: str
    peer: tuple[str, Job]
    ours: Job = field(default=lambda *given: two_processes(*given))
    full: int = 2000
    small: int = 4
    size: tuple[int, int] = SQUARE
    budget: int = 100
    counted: bool = True
    needs: tuple[str, ...] = ("pyarrow.parquet:write_table", "PIL.Image:open")

    def measure(self, scale: Scale, repeat: int, bandwidth: float) -> dict[str, Any]:
        """The row; ``ratio`` is the peer's time over ours, ``rate`` our images per second.

        ``peer_running_s`` and ``ratio_running`` leave out the start and end of what a pipeline runs on (Ray's own
        processes, not its actors); ``turns`` has the seconds of every turn, which were taken alternately.
        """
        count, settings = self.full if scale == "full" else self.small, {"budget": self.budget, "relevance": "cues"}
        own, other = [], []
        with tempfile.TemporaryDirectory() as root:
            images = Path(root, "images")
            images.mkdir()
            write_photos(images, count, self.size)
            for turn in range(repeat):
                own.append(_seconds(self.ours, images, Path(root, f"own{turn}"), settings))
                other.append(_seconds(self.peer[1], images, Path(root, f"peer{turn}"), settings))
        (ours, cpu, ours_start), (peer, peer_cpu, peer_start) = (
            map(statistics.median, zip(*times, strict=True)) for times in (own, other)
        )
        return {
            "name": self.name,
            "n": count,
            "size": list(self.size),
            "budget": self.budget,
            "ours_s": ours,
            "ours_cpu_s": cpu if ours_start == 0 else None,
            "peer": self.peer[0],
            "peer_s": peer,
            "peer_cpu_s": peer_cpu if self.counted else None,
            "ratio": peer / ours,
            "rate": count / ours,
            "ours_running_s": ours - ours_start,
            "peer_running_s": peer - peer_start,
            "ratio_running": (peer - peer_start) / (ours - ours_start),
            "turns": [[mine[0], mine[2], theirs[0], theirs[2]] for mine, theirs in zip(own, other, strict=True)],
        }


def one_process(images: Path, out: Path, settings: dict[str, Any]) -> None:
    """All shards one after the other."""
    tokens.allocate_folder(images, out, tokens.TokenAllocation(**settings), shard_size=_SHARD)


def two_processes(images: Path, out: Path, settings: dict[str, Any]) -> None:
    """Two shards at a time."""
    tokens.allocate_folder(images, out, tokens.TokenAllocation(**settings), shard_size=_SHARD, jobs=2)


def one_actor(images: Path, out: Path, settings: dict[str, Any]) -> float:
    """Ray Data with one actor."""
    return _seconds_around(lambda: _by_ray_data(1, images, out, settings))


def two_actors(images: Path, out: Path, settings: dict[str, Any]) -> float:
    """Ray Data with two actors on this machine."""
    return _seconds_around(lambda: _by_ray_data(2, images, out, settings))


def two_actors_alone(images: Path, out: Path, settings: dict[str, Any]) -> float:
    """Two actors of Ray without Ray Data."""
    return _seconds_around(lambda: _by_pool(2, images, out, settings))


def _seconds_around(work: Callable[[], None]) -> float:
    """Run ``work`` on Ray, which is started and stopped; the seconds that this takes.

    Raises
    ------
    BackendUnavailable : its processes do not start on this machine.
    """
    begin = time.perf_counter()
    import ray

    try:
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    except Exception as error:  # Ray has no class of its own for it
        raise BackendUnavailable(f"Ray does not start: {error}", where="ray.init") from error
    try:
        started = time.perf_counter()
        work()
        ended = time.perf_counter()
    finally:
        ray.shutdown()
    return started - begin + time.perf_counter() - ended


def _by_ray_data(count: int, images: Path, out: Path, settings: dict[str, Any]) -> None:
    import ray.data

    from hra.integrations.ray import TokenAllocation

    paths = [{"path": str(path)} for path in sorted(images.iterdir())]
    ray.data.from_items(paths, override_num_blocks=len(paths) // _SHARD + 1).map_batches(
        TokenAllocation,
        fn_constructor_kwargs={**settings, "out": str(out)},
        batch_format="pyarrow",
        batch_size=_SHARD,
        concurrency=count,
    ).materialize()


def _by_pool(count: int, images: Path, out: Path, settings: dict[str, Any]) -> None:
    import ray
    from ray.util import ActorPool

    from hra.integrations.ray import TokenAllocation

    actor = ray.remote(num_cpus=1)(TokenAllocation)
    pool = ActorPool([actor.remote(**settings, out=str(out)) for _ in range(count)])
    paths = [str(path) for path in sorted(images.iterdir())]
    batches = [{"path": paths[begin : begin + _SHARD]} for begin in range(0, len(paths), _SHARD)]
    for _ in pool.map_unordered(lambda one, batch: one.__call__.remote(batch), batches):
        pass


def _seconds(job: Job, images: Path, out: Path, settings: dict[str, Any]) -> tuple[float, float, float]:
    """Of the clock, of all processors in processes that have ended, and of the start of what the job runs on."""
    before, start = os.times(), time.perf_counter()
    starting = job(images, out, settings)
    wall, after = time.perf_counter() - start, os.times()
    return wall, sum(after[:4]) - sum(before[:4]), starting or 0.0
