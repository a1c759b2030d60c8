"""Stated distances of levels hold wherever and however a scene shows its meshes at rest."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hra.domains import meshes
from hra.domains.meshes.files.gltf_scene import GltfScene
from hra.domains.meshes.lods.at_rest import poses
from hra.domains.meshes.lods.stand_in import StandIn
from hra.errors import RepairWarning
from tests.helpers.scenes import Scene

SHARES = [0.5, 0.1]


def as_it_is(scene: Scene) -> None:
    pass


def stretched_copy(scene: Scene) -> None:
    """A second place of a third of the volume, nine times as long."""
    scene.header["nodes"].append({"mesh": 0, "scale": [9, 9, 0.004], "translation": [3, 0, 0]})
    scene.header["scenes"][0]["nodes"].append(1)


def instances(scene: Scene) -> None:
    places = np.array([[0, 0, 0], [2, 0, 0], [0, 3, 0]], np.float32)
    sizes = np.array([[1, 1, 1], [0.5, 4, 0.5], [2, 0.1, 2]], np.float32)
    attributes = {"TRANSLATION": scene.add(places), "SCALE": scene.add(sizes)}
    scene.header["nodes"][0]["extensions"] = {"EXT_mesh_gpu_instancing": {"attributes": attributes}}
    scene.header["extensionsUsed"] = ["EXT_mesh_gpu_instancing"]


def crowd(scene: Scene) -> None:
    """More places of different sizes than are measured."""
    for k, size in enumerate(([1, 1, 5], [5, 1, 1], [1, 5, 1], [4, 4, 1], [1, 4, 4], [4, 1, 4])):
        scene.header["nodes"].append({"mesh": 0, "scale": size, "translation": [20 * k + 10, 0, 0]})
        scene.header["scenes"][0]["nodes"].append(k + 1)


def lifted(scene: Scene) -> None:
    """A target that is set by one of two nodes."""
    scene.morph()
    scene.header["nodes"].append({"mesh": 0, "weights": [3.0, 0.0], "translation": [0, 0, 4]})
    scene.header["scenes"][0]["nodes"].append(1)


def bent(scene: Scene) -> None:
    """A skin that is bent and grown at rest, not as it was bound."""
    scene.skin()
    scene.header["nodes"][2] |= {"rotation": [0, 0, np.sin(1.4), np.cos(1.4)], "scale": [4, 4, 4]}


def flattened(scene: Scene) -> None:
    """Nothing of it has a size at rest, but an animation may open it."""
    scene.header["nodes"][0]["scale"] = [2, 0, 2]


def another_scene(scene: Scene) -> None:
    """The other mesh covers what the first one loses, and stands in another scene."""
    scene.header["meshes"].append({"primitives": [{**scene.primitive}]})
    scene.header["nodes"].append({"mesh": 1})
    scene.header["scenes"].append({"nodes": [1]})


def measured(source: Path, level: Path) -> float:
    """How far random points of two scenes are from the other's surface, all places at rest."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RepairWarning)
        both = [meshes.load(path) for path in (source, level)]
    random = np.random.default_rng(0)
    points = [meshes.surface_points(mesh, 20_000, random) for mesh in both]
    points = [np.concatenate([of, mesh.positions]) for of, mesh in zip(points, both, strict=True)]
    pairs = zip(points, reversed(both), strict=True)
    return max(float(meshes.nearest_distances(of, to.positions, to.triangles).max()) for of, to in pairs)


# Points are random; of many stretched places not all are measured, and what has no size at rest shows nothing.
LOOSE: dict[Callable[[Scene], None], float] = {
    as_it_is: 1.1,
    stretched_copy: 1.25,
    instances: 1.25,
    crowd: 8.0,
    lifted: 1.25,
    bent: 1.1,
    flattened: np.inf,
}


@pytest.mark.parametrize("change", LOOSE)
def test_stated_distances_hold_at_rest(change: Callable[[Scene], None], tmp_path: Path) -> None:
    scene = Scene(17)
    change(scene)
    source = scene.write(tmp_path / "scene.glb")
    lod = meshes.scene_lod(source, SHARES)
    for level, stated in zip(lod.export(tmp_path / "levels"), lod.chain.errors.tolist(), strict=True):
        found = measured(source, level)
        assert found <= stated * (1 + 1e-5)
        assert stated <= LOOSE[change] * found


