"""What is no resource, context or file at all is refused by name, wherever something is built or allocated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hra
from hra.domains import meshes, points, textures, tiles, tokens
from hra.errors import HraError
from tests.helpers.planning_cases import chain

PHOTO = hra.samples.path("photo.jpg")
SMALL = hra.Camera.perspective((0, 2, 3), (0, 0, 0), viewport=(32, 32))
CAMERA = hra.Camera.perspective((0, 2, 3), (0, 0, 0))
IMAGE = np.zeros((8, 8, 3), np.uint8)
GROUND = textures.PlaneScene.ground(IMAGE)
SEEN = textures.AnalyticFeedback(GROUND)
STREAMING, PAGES = (
    textures.TextureAllocator(GROUND.textures, SEEN),
    textures.ResidentTextures(GROUND.textures, np.ones(1, bool)),
)
MESH = meshes.from_arrays(np.eye(3), [[0, 1, 2]])
CLUSTERS, LEVELS = meshes.build(MESH), meshes.build_discrete(MESH, [1])
# One of every type that a caller may have at hand.
WRONG = (None, True, 7, b"x", [], [1, 2], (), {}, range(3), object(), int, np, np.zeros((0, 3)), np.array(["a"]))
CHOSEN = tokens.GridTopK().realize(tokens.GridTopK().allocate((IMAGE, ""), 1))
TREE = points.build(points.PointCloud(np.eye(3)))
MAXIMA = tokens.relevance_pyramid(np.eye(3))
STREAMED, STREAM = tokens.StreamedPyramid(), tokens.StreamedImage.read(np.zeros((64, 64, 3), np.uint8))


def within(wrong: Any) -> Any:
    """A list in place of one object; some of its items alone would do."""
    return [wrong]


BUILDERS: dict[str, Callable[[Any, Path], Any]] = {
    "meshes.build": lambda wrong, _: meshes.build(wrong),
    "meshes.build_discrete": lambda wrong, _: meshes.build_discrete(wrong),
    "meshes.build_folder": meshes.build_folder,
    "meshes.build_out_of_core": lambda wrong, out: meshes.build_out_of_core(wrong, out, memory=2**30),
    "meshes.build_tiles": lambda wrong, _: meshes.build_tiles(wrong),
    "meshes.lod_chain": lambda wrong, _: meshes.lod_chain(wrong, [1.0]),
    "meshes.scene_lod": lambda wrong, _: meshes.scene_lod(wrong, [1.0]),
    "meshes.MeshAllocator": lambda wrong, _: meshes.MeshAllocator(wrong),
    "meshes.PageAllocator": lambda wrong, _: meshes.PageAllocator(wrong),
    "meshes.MeshStreamer": lambda wrong, _: meshes.MeshStreamer(wrong, 10),
    "meshes.read_ahead": lambda wrong, _: meshes.read_ahead(wrong, 10),
    "meshes.ClusterMesh": lambda wrong, _: replace(CLUSTERS, hierarchy=wrong),
    "meshes.ClusterMesh, positions": lambda wrong, _: replace(CLUSTERS, positions=wrong),
    "meshes.ClusterMesh, offsets": lambda wrong, _: replace(CLUSTERS, offsets=wrong),
    "meshes.save": lambda wrong, _: CLUSTERS.save(wrong),
    "meshes.export": lambda wrong, _: MESH.export(wrong),
    "meshes.export_one": lambda wrong, _: LEVELS.export_one(wrong),
    "meshes.export, stem": lambda wrong, out: LEVELS.export(out, wrong),
    "meshes.grid_bits": lambda wrong, out: CLUSTERS.save(out.with_suffix(".hra"), within(wrong)),
    "meshes.build, progress": lambda wrong, _: meshes.build(MESH, progress=within(wrong)),
    "meshes.lod_chain, progress": lambda wrong, _: meshes.lod_chain(MESH, [1.0], progress=within(wrong)),
    "meshes.check": lambda wrong, _: meshes.check(wrong),
    "meshes.is_closed": lambda wrong, _: meshes.is_closed(wrong),
    "meshes.cluster_boxes": lambda wrong, _: meshes.cluster_boxes(wrong),
    "meshes.compressed_glb": lambda wrong, _: meshes.compressed_glb(wrong),
    "meshes.with_appearance": lambda wrong, _: meshes.with_appearance(wrong),
    "meshes.visible_clusters": lambda wrong, _: meshes.visible_clusters(wrong, np.zeros(1, int), wrong),
    "meshes.VisibleScreenError": lambda wrong, _: meshes.VisibleScreenError(within(wrong)),
    "meshes.ScreenError": lambda wrong, _: meshes.ScreenError(within(wrong)),
    "meshes.ScreenError, weight": lambda wrong, _: meshes.ScreenError(None, within(wrong)),
    "meshes.ScreenError, views": lambda wrong, _: meshes.ScreenError(None, None, wrong),
    "meshes.View": lambda wrong, _: meshes.View(wrong),
    "meshes.View, gaze": lambda wrong, _: meshes.View(CAMERA, within(wrong)),
    "meshes.View, weight": lambda wrong, _: meshes.View(CAMERA, None, within(wrong)),
    "meshes.Material": lambda wrong, _: meshes.Material(within(wrong)),
    "meshes.Material, color": lambda wrong, _: meshes.Material("", wrong),
    "meshes.Material, image": lambda wrong, _: meshes.Material(image=within(wrong)),
    "meshes.Material, metallic": lambda wrong, _: meshes.Material(metallic=within(wrong)),
    "meshes.Material, scale": lambda wrong, _: meshes.Material(normal_scale=within(wrong)),
    "meshes.Sampler": lambda wrong, _: meshes.Sampler(wrong),
    "meshes.VertexAttributes": lambda wrong, _: meshes.VertexAttributes(wrong),
    "meshes.VertexAttributes, materials": lambda wrong, _: meshes.VertexAttributes(
        material=np.zeros(3, np.int32), materials=within(wrong)
    ),
    "meshes.from_arrays, attributes": lambda wrong, _: meshes.from_arrays(np.eye(3), [[0, 1, 2]], within(wrong)),
    "meshes.TriangleMesh, origin": lambda wrong, _: replace(MESH, origin=within(wrong)),
    "meshes.surface_points": lambda wrong, _: meshes.surface_points(wrong, 3, np.random.default_rng(0)),
    "meshes.surface_points, rng": lambda wrong, _: meshes.surface_points(MESH, 3, wrong),
    "meshes.page_parents": lambda wrong, _: meshes.page_parents(wrong),
    "meshes.page_trace": lambda wrong, _: meshes.page_trace(wrong, []),
    "meshes.drawable": lambda wrong, _: meshes.drawable(wrong, wrong, wrong),
    "meshes.render": lambda wrong, _: meshes.render(wrong, np.zeros(1, int), CAMERA),
    "meshes.fly": lambda wrong, _: list(meshes.fly(wrong, [CAMERA], 10**6)),
    "meshes.fly, camera": lambda wrong, _: list(meshes.fly(wrong, [wrong], 10**6)),
    "meshes.Renderer": lambda wrong, _: meshes.Renderer(wrong, (32, 32)),
    "meshes.Scene, mesh": lambda wrong, _: meshes.Scene([(wrong, np.eye(4)[None])]),
    "meshes.Scene, metric": lambda wrong, _: meshes.Scene([(CLUSTERS, np.eye(4)[None])], within(wrong)),
    "meshes.Scene, traversal": lambda wrong, _: meshes.Scene([(CLUSTERS, np.eye(4)[None])], None, within(wrong)),
    "meshes.Scene, with_metric": lambda wrong, _: meshes.Scene([(CLUSTERS, np.eye(4)[None])]).with_metric(wrong),
    "meshes.Scene, realize": lambda wrong, _: meshes.Scene([(CLUSTERS, np.eye(4)[None])]).realize(wrong),
    "meshes.Scene": lambda wrong, _: meshes.Scene(wrong),
    "points.build": lambda wrong, _: points.build(wrong),
    "points.build_out_of_core": lambda wrong, out: points.build_out_of_core(wrong, out, memory=2**30),
    "points.load_points": lambda wrong, _: points.load_points(wrong),
    "points.PointAllocator": lambda wrong, _: points.PointAllocator(wrong),
    "points.PointAllocator, metric": lambda wrong, _: points.PointAllocator(TREE, within(wrong)),
    "points.PointAllocator, traversal": lambda wrong, _: points.PointAllocator(TREE, None, within(wrong)),
    "points.realize": lambda wrong, _: points.PointAllocator(TREE).realize(wrong),
    "points.CloudError": lambda wrong, _: points.CloudError(within(wrong)),
    "points.PictureError": lambda wrong, _: points.PictureError(within(wrong)),
    "points.PointCloud, origin": lambda wrong, _: points.PointCloud(np.eye(3), origin=within(wrong)),
    "points.PointCloud, fields": lambda wrong, _: points.PointCloud(np.eye(3), fields=within(wrong)),
    "points.save_points": lambda wrong, out: points.save_points(out.with_suffix(".ply"), wrong),
    "points.save_tree": lambda wrong, out: points.save_tree(out.with_suffix(".hpt"), wrong),
    "textures.AnalyticFeedback": lambda wrong, _: textures.AnalyticFeedback(wrong),
    "textures.AnalyticFeedback, occlusion": lambda wrong, _: textures.AnalyticFeedback(GROUND, 4, within(wrong)),
    "textures.AnalyticFeedback, camera": lambda wrong, _: textures.AnalyticFeedback(GROUND).observe(wrong),
    "textures.BoundsFeedback": lambda wrong, _: textures.BoundsFeedback(wrong),
    "textures.BoundsFeedback, camera": lambda wrong, _: textures.BoundsFeedback(GROUND).observe(wrong),
    "textures.GLFeedback": lambda wrong, _: textures.GLFeedback(wrong),
    "textures.WeightedFeedback": lambda wrong, _: textures.WeightedFeedback(wrong, len),
    "textures.WeightedFeedback, weight": lambda wrong, _: textures.WeightedFeedback(SEEN, within(wrong)),
    "textures.DetailError": lambda wrong, _: textures.DetailError(within(within(wrong))),
    "textures.DetailError, textures": lambda wrong, _: textures.DetailError.of(wrong),
    "textures.Feedback, footprint": lambda wrong, _: textures.Feedback(np.zeros(9, int), wrong, np.ones(9), 9),
    "textures.Feedback, pixels": lambda wrong, _: textures.Feedback(np.zeros(9, int), np.ones(9), wrong, 9),
    "textures.ResidentTextures": lambda wrong, _: textures.ResidentTextures(wrong, np.ones(1, bool)),
    "textures.drawable": lambda wrong, _: textures.ResidentTextures.drawable(wrong, np.ones(1, bool)),
    "textures.from_source": lambda wrong, _: textures.TiledTexture.from_source(wrong),
    "textures.from_source, mips": lambda wrong, _: textures.MippedTexture.from_source(wrong),
    "textures.TexturedPlane": lambda wrong, _: textures.TexturedPlane(wrong, *np.eye(3)),
    "textures.TexturedPlane, ground": lambda wrong, _: textures.TexturedPlane.ground(wrong, 1.0),
    "textures.TextureAllocator, metric": lambda wrong, _: textures.TextureAllocator(
        GROUND.textures, None, within(wrong)
    ),
    "textures.TextureAllocator, traversal": lambda wrong, _: textures.TextureAllocator(
        GROUND.textures, None, None, within(wrong)
    ),
    "textures.realize": lambda wrong, _: textures.TextureAllocator(GROUND.textures).realize(wrong),
    "textures.constant_motion": lambda wrong, _: textures.constant_motion(wrong, CAMERA, 1),
    "textures.constant_motion, current": lambda wrong, _: textures.constant_motion(CAMERA, wrong, 1),
    "textures.flyover": lambda wrong, _: textures.flyover(wrong, 1),
    "textures.open_image, cache": lambda wrong, _: textures.open_image(PHOTO, cache=within(wrong)),
    "textures.load_texels, limit": lambda wrong, _: textures.load_texels(PHOTO, within(wrong)),
    "textures.record": lambda wrong, _: textures.record(wrong, []),
    "textures.record, feedback": lambda wrong, _: textures.record(GROUND.textures, within(wrong)),
    "textures.render": lambda wrong, _: textures.render(wrong, PAGES, CAMERA),
    "textures.render, pages": lambda wrong, _: textures.render(GROUND, wrong, SMALL),
    "textures.render, camera": lambda wrong, _: textures.render(GROUND, PAGES, wrong),
    "textures.replay, predict": lambda wrong, _: textures.replay(STREAMING, [SMALL], 999, predict=within(wrong)),
    "textures.texel_residual": lambda wrong, _: textures.texel_residual(wrong, SEEN.observe(SMALL)),
    "textures.uniform_bias": lambda wrong, _: textures.uniform_bias(wrong, SEEN.observe(SMALL), 999),
    "textures.view_quality": lambda wrong, _: textures.view_quality(wrong, [SMALL], [[0]]),
    "textures.view_quality, camera": lambda wrong, _: textures.view_quality(GROUND, [wrong], [[0]]),
    "textures.TextureAllocator": lambda wrong, _: textures.TextureAllocator(wrong),
    "textures.TextureSet": lambda wrong, _: textures.TextureSet(wrong),
    "textures.TextureStreamer": lambda wrong, _: textures.TextureStreamer(wrong, 10),
    "textures.TiledTexture, texels": lambda wrong, _: textures.TiledTexture.from_image(IMAGE, texels=wrong),
    "textures.MippedTexture, texels": lambda wrong, _: textures.MippedTexture.from_image(IMAGE, texels=wrong),
    "textures.allocate": lambda wrong, _: textures.TextureAllocator(GROUND.textures).allocate(wrong, 10),
    "textures.plan": lambda wrong, _: textures.plan(wrong, CAMERA, 10),
    "tiles.CesiumRule": lambda wrong, _: tiles.CesiumRule(10).start(wrong),
    "tiles.ThreeTilesRule": lambda wrong, _: tiles.ThreeTilesRule(10).start(wrong),
    "tiles.hierarchy": lambda wrong, _: chain().hierarchy(wrong),
    "tiles.Tileset, volumes": lambda wrong, _: replace(chain(), volumes=wrong),
    "tiles.Tileset, names": lambda wrong, _: replace(chain(), names=wrong),
    "tiles.plan": lambda wrong, _: tiles.plan(wrong, CAMERA, 10),
    "tiles.plan, camera": lambda wrong, _: tiles.plan(chain(), wrong, 10**6),
    "tiles.replay": lambda wrong, _: tiles.replay(wrong, [CAMERA], tiles.CesiumRule(10)),
    "tiles.replay, rule": lambda wrong, _: tiles.replay(chain(), [CAMERA], wrong),
    "tiles.read_tileset": lambda wrong, _: tiles.read_tileset(wrong),
    "tokens.allocate_folder": lambda wrong, out: tokens.allocate_folder(wrong, out, tokens.TokenAllocation()),
    "tokens.allocate": lambda wrong, _: tokens.PyramidSampling().allocate(wrong, 10),
    "tokens.allocate streamed": lambda wrong, _: tokens.StreamedPyramid().allocate(wrong, 10),
    "tokens.allocate streamed, previous": lambda wrong, _: STREAMED.allocate((STREAM, ""), 1, previous=within(wrong)),
    "tokens.see": lambda wrong, _: STREAMED.see(wrong, ""),
    "tokens.position_code": lambda wrong, _: tokens.position_code(wrong, "centroid"),
    "tokens.position_code, kind": lambda wrong, _: tokens.position_code(CHOSEN, wrong),
    "tokens.positions, kind": lambda wrong, _: CHOSEN.positions(wrong),
    "tokens.positions of none, kind": lambda wrong, _: tokens.batch_tokens([]).positions(wrong),
    "tokens.overlay": lambda wrong, _: tokens.overlay(IMAGE, wrong),
    "tokens.token_sheet": lambda wrong, _: tokens.token_sheet(IMAGE, wrong),
    "tokens.contact_sheet": lambda wrong, _: tokens.contact_sheet(wrong),
    "tokens.Panel": lambda wrong, _: tokens.Panel([wrong], []),
    "tokens.Panel, lines": lambda wrong, _: tokens.Panel([IMAGE], [wrong]),
    "tokens.prune_patches": lambda wrong, _: tokens.prune_patches(wrong, 0.5),
    "tokens.prune_patches, threshold": lambda wrong, _: tokens.prune_patches(MAXIMA, within(wrong)),
    "tokens.batch_tokens, values": lambda wrong, _: tokens.batch_tokens([CHOSEN], [wrong]),
    "tokens.preset": lambda wrong, _: tokens.preset(wrong),
    "tokens.TokenAllocation": lambda wrong, _: tokens.TokenAllocation(wrong),
    "tokens.Reducer": lambda wrong, _: tokens.Reducer(wrong),
    "tokens.BatchEncoder": lambda wrong, _: tokens.BatchEncoder(wrong),
    "tokens.MultiFixation": lambda wrong, _: tokens.MultiFixation(fixations=wrong),
    "tokens.FoveatedRelevance, fixation": lambda wrong, _: tokens.FoveatedRelevance(fixation=within(wrong)),
    "tokens.LogPolar, fixation": lambda wrong, _: tokens.LogPolar(fixation=within(wrong)),
    "tokens.RegionTokens": lambda wrong, _: tokens.RegionTokens.of(tokens.TokenContext.of(IMAGE), wrong, 1),
}


@pytest.mark.parametrize("name", BUILDERS)
def test_it_is_refused(name: str, tmp_path: Path) -> None:
    for wrong in WRONG:
        with pytest.raises(HraError) as refused:
            BUILDERS[name](wrong, tmp_path / "out")
        assert refused.value.what and refused.value.where and refused.value.fix, wrong


@pytest.mark.parametrize("build", [meshes.build, points.build], ids=["meshes", "points"])
def test_arrays_in_place_of_one_object(build: Callable[..., Any]) -> None:
    with pytest.raises(HraError, match="got a tuple") as refused:
        build(np.zeros((3, 3)), np.zeros((3, 3)))
    assert "positions" in str(refused.value.fix)
