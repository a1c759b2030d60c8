"""Threads, progress and the report of a build."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest

from hra.domains import meshes
from hra.domains.meshes.building.settings import Countdown, Workers, batches, processors
from hra.errors import HraError


@pytest.mark.parametrize("certified", [False, True])
def test_the_number_of_threads_does_not_change_a_byte(make_closed: Callable, certified: bool) -> None:
    # 81,920 triangles are three parts and many batches of groups.
    source = make_closed(6)
    builds = [meshes.build(source, certified=certified, threads=threads) for threads in (1, 2, 8)]
    for other in builds[1:]:
        assert other.indices.tobytes() == builds[0].indices.tobytes()
        assert other.offsets.tobytes() == builds[0].offsets.tobytes()
        for name, values in builds[0].hierarchy.node.items():
            assert other.hierarchy.attribute(name).tobytes() == values.tobytes()
        assert np.array_equal(other.hierarchy.added_by, builds[0].hierarchy.added_by)


def test_the_report_says_what_was_built(bumpy: meshes.TriangleMesh) -> None:
    built = meshes.build(bumpy, threads=2, group_size=4)
    report = built.report
    assert report is not None
    assert (report.threads, report.triangles, report.root_triangles) == (2, 5120, built.root_triangle_count)
    assert report.clusters == len(built.offsets) - 1
    assert report.groups == len(built.hierarchy)
    assert report.levels == built.hierarchy.attribute("level").max() + 1
    assert report.settings == {"cluster_size": 64, "group_size": 4, "certified": True}
    assert report.cpu_s > 0
    assert report.wall_s > 0
    assert report.rss_mb is None or report.rss_mb >= 0
    assert dataclasses.asdict(report)["merged_islands"] == 0


def test_progress_rises_to_the_whole(bumpy: meshes.TriangleMesh) -> None:
    calls: list[tuple[int, int]] = []
    built = meshes.build(bumpy, progress=lambda done, total: calls.append((done, total)))
    done = [call[0] for call in calls]
    assert done == sorted(done)
    assert calls[-1] == (5120, 5120)
    left = 5120 - built.root_triangle_count - done[-2]
    assert 0 <= left < 5120 / 200  # less than what is told
    assert {total for _, total in calls} == {5120}


def test_progress_is_told_at_most_two_hundred_times() -> None:
    calls: list[int] = []
    countdown = Countdown(10_000, lambda done, _: calls.append(done))
    for _ in range(10_000):
        countdown.advance(1)
    countdown.finish()
    assert len(calls) <= 201
    assert calls[-1] == 10_000


def test_workers_keep_the_order_and_pass_errors_on() -> None:
    for threads in (1, 3):
        with Workers(threads) as workers:
            assert list(workers.map(lambda x: x * x, range(50))) == [x * x for x in range(50)]
            with pytest.raises(ZeroDivisionError):
                list(workers.map(lambda x: 1 // x, [1, 0]))
    assert [list(batch) for batch in batches(5, 2)] == [[0, 1], [2, 3], [4]]
    assert processors() >= 1


@pytest.mark.parametrize("threads", [0, -1, 1.5, True])
def test_threads_out_of_range_are_refused(bumpy: meshes.TriangleMesh, threads: int) -> None:
    with pytest.raises(HraError, match="threads must be an integer"):
        meshes.build(bumpy, threads=threads)
