"""Row: ten thousand copies of a mesh under one budget, of which a camera sees some or all.

Peers of the instances: the union of all that are in view, and one tolerance for all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from hra import samples
from hra.camera import Camera
from hra.camera.view import View
from hra.domains import meshes
from hra.domains.meshes import MeshAllocator, Scene
from hra.domains.meshes.scene.placed_errors import PlacedViews
from hra.domains.meshes.scene.placements import instances_seen
from hra.domains.meshes.scene.scene_allocation import SceneAllocation
from hra.model.gains import peak_errors
from hra.pooling.copies_allocation import CopiesAllocation
from hra.pooling.pool import Pool, PooledAllocation
from hra.pooling.union import Unions
from hra.solvers.selection import select_threshold
from hra.traversals.hull import Hull
from hra_lab.bench.harness import Case, Contender, Gaps, measure
from hra_lab.bench.memory import peak_bytes
from hra_lab.bench.meshes.times import times
from hra_lab.bench.suite import Scale

_FULL, _SMALL = 10_000, 1_000
# Triangles for each instance in view; the skull's coarsest level has 120, its source 42,480.
_EACH = 500
# Of the side of the field: how far the camera moves between rounds, and between frames.
_JUMP, _STEP = 0.02, 0.0002


@dataclass
class Joined:
    """All instances in view as members of one pool: each with its camera, and a union of all hierarchies."""

    scene: Scene
    budget: float
    unions: Unions = field(default_factory=Unions)

    def __call__(self, camera: Camera) -> PooledAllocation:
        """What every instance in view received, its cut included."""
        placed = self.scene._placed
        numbers = np.flatnonzero(instances_seen(placed, (View(camera),)))
        allocators = [MeshAllocator(mesh) for mesh in placed.meshes]
        members = tuple(allocators[kind] for kind in placed.mesh_of[numbers].tolist())
        contexts = list(PlacedViews((View(camera),), placed.matrices[numbers]))
        found = Pool(members, Hull(), _unions=self.unions).allocate(contexts, self.budget)
        for member in found.members:
            member.cut  # noqa: B018  computed on first use
        return found


@dataclass
class OneTolerance:
    """What renderers do: an error in pixels for all, by the distance of each instance's center; groups above it go.

    The tolerance is the least that the budget allows. One mesh only.
    """

    scene: Scene
    budget: float

    def __call__(self, camera: Camera) -> np.ndarray:
        """Refinements taken by the instances in view, in the order of the placements, bool [R, M]."""
        placed = self.scene._placed
        hierarchy = placed.meshes[0].hierarchy
        numbers = np.flatnonzero(instances_seen(placed, (View(camera),)))
        error = peak_errors(hierarchy, hierarchy.attribute("error").astype(np.float64), None)
        size = placed.radii[numbers] / placed.extents[0].radius
        away = np.linalg.norm(placed.centers[numbers] - camera.position, axis=1)
        pixels = error[:, None] * (camera.focal_pixels * size / away)
        capacity = self.budget - len(numbers) * hierarchy.base_cost
        cost = np.repeat(hierarchy.unit_cost, len(numbers))
        return pixels > select_threshold(pixels.ravel(), cost, capacity)


def residual_of(own: CopiesAllocation, output: Any) -> float:
    """What a peer's answer leaves of the error, by the gains that the library saw."""
    if isinstance(output, PooledAllocation):
        return output.whole.residual
    (gain,) = own.copies.parts(own.gain)
    return float(own.least_error[0].sum() + np.where(output, 0.0, gain[:, own.order]).sum())


@dataclass(frozen=True)
class InstancesBenchmark:
    """Copies of the skull on a field, turned and scaled at random: from a camera to what to draw.

    Parameters
    ----------
    share : of the copies that are in view, nearly.
    triangles : to which the skull is simplified first, or None.
    """

    name: str
    share: float
    triangles: int | None = None
    needs: tuple[str, ...] = ("meshoptimizer:simplify",)

    def measure(self, scale: Scale, repeat: int, bandwidth: float) -> dict[str, Any]:
        """The row; ``ours_s`` and ``cpu_s`` are of cold frames, ``warm_s`` and ``warm_cpu_s`` of the next ones."""
        field_, judged = Field.of(_FULL if scale == "full" else _SMALL, self.triangles), Judged()
        camera = field_.camera(self.share, 0.0)
        seen = int(np.count_nonzero(instances_seen(field_.scene._placed, (meshes.View(camera),))))
        budget, small = _EACH * seen, Field.of(_SMALL, self.triangles)
        Frames(small.scene, _EACH * _SMALL)(small.camera(1.0, 0.0))  # loads compiled code
        memory = peak_bytes(lambda: Frames(field_.scene, budget)(camera))
        peers = (
            Contender("union of all", Joined(field_.scene, budget)),
            Contender("one tolerance", OneTolerance(field_.scene, budget)),
        )
        cold = measure(_case(Frames(field_.scene, budget), peers, field_, self.share, _JUMP, judged), repeat)
        warm = measure(_case(Frames(field_.scene, budget, keeps=True), (), field_, self.share, _STEP, Judged()), repeat)
        return {
            "name": self.name,
            "n": len(field_.scene),
            "in_view": seen,
            **times({name: clock for name, clock in cold.items() if name != "one tolerance"}),
            "warm_s": warm["hra"].seconds,
            "warm_cpu_s": warm["hra"].cpu_seconds,
            "tolerance_cpu_s": cold["one tolerance"].cpu_seconds,
            "budget": budget,
            "spent": judged.spent,
            "residual_gap": judged.gap,
            "residual_of_union": judged.beside.get("union of all"),
            "residual_of_tolerance": judged.beside.get("one tolerance"),
            "rss_mb": None if memory is None else memory / 2**20,
            "clusters": field_.clusters,
        }


