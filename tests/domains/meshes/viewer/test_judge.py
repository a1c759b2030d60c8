"""No visible cluster is culled: frames with occlusion culling against the same cuts drawn whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import hra
from hra.domains import meshes
from hra_lab.evaluation.meshes.frame_judge import FrameVerdict, judge_frame
from hra_lab.inputs.crowds import crowd, wander
from hra_lab.inputs.rooms import Interior

SCENES = ("rooms", "crowd", "streamed")


@pytest.fixture
def judged(rooms: Interior, lumpy: meshes.ClusterMesh, tmp_path: Path):
    """Verdicts of the frames of a scene, path and kind of depth."""

    def frames_of(scene: str, path: int, count: int, reversed_depth: bool) -> Iterator[FrameVerdict]:
        size = (97 + 8 * path, 71 + 2 * path)
        if scene == "rooms":
            yield from _walked(rooms, path, count, size, reversed_depth)
        elif scene == "crowd":
            yield from _crowded(lumpy, path, count, size, reversed_depth)
        else:
            lumpy.save(tmp_path / "lump.hra", grid_bits=14)
            yield from _streamed(meshes.open_asset(tmp_path / "lump.hra"), path, count, size, reversed_depth)

    return frames_of


def _walked(
    rooms: Interior, path: int, count: int, size: tuple[int, int], reversed_depth: bool
) -> Iterator[FrameVerdict]:
    scene = meshes.Scene(rooms.placed)
    with meshes.Renderer(rooms.placed, size, reversed_depth=reversed_depth) as renderer:
        for camera in rooms.walk(count, path, size, reversed_depth):
            yield judge_frame(renderer, camera, scene.allocate(camera, budget=60_000))


def _crowded(
    mesh: meshes.ClusterMesh, path: int, count: int, size: tuple[int, int], reversed_depth: bool
) -> Iterator[FrameVerdict]:
    """Everything moves, between the frames and hence between what is drawn first and what is tested."""
    with meshes.Renderer([(mesh, crowd(40, path))], size, reversed_depth=reversed_depth) as renderer:
        for moment, camera in enumerate(wander(count, path, size, reversed_depth)):
            placements = crowd(40, path, moment / 10)
            renderer.move(placements)
            yield judge_frame(renderer, camera, meshes.Scene([(mesh, placements)]).allocate(camera, budget=40_000))


def _streamed(
    asset: meshes.MeshAsset, path: int, count: int, size: tuple[int, int], reversed_depth: bool
) -> Iterator[FrameVerdict]:
    """One mesh, half of which fits into the pool, with an eye that goes through it."""
    pool = (len(asset.page_bytes) // 2 + 1) * asset.slot_bytes
    streamer = meshes.MeshStreamer(meshes.PageAllocator(asset), pool, upload_bytes=asset.slot_bytes)
    middle, random = asset.bounds.mean(axis=0), np.random.default_rng(path)
    with meshes.Renderer(asset, size, pool_bytes=pool, reversed_depth=reversed_depth) as renderer:
        for k in range(count):
            eye = middle + 1.6 * np.cos(k / 9) * random.normal(size=3) * (0.2 if k % 13 else 2)
            target = middle + 0.1 + np.sin(k / 7)
            lens = {"viewport": size, "near": 0.01, "reversed_depth": reversed_depth}
            camera = hra.Camera.perspective(eye, target, up=(0, 0, 1), **lens)
            update = streamer.step(camera)
            renderer.load(update)
            assert renderer.pool_bytes <= pool + 4 * len(asset.page_bytes)
            yield judge_frame(renderer, camera, update.cut)


def check(verdicts: list[FrameVerdict]) -> None:
    assert [(verdict.hidden_visible, verdict.changed_pixels) for verdict in verdicts] == [(0, 0)] * len(verdicts)
    assert sum(not verdict.uncovered for verdict in verdicts) > len(verdicts) / 2
    facts = [verdict.facts for verdict in verdicts]
    assert all(one.visible <= one.in_frustum <= one.triangles and one.drawn <= one.triangles for one in facts)


@pytest.mark.parametrize("reversed_depth", [False, True])
@pytest.mark.parametrize("scene", SCENES)
def test_no_visible_cluster_is_culled(judged, scene: str, reversed_depth: bool) -> None:
    check([verdict for path in range(2) for verdict in judged(scene, path, 8, reversed_depth)])


@pytest.mark.slow
@pytest.mark.parametrize("reversed_depth", [False, True])
@pytest.mark.parametrize("scene", SCENES)
def test_no_visible_cluster_is_culled_on_long_paths(judged, scene: str, reversed_depth: bool) -> None:
    check([verdict for path in range(20) for verdict in judged(scene, path, 60, reversed_depth)])


def test_most_of_an_interior_is_hidden(judged) -> None:
    facts = [verdict.facts for verdict in judged("rooms", 1, 16, False)]
    in_frustum, visible = (sum(getattr(one, name) for one in facts) for name in ("in_frustum", "visible"))
    assert visible < 0.6 * in_frustum
