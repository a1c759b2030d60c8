"""Whole numbers of NumPy give what those of Python give: they wrap around in their few bits and lack methods."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import hra
from hra.camera.occlusion import Occlusion
from hra.domains import meshes, textures, tiles, tokens
from hra.errors import HraError
from hra.model.arrays import whole_number
from hra.solvers.picking.farthest import Farthest
from tests.helpers.planning_cases import chain

KINDS = [np.int64, np.int32, np.uint8, np.int8]
IMAGE = np.random.default_rng(0).random((100, 150, 3), dtype=np.float32)
TEXELS = (IMAGE * 255).astype(np.uint8)
BATCH = np.random.default_rng(0).random((1, 64, 64, 3), dtype=np.float32)
PANELS = [tokens.Panel([np.zeros((90, 160, 3), np.uint8)], ["a"])] * 3
ATTENTION = [[3, 1], [0, 4]]
LINEAR = SimpleNamespace(flops=lambda text, visual, patches: text + visual)
SCENE = textures.PlaneScene.ground(TEXELS, width=10.0)
STREAMED = textures.TextureAllocator(SCENE.textures, textures.AnalyticFeedback(SCENE))
RESIDENT = textures.ResidentTextures(SCENE.textures, np.ones(len(SCENE.textures.hierarchy.node_cost), bool))
PHOTO = hra.samples.path("photo.jpg")
CAMERA = hra.Camera.perspective((0, 1, 0), (0, 1, -1))
NO_TILES: Any = None
TRIANGLE = meshes.from_arrays(np.eye(3), [[0, 1, 2]])
CLUSTERS = meshes.build(TRIANGLE)
GRID = tokens.GridTopK()
CUES, CONTEXT = tokens.CueRelevance(), tokens.TokenContext.of(IMAGE)
SOME = GRID.realize(GRID.allocate((IMAGE, ""), 20))
SEEN = Occlusion.of(np.ones((32, 32), np.float32), hra.Camera.orbit(CLUSTERS.bounds, viewport=(32, 32)))
OTHER = textures.PlaneScene.ground(TEXELS[:50])
REGIONS = tokens.RegionTokens.of(CONTEXT, np.zeros((100, 150), int), 1)
Made = Callable[[Any], Any]


def shown(allocator: tokens.TokenAllocator) -> Any:
    return allocator.realize(allocator.allocate((IMAGE, ""), 20)).reconstruct()


MADE: dict[str, Made] = {
    "patch and levels": lambda n: tokens.TokenContext.of(IMAGE, patch=n(16), levels=n(3)).pyramid.positions,
    "patch of an allocator": lambda n: shown(tokens.PyramidSampling(patch=n(16))),
    "patch of bands": lambda n: shown(tokens.FrequencyAware(patch=n(16))),
    "patch of a batch": lambda n: tokens.select_patches(BATCH, 10, patch=n(16)).values,
    "patch of a frame": lambda n: tokens.LaplacianFrame().analyse(IMAGE, n(16))[0],
    "down-sampling": lambda n: tokens.uniform_downsample(IMAGE, n(10), n(16)),
    "cell": lambda n: tokens.texture_array(IMAGE, n(16)).values,
    "total and cells": lambda n: tokens.hired_budgets(ATTENTION, (2, 2), n(100), cells=n(60)),
    "text and cells": lambda n: tokens.Flops(100, LINEAR).tokens(text=n(10), cells=n(120)),
    "tile": lambda n: textures.TiledTexture.from_image(TEXELS, n(64)).pages.bytes,
    "tail": lambda n: textures.MippedTexture.from_image(TEXELS, n(64)).pages.bytes,
    "detail": lambda n: textures.detail_of_image(TEXELS, n(64))[1],
    "columns and width": lambda n: tokens.contact_sheet(PANELS, n(2), n(100)),
    "budget of a job": lambda n: type(tokens.TokenAllocation(budget=n(20)).budget).__name__,
    "numbers of a codebook": lambda n: tokens.Codebook(np.zeros((256, 3), np.float32)).bytes_for(n(100)),
    "width": lambda n: tokens.project(np.eye(3, 100), n(64)),
    "coordinates of a texture": lambda n: meshes.Texture(PHOTO.read_bytes(), n(1)).coordinates,
}
REFUSED: dict[str, Callable[[], Any]] = {
    "patch": lambda: tokens.TokenContext.of(IMAGE, patch=16.0),  # pyright: ignore
    "levels": lambda: tokens.TokenContext.of(IMAGE, levels=1.5),  # pyright: ignore
    "no patch": lambda: tokens.uniform_downsample(IMAGE, 10, 0),
    "no budget": lambda: tokens.uniform_downsample(IMAGE, np.nan),  # pyright: ignore
    "cell": lambda: tokens.texture_array(IMAGE, np.nan),  # pyright: ignore
    "total": lambda: tokens.hired_budgets(ATTENTION, (2, 2), 1.5),  # pyright: ignore
    "share": lambda: tokens.hired_budgets(ATTENTION, (2, 2), 32, overview=np.nan),
    "flat attention": lambda: tokens.hired_budgets([3, 1], (2, 2), 32),
    "tile": lambda: textures.TiledTexture.from_image(TEXELS, np.nan),  # pyright: ignore
    "a large tile": lambda: textures.TiledTexture.from_image(TEXELS, 2**40),
    "tail": lambda: textures.MippedTexture.from_image(TEXELS, 0.5),  # pyright: ignore
    "columns": lambda: tokens.contact_sheet(PANELS, 0),
    "width": lambda: tokens.contact_sheet(PANELS, width=-1),
    "width of vectors": lambda: tokens.project(np.eye(3, 100), -1),
    "no cells": lambda: tokens.Flops(100, LINEAR).tokens(text=10, cells=0),
    "half a cell": lambda: tokens.Flops(100, LINEAR).tokens(text=10, cells=0.5),  # pyright: ignore
    "text": lambda: tokens.Flops(100, LINEAR).tokens(text=-1, cells=10),
    "endless cells": lambda: tokens.Flops(100, LINEAR).tokens(text=1, cells=np.inf),  # pyright: ignore
    "more than all": lambda: tokens.Flops(100, LINEAR).tokens(text=1, cells=10, least=11),
    "frames": lambda: textures.flyover(SCENE.planes[0], frames=-1),
    "seed": lambda: textures.flyover(SCENE.planes[0], frames=1, seed=-1),
    "frames ahead": lambda: textures.constant_motion(CAMERA, CAMERA, 0.5),  # pyright: ignore
    "look-ahead": lambda: textures.replay(STREAMED, [CAMERA], 2**20, look_ahead=-1),
    "updates": lambda: tiles.replay(NO_TILES, [], tiles.CesiumRule(100), updates=0),
    "samples": lambda: meshes.check(CLUSTERS, cuts=1, samples=0),
    "cuts": lambda: meshes.check(CLUSTERS, cuts=-1),
    "stride": lambda: textures.AnalyticFeedback(SCENE, 0.5).observe(CAMERA),  # pyright: ignore
    "no texture": lambda: RESIDENT.level_map(-1),
    "no level": lambda: RESIDENT.compose(level=-1),
    "no page in a frame": lambda: textures.view_quality(SCENE, [CAMERA], [[-1]]),
    "frames between": lambda: textures.view_quality(SCENE, [CAMERA], [[0]], every=np.nan),  # pyright: ignore
    "a viewport of a map": lambda: textures.SaliencyMap(np.ones((2, 2)), (0, -1)),
    "places on a map": lambda: textures.SaliencyMap(np.ones((2, 2)), (9, 9))(np.array([[np.nan, 0]])),
    "limit of texels": lambda: textures.open_image(PHOTO, max_texels=np.nan),  # pyright: ignore
    "unit": lambda: meshes.scene_lod("no.glb", [0.5], unit="bits"),  # pyright: ignore
    "pixels": lambda: meshes.build_discrete(TRIANGLE).by_pixels(CAMERA, np.nan),
    "cuts of tiles": lambda: meshes.check_tileset("no", cuts=0.5),  # pyright: ignore
    "frames around": lambda: meshes.orbit(np.array([[0, 0, 0], [1, 1, 1]]), 0.5, (9, 9)),  # pyright: ignore
    "no bounds": lambda: meshes.orbit(np.zeros((0, 3)), 2, (9, 9)),
    "lists": lambda: meshes.TriangleMesh([[0, 0, 0]], [[0, 0, 0]]),  # pyright: ignore
    "no rows of tiles": lambda: tokens.hired_budgets(ATTENTION, (0, 2), 9),
    "patch of bands": lambda: tokens.LaplacianFrame().analyse(IMAGE, 0),
    "boxes": lambda: tokens.prune(tokens.relevance_pyramid(np.eye(4)), np.zeros(4, int), 0.5),
    "another size": lambda: tokens.explained(tokens.TokenContext.of(IMAGE), IMAGE[:9]),
    "numbers for bools": lambda: textures.ResidentTextures.drawable(SCENE.textures, np.zeros(5, int)),
    "seed of a check": lambda: meshes.check(CLUSTERS, cuts=1, seed=-1),
    "shares": lambda: meshes.build_discrete(TRIANGLE, [1, np.nan]),
    "cache": lambda: tiles.CesiumRule(cache=np.nan),  # pyright: ignore
    "overflow": lambda: tiles.CesiumRule(100, overflow=-1),
    "no target": lambda: tiles.ThreeTilesRule(cache=100, target=np.nan),
    "what is kept": lambda: tiles.ThreeTilesRule(cache=100, kept=1.5),
    "triangles of a list": lambda: meshes.boundary_chain([0, 1, 2]),  # pyright: ignore
    "triangles of grids": lambda: meshes.boundary_chain(np.zeros((2, 3, 1), int)),
    "no vertex": lambda: meshes.boundary_chain(np.array([[0, 1, -1]])),
    "level of a coarse pass": lambda: tokens.CoarseToFineRelevance(CUES, level=1.5),  # pyright: ignore
    "tile of a fine pass": lambda: tokens.CoarseToFineRelevance(CUES, tile=np.nan),  # pyright: ignore
    "share of a fine pass": lambda: tokens.CoarseToFineRelevance(CUES, share=None),  # pyright: ignore
    "temperature": lambda: tokens.CalibratedRelevance(CUES, "rank", temperature="1"),  # pyright: ignore
    "floor": lambda: tokens.CalibratedRelevance(CUES, "rank", floor=np.inf),
    "threshold of pruning": lambda: tokens.PrunedRelevance(CUES, None),  # pyright: ignore
    "threshold of patches": lambda: tokens.prune_patches(tokens.relevance_pyramid(np.eye(3)), np.nan),
    "threshold of boxes": lambda: tokens.prune(tokens.relevance_pyramid(np.eye(3)), np.zeros((1, 4), int), [1]),  # pyright: ignore
    "size of a batch": lambda: tokens.BatchEncoder(np.copy, size=0),
    "budget of a video": lambda: tokens.prunevid_frames(np.ones((1, 2, 2, 3)), "4"),  # pyright: ignore
    "stillness": lambda: tokens.prunevid_frames(np.ones((1, 2, 2, 3)), 4, similarity=np.nan),
    "no text for a budget": lambda: tokens.uniform_downsample(IMAGE, "10"),  # pyright: ignore
    "gaze": lambda: tokens.position_code(SOME, "polar", gaze=(1,)),  # pyright: ignore
    "labels beyond the regions": lambda: tokens.RegionTokens.of(CONTEXT, np.full((100, 150), 10**6), 5),
    "clusters from the end": lambda: CLUSTERS.triangles(np.array([-1])),
    "hidden clusters from the end": lambda: meshes.visible_clusters(CLUSTERS, np.array([-1]), SEEN),
    "offsets beyond the indices": lambda: replace(CLUSTERS, offsets=np.array([0, 10**6])),
    "vertices that are not there": lambda: replace(CLUSTERS, indices=np.array([0, 1, 10**6], np.uint32)),
    "points of a surface": lambda: meshes.surface_points(TRIANGLE, -1, np.random.default_rng(0)),
    "origin that is not known": lambda: replace(TRIANGLE, origin=(0, 0, np.nan)),
    "one matrix for copies": lambda: meshes.Scene([(CLUSTERS, np.eye(4))]),
    "a number for matrices": lambda: meshes.Scene([(CLUSTERS, 5)]),
    "pixels of a level": lambda: meshes.build_discrete(TRIANGLE).switch_distances("1"),  # pyright: ignore
    "labels of no token": lambda: replace(REGIONS, labels=np.full((100, 150), 10**6)).boxes,
    "pages of no kind": lambda: textures.Feedback("x", [1], [1], 1),  # pyright: ignore
    "detail below 0": lambda: textures.DetailError(np.array([1, -1.0])),
    "detail that is not known": lambda: textures.DetailError(np.array([np.nan])),
    "coordinates on a plane": lambda: SCENE.planes[0].points("x", 0),
    "pages of another scene": lambda: textures.render(OTHER, RESIDENT, CAMERA),
    "limit of decoded texels": lambda: textures.load_texels(PHOTO, np.nan),  # pyright: ignore
    "a tile before its parent": lambda: replace(chain(), parent=np.array([-1, 2, 1])),
    "parents of no tile": lambda: replace(chain(), parent=np.array([-1, 0])),
    "bytes below 0": lambda: replace(chain(), content_bytes=np.array([1, -1, 1])),
    "errors that are not known": lambda: replace(chain(), error=np.array([1, np.nan, 0])),
    "numbers for additive": lambda: replace(chain(), additive=np.zeros(3, int)),
    "names of other tiles": lambda: replace(chain(), names=("a.glb",)),
    "no tiles": lambda: replace(chain(), parent=np.zeros(0, int)),
    "labels of another size": lambda: tokens.RegionTokens.of(CONTEXT, np.zeros((9, 9), int), 1),
    "numbers of images": lambda: tokens.batch_tokens([SOME], images=5),  # pyright: ignore
    "no rules": lambda: tokens.Reducer([]),
    "what is merged": lambda: tokens.Reducer([(1, Farthest())], "mean"),  # pyright: ignore
    "signals": lambda: tokens.Reducer([(1, Farthest())], signals="shallow"),  # pyright: ignore
    "confidence": lambda: tokens.MultiFixation(confidence=0.5),  # pyright: ignore
    "no bands": lambda: tokens.LaplacianFrame().synthesise([], (64, 64), 16),
    "no scales": lambda: tokens.SteerableFrame().synthesise([], (64, 64), 16),
    "bands of another size": lambda: tokens.SteerableFrame().synthesise([TEXELS] * 10, (64, 64), 16),
    "numbers of a codebook": lambda: tokens.Codebook(np.eye(3)).bytes_for(np.nan),  # pyright: ignore
    "no grid": lambda: tokens.batch_tokens([SOME]).positions("centres", ()),  # pyright: ignore
    "a grid of no features": lambda: SOME.pool(np.eye(4), grid=(4,)),  # pyright: ignore
    "a map of one row": lambda: tokens.PeakFixation()(IMAGE, "", np.ones(4)),
    "half a cell of confidence": lambda: tokens.EntropyConfidence(0.5),  # pyright: ignore
    "states": lambda: hra.Exact(2**31),
    "rounds of a sweep": lambda: hra.sweep(GRID, (IMAGE, ""), [20], repeat=2**70),
    "shares that are none": lambda: meshes.build_discrete(TRIANGLE, "ab"),  # pyright: ignore
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
def test_those_of_numpy_are_those_of_python(made: Made, kind: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        np.testing.assert_array_equal(made(kind), made(int))


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_what_is_none_is_refused_by_name(call: Callable[[], Any]) -> None:
    with pytest.raises(HraError) as caught:
        call()
    assert caught.value.where


def test_a_whole_number_is_an_int_of_python() -> None:
    given = (3, np.uint8(3), np.array(3), True, 3.0, "3", None)
    assert [whole_number(value) for value in given] == [3, 3, 3, None, None, None, None]


def test_meshes_are_built_with_those_of_numpy(tmp_path: Path) -> None:
    skull = hra.samples.path("skull.ply")
    whole: dict[str, Any] = {"cluster_size": np.uint8(64), "group_size": np.int8(12)}
    built = meshes.build(skull, **whole, certified=False)
    assert built.report is not None and type(built.report.settings["cluster_size"]) is int
    of_numpy: dict[str, Any] = {**whole, "memory": np.int64(2**28), "jobs": np.uint8(1), "threads": np.int8(1)}
    meshes.build_out_of_core(skull, tmp_path / "a.hra", **of_numpy, certified=False)
    meshes.build_out_of_core(skull, tmp_path / "b.hra", memory=2**28, certified=False)
    assert (tmp_path / "a.hra").read_bytes() == (tmp_path / "b.hra").read_bytes()
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "skull.ply").write_bytes(skull.read_bytes())
    whole["grid_bits"] = np.int64(12)
    report = meshes.build_folder(tmp_path / "meshes", tmp_path / "out", **whole, certified=False)
    assert report.meshes == 1 and not report.errors


@pytest.mark.parametrize(
    "wrong",
    [{"cluster_size": 17}, {"cluster_size": -4}, {"group_size": 0}, {"jobs": 0}, {"threads": 0}, {"memory": np.nan}],
    ids=str,
)
def test_a_build_out_of_core_refuses_what_a_build_does(tmp_path: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(HraError) as caught:
        meshes.build_out_of_core(hra.samples.path("skull.ply"), tmp_path / "a.hra", **{"memory": 2**28, **wrong})
    assert caught.value.where == next(iter(wrong)) and not list(tmp_path.iterdir())