@dataclass(frozen=True, eq=False)
class Field:
    """The scene, and cameras over it.

    Attributes
    ----------
    side : of the field, world units; ``clusters`` of one copy.
    """

    scene: meshes.Scene
    side: float
    clusters: int

    @classmethod
    def of(cls, count: int, triangles: int | None = None) -> Field:
        """A square field with a copy at each crossing of its lines, of the skull or of one with so many triangles."""
        skull = _skull(triangles)
        pitch = float(np.linalg.norm(np.ptp(skull.bounds, axis=0)))
        across = int(np.ceil(np.sqrt(count)))
        rng, number = np.random.default_rng(0), np.arange(count)
        placements = np.tile(np.eye(4), (count, 1, 1))
        turns, _ = np.linalg.qr(rng.normal(size=(count, 3, 3)))
        placements[:, :3, :3] = turns * np.linalg.det(turns)[:, None, None] * rng.uniform(0.5, 1.5, (count, 1, 1))
        placements[:, :3, 3] = np.stack([number % across, number // across, 0 * number], axis=1) * pitch
        return cls(meshes.Scene([(skull, placements)]), across * pitch, skull.hierarchy.node_cost.size)

    def camera(self, share: float, moved: float) -> Camera:
        """From the edge of the field along it, or from above all of it; ``moved`` by so many sides."""
        x = self.side * (0.5 + moved)
        if share == 1.0:
            eye, target, angle = (x, -0.3 * self.side, 0.9 * self.side), (x, 0.45 * self.side, 0.0), 75.0
        else:
            eye, target, angle = (x, -0.02 * self.side, 0.03 * self.side), (x, self.side, -0.1 * self.side), 11.5
        return Camera.perspective(eye, target, (0, 0, 1), vertical_fov_degrees=angle, near=1e-4 * self.side)


@cache
def _skull(triangles: int | None) -> meshes.ClusterMesh:
    skull = meshes.build(samples.path("skull.ply"))
    if triangles is None:
        return skull
    from_afar = Camera.orbit(skull.bounds, azimuth=30, up=(0, 0, 1), distance=100.0)
    return meshes.build(skull.mesh(meshes.MeshAllocator(skull).allocate(from_afar, triangles).cut))


@dataclass
class Frames:
    """From a camera to the cuts of all instances in view, each frame from nothing or from the last one."""

    scene: meshes.Scene
    budget: float
    keeps: bool = False
    last: SceneAllocation | None = None

    def __call__(self, camera: Camera) -> SceneAllocation:
        """One frame."""
        found = self.scene.allocate(camera, self.budget, previous=self.last)
        self.scene.realize(found)
        self.last = found if self.keeps else None
        return found


@dataclass
class Judged:
    """The worst of all rounds: part of the budget spent, gap of the residual, and residuals of peers over ours."""

    spent: float = 1.0
    gap: float = 0.0
    beside: dict[str, float] = field(default_factory=dict)

    def __call__(self, camera: Camera, outputs: Mapping[str, Any]) -> dict[str, Gaps]:
        """Note what a round was worth; gaps are not all of one kind, so that none are returned."""
        own: SceneAllocation = outputs["hra"]
        if not isinstance(own.pooled, CopiesAllocation):
            raise ValueError("the instances were joined, which this row is not about")
        self.spent, self.gap = min(self.spent, own.cost / own.pooled.budget), max(self.gap, own.pooled.residual_gap)
        for name, output in outputs.items():
            if name != "hra":
                beside = residual_of(own.pooled, output) / own.pooled.residual
                self.beside[name] = min(self.beside.get(name, np.inf), beside)
        return {}


def _case(own: Frames, peers: tuple[Contender, ...], given: Field, share: float, step: float, judged: Judged) -> Case:
    contenders = (Contender("hra", own), *peers)
    return Case(contenders, lambda number: given.camera(share, step * number), judged, len(given.scene), 0)