def test_scenes_that_are_not_shown_together_do_not_cover_each_other(tmp_path: Path) -> None:
    scene = Scene(17)
    another_scene(scene)
    source = scene.write(tmp_path / "scene.glb")
    lod = meshes.scene_lod(source, [0.3])
    (level,) = lod.export(tmp_path / "levels")
    for number in (0, 1):
        for path in (source, level):
            header = path.read_bytes().replace(b'"scene": %d' % (1 - number), b'"scene": %d' % number)
            path.write_bytes(header.replace(b'"scene":%d,' % (1 - number), b'"scene":%d,' % number))
        assert measured(source, level) <= lod.chain.errors[0] * (1 + 1e-5)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_any_places_of_two_meshes(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Affine places of all kinds, mirrored and sheared; where meshes lie within each other, neither stands for both."""
    random, folder = np.random.default_rng(seed), tmp_path_factory.mktemp("places")
    scene = Scene(9)
    scene.header["meshes"].append({"primitives": [{**scene.primitive}]})
    scene.header["nodes"] = [{"mesh": mesh} for mesh in (0, 1, *random.integers(0, 2, 2).tolist())]
    for node in scene.header["nodes"][random.integers(1, 4) :]:
        matrix = np.eye(4)
        matrix[:3] = random.normal(size=(3, 4)) * np.exp(random.normal(size=(3, 1)))
        node["matrix"] = matrix.T.reshape(-1).tolist()
    scene.header["scenes"][0]["nodes"] = [0, 1, 2, 3]
    source = scene.write(folder / "scene.glb")
    lod = meshes.scene_lod(source, sorted(random.uniform(0.05, 0.9, 2).tolist(), reverse=True))
    for level, stated in zip(lod.export(folder / "levels"), lod.chain.errors.tolist(), strict=True):
        assert measured(source, level) <= stated * (1 + 1e-5)


def test_poses_are_told_apart(tmp_path: Path) -> None:
    """Nodes that show a mesh in the same way are one pose, with all of their places; a skin has one."""
    scene = Scene(5)
    scene.morph()
    scene.header["nodes"] += [{"mesh": 0, "weights": [1.0, 0.0]}, {"mesh": 0, "translation": [1, 2, 3]}]
    scene.header["scenes"][0]["nodes"] += [1, 2]
    first, second = poses(GltfScene.open(scene.write(tmp_path / "scene.glb")))[0]
    assert first.rigid and [one[:3, 3].tolist() for one in first.matrices] == [[0, 0, 0], [1, 2, 3]]
    assert not second.rigid and second.weights == (1.0, 0.0) and len(second.matrices) == 1
    scene = Scene(5)
    scene.skin()
    scene.header["nodes"].append({"mesh": 0, "skin": 0, "translation": [1, 2, 3]})
    scene.header["scenes"][0]["nodes"].append(3)
    (only,) = poses(GltfScene.open(scene.write(tmp_path / "skin.glb")))[0]
    assert only.skin == 0 and not only.rigid and np.array_equal(only.matrices, np.eye(4)[None])


@pytest.mark.parametrize(("size", "alone"), [([1, 1, 1], []), ([1, 0, 1], [0, 1])])
def test_what_has_no_size_at_rest_covers_nothing(size: list[float], alone: list[int], tmp_path: Path) -> None:
    """It is simplified as if it had one, beside meshes that it is not beside in the scene: so these count alone."""
    scene = Scene(9)
    scene.header["meshes"].append({"primitives": [{**scene.primitive}]})
    scene.header["nodes"] = [{"mesh": 0, "scale": size}, {"mesh": 1}]
    scene.header["scenes"][0]["nodes"] = [0, 1]
    source = scene.write(tmp_path / "scene.glb")
    assert sorted(StandIn.of(GltfScene.open(source)).not_here(1)) == alone
    lod = meshes.scene_lod(source, SHARES)
    for level, stated in zip(lod.export(tmp_path / "levels"), lod.chain.errors.tolist(), strict=True):
        assert measured(source, level) <= stated * (1 + 1e-5)
