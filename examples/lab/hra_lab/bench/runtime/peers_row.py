"""Row: what others draw of the same copies at one pixel."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.camera import Camera
from hra.domains import meshes
from hra.traversals.threshold import Threshold
from hra_lab.bench.meshes.instances_row import Field
from hra_lab.bench.runtime.frame_row import NEEDS, VIEWPORT, camera_of
from hra_lab.bench.suite import Scale

_OURS = "hra, threshold and occlusion"
_CHAIN = (1.0, 0.5, 0.25, 0.125, 0.06, 0.03, 0.015)


@dataclass(frozen=True)
class PeersBenchmark:
    """Copies of the skull, all in view, each rule at a tolerance of one pixel by the quadric error.

    Parameters
    ----------
    copies : how many stand there.
    """

    name: str
    copies: int
    needs: tuple[str, ...] = NEEDS

    def measure(self, scale: Scale, repeat: int, bandwidth: float) -> dict[str, Any]:
        """Triangles that go to the GPU and seconds of the third of three frames, of each rule."""
        field = Field.of(self.copies if scale == "full" else 2)
        camera = camera_of(field, 0.0)
        rules = _rules(field)
        peers = {name: _frames(field, camera, choose, culling) for name, (choose, culling) in rules.items()}
        peers["discrete chain, frustum"] = _chain(field, camera)
        own = peers.pop(_OURS)
        return {
            "name": self.name,
            "n": len(field.scene),
            "ours_s": own["choose_s"] + own["draw_s"],
            **own,
            "peer": "per-cluster test, frustum",
            "peer_s": sum(peers["per-cluster test, frustum"][key] for key in ("choose_s", "draw_s")),
            "peers": peers,
        }


Choose = Callable[[Camera], Any]


def _rules(field: Field) -> dict[str, tuple[Choose, str]]:
    (mesh,) = field.scene.copies.meshes
    scene = meshes.Scene([(mesh, field.scene.placements)], meshes.ScreenError("quadric"), Threshold(1.0))
    everything = np.flatnonzero(mesh.hierarchy.attribute("level") == 0)
    engine = EngineTest.of(mesh, field.scene.placements)

    def threshold(camera: Camera) -> Any:
        return scene.allocate(camera, np.inf)

    return {
        _OURS: (threshold, "occlusion"),
        "threshold, no culling": (threshold, "none"),
        "per-cluster test, frustum": (engine, "frustum"),
        "everything, no culling": (lambda _: everything, "none"),
        "everything, occlusion": (lambda _: everything, "occlusion"),
    }


@dataclass(frozen=True, eq=False)
class EngineTest:
    """What engines run per cluster: draw it where its own error is at most a pixel and that of its parents is above.

    Karis, Nanite: A Deep Dive, SIGGRAPH 2021 course Advances in Real-Time Rendering. Spheres and errors are those of
    groups, so that all clusters of one decide alike and cuts are whole.

    Attributes
    ----------
    center, radius, error : [R] of the groups' simplified clusters, nested and monotone.
    made_by, goes_into : int64 [N], the group of each cluster's own error and of its parents'; -1 for none.
    """

    placements: np.ndarray
    center: np.ndarray
    radius: np.ndarray
    error: np.ndarray
    made_by: np.ndarray
    goes_into: np.ndarray

    @classmethod
    def of(cls, mesh: Any, placements: np.ndarray) -> EngineTest:
        """The groups of a cluster mesh."""
        hierarchy = mesh.hierarchy
        offsets, products = hierarchy.removed_nodes
        group = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        centers, radii = (hierarchy.attribute(name)[products].astype(np.float64) for name in ("center", "radius"))
        middle = np.add.reduceat(centers, offsets[:-1]) / np.diff(offsets)[:, None]
        reach = np.linalg.norm(centers - middle[group], axis=1) + radii
        error = hierarchy.attribute("error")[products[offsets[:-1]]].astype(np.float64)
        links = hierarchy.removed_by, hierarchy.added_by
        return cls(placements, middle, np.maximum.reduceat(reach, offsets[:-1]), error, *links)

    def __call__(self, camera: Camera) -> list[np.ndarray]:
        """Clusters of each copy."""
        return [self._cut(camera, placement) for placement in self.placements]

    def _cut(self, camera: Camera, placement: np.ndarray) -> np.ndarray:
        # An even scale leaves the ratio of error and distance as it is.
        eye = np.linalg.solve(placement, np.append(camera.position, 1.0))[:3]
        distance = np.maximum(np.linalg.norm(self.center - eye, axis=1) - self.radius, 1e-9)
        above = np.append(self.error * camera.focal_pixels / distance > 1.0, False)  # -1 is the last one
        return np.flatnonzero(~above[self.made_by] & (above[self.goes_into] | (self.goes_into < 0)))


def _frames(field: Field, camera: Camera, choose: Choose, culling: str) -> dict[str, Any]:
    """Three frames with one renderer; the last one counts."""
    with meshes.Renderer(field.scene, VIEWPORT) as renderer:
        for _ in range(2):
            _frame(renderer, camera, choose, culling)
        return _frame(renderer, camera, choose, culling)


def _frame(renderer: meshes.Renderer, camera: Camera, choose: Choose, culling: str) -> dict[str, Any]:
    begin = time.perf_counter()
    cut = choose(camera)
    chosen = time.perf_counter()
    facts = renderer.draw(camera, cut, culling)  # pyright: ignore[reportArgumentType]
    renderer.finish()
    seconds = {"choose_s": chosen - begin, "draw_s": time.perf_counter() - chosen}
    return {"triangles": facts.triangles, "drawn": facts.drawn, **seconds}


def _chain(field: Field, camera: Camera) -> dict[str, Any]:
    """One mesh per level of detail, each copy by its distance: triangles alone, and the time to choose."""
    (mesh,) = field.scene.copies.meshes
    finest = mesh.mesh(np.flatnonzero(mesh.hierarchy.attribute("level") == 0))
    chain = meshes.build_discrete(finest, shares=_CHAIN)
    begin = time.perf_counter()
    levels = [chain.by_pixels(camera.seen_from(placement), 1.0) for placement in field.scene.placements]
    triangles = sum(len(chain.levels[level].triangles) for level in levels)
    return {"triangles": triangles, "drawn": triangles, "choose_s": time.perf_counter() - begin, "draw_s": None}
