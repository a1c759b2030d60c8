"""The vertices of the levels of a glTF scene: those of a stand-in, of parts that grew, and those that were moved."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from hra.domains.meshes.building.settings import Workers, processors
from hra.domains.meshes.files.gltf_accessors import Accessors
from hra.domains.meshes.files.gltf_packing import position_step, rounded_weights, with_brief_nodes
from hra.domains.meshes.files.gltf_poses import influences, joint_matrices, skinned
from hra.domains.meshes.files.gltf_scene import GltfScene, Moved, Place
from hra.domains.meshes.lods.at_rest import Pose, Surface, distances_alone, posed, poses
from hra.domains.meshes.lods.refitting import Refit, Refitting
from hra.domains.meshes.lods.stand_in import StandIn, numbered_features
from hra.domains.meshes.mesh.attributes import VertexAttributes, concatenate
from hra.domains.meshes.mesh.cluster_mesh import ClusterMesh
from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh, referenced_only

# Attributes of vertices that move, and means of directions that say nothing.
_FITTED = ("NORMAL", "TANGENT", "TEXCOORD_", "COLOR_")
_SHORT = 1e-3
_CALLED = {"uv": "TEXCOORD_0", "uv2": "TEXCOORD_1", "normals": "NORMAL", "tangents": "TANGENT", "colors": "COLOR_0"}


class SceneVertices:
    """The vertices of levels: those of a stand-in, those of parts that grew, and those that were moved."""

    def __init__(self, scene: GltfScene, stand_in: StandIn, clusters: ClusterMesh, of_source: np.ndarray) -> None:
        self.scene, self.stand_in = scene, stand_in
        self.of_source, self.positions = of_source, clusters.positions
        # Where nothing is cut away.
        self.source = TriangleMesh(clusters.positions, stand_in.mesh.triangles, clusters.attributes)
        self._attributes = [] if clusters.attributes is None else [clusters.attributes]
        self._own = _numbers_of(clusters.attributes)
        self._refitting = Refitting(self.source)
        grown = np.arange(len(of_source)) >= len(stand_in.row)
        self._fixed = grown | self._between_features()
        self._numbers = self._numbers_of_source()
        self._values = {name: np.zeros((int(grown.sum()), 4)) for name in self._numbers}

    def _between_features(self) -> np.ndarray:
        """Whether a vertex is where numbered features meet, bool: no number bleeds."""
        numbered = np.array([bool(numbered_features(self.scene.primitive(place))) for place in self.stand_in.place])
        found, carried = numbered[self.stand_in.number(self.of_source)], self.source.attributes
        if not found.any() or carried is None or carried.material is None:
            return found
        place = self.source.position_of.astype(np.int64)
        low, high = np.full(len(place), len(carried.materials)), np.full(len(place), -1)
        np.minimum.at(low, place, carried.material)
        np.maximum.at(high, place, carried.material)
        return found & (low < high)[place]

    def _numbers_of_source(self) -> dict[str, np.ndarray]:
        """What is fitted, by the names of attributes, float64 [V, 4] as files have it."""
        found: dict[str, np.ndarray] = {}
        number = self.stand_in.number(self.of_source)
        for k, place in enumerate(self.stand_in.place):
            own, begin = np.flatnonzero(number == k), self.stand_in.begin[k]
            for name, accessor in self.scene.primitive(place)["attributes"].items():
                if name.startswith(_FITTED):
                    values = self.scene.accessors.scale(accessor)[self.stand_in.row[self.of_source[own]] - begin]
                    found.setdefault(name, np.zeros((len(self.of_source), 4)))[own, : values.shape[1]] = values
        return found

    def begun(self, triangles: np.ndarray) -> np.ndarray:
        """``triangles`` [F, 3] of a level with vertices of their own where their charts have none, int64 [F, 3]."""
        begun = self._refitting.begun(triangles, self._frozen(triangles))
        return self._with(begun, self._fitted(begun))

    def refitted(self, levels: Sequence[np.ndarray]) -> list[np.ndarray]:
        """``levels`` of triangles [F, 3] with vertices of their own where these fit better, int64 [F, 3] each."""

        def fit(triangles: np.ndarray) -> tuple[Refit, dict[str, np.ndarray]]:
            found = self._refitting.refitted(triangles, self._frozen(triangles))
            return found, self._fitted(found)

        with Workers(min(processors(), len(levels))) as workers:
            return [self._with(*found) for found in list(workers.map(fit, levels))]

    def _frozen(self, triangles: np.ndarray) -> np.ndarray:
        """Which vertices stay in a level of ``triangles`` [F, 3], bool [V]."""
        number, frozen = self.stand_in.number(self.of_source[triangles[:, 0]]), self._fixed.copy()
        # Primitives that lose nothing are written as they are.
        kept = np.bincount(number, minlength=len(self.stand_in.whole)) >= list(map(len, self.stand_in.whole))
        frozen[triangles[kept[number]]] = True
        return frozen

    def _with(self, fit: Refit, values: dict[str, np.ndarray]) -> np.ndarray:
        """The triangles of a level, whose own vertices are among all from now on, int64 [F, 3]."""
        like = self.of_source[fit.vertices]
        points = self._as_stored(like, fit.positions)
        own, count = fit.moved, len(self.positions)
        self.positions = np.concatenate([self.positions, points[own].astype(np.float32)])
        self.of_source = np.concatenate([self.of_source, like[own]])
        valid = {
            name: _valid(name, values[name], fit.begin.values(source), fit.triangles)[own]
            for name, source in self._numbers.items()
        }
        self._values = {name: np.concatenate([old, valid[name]]) for name, old in self._values.items()}
        self._attributes = [
            *self._attributes,
            *(_fitted_attributes(one, fit, values, self._own) for one in self._attributes[:1]),
        ]
        return np.where(own, count + np.cumsum(own) - 1, fit.vertices)[fit.triangles]

    def _fitted(self, fit: Refit) -> dict[str, np.ndarray]:
        """All numbers of the file and of the mesh here, by their names, float64 [n, k]: in one pass over the points."""
        given = self._numbers | self._own
        if not given:
            return {}
        ends = np.cumsum([one.shape[1] for one in given.values()])
        every = fit.values(np.concatenate(list(given.values()), axis=1))
        return dict(zip(given, np.split(every, ends[:-1], axis=1), strict=True))

    def _as_stored(self, like: np.ndarray, points: np.ndarray) -> np.ndarray:
        """``points`` float64 [n, 3] where they are after they were rounded as the file rounds them."""
        inside, number = self.stand_in.inside(like, points), self.stand_in.number(like)
        for k in np.unique(number).tolist():
            accessor = self.scene.primitive(self.stand_in.place[k])["attributes"]["POSITION"]
            inside[number == k] = self.scene.accessors.rounded(accessor, inside[number == k])
        return self.stand_in.outside(like, inside)

    def at_rest(self, levels: Sequence[np.ndarray]) -> list[TriangleMesh]:
        """The source and ``levels`` as they stand here at rest; without normals where skins or targets move them."""
        attributes = concatenate(self._attributes, [len(one) for one in self._attributes]) if self._attributes else None
        stand_in, positions = self.stand_in, self.positions
        if not all(pose.rigid for pose in stand_in.pose):
            positions, (number, inside, row) = positions.copy(), self._inside()
            for k, (place, pose) in enumerate(zip(stand_in.place, stand_in.pose, strict=True)):
                own, matrix = number == k, stand_in.frame(k)
                if not pose.rigid:
                    points = posed(self.scene, place, pose, row[own], inside[own])
                    positions[own] = points @ matrix[:3, :3].T + matrix[:3, 3] - stand_in.origin
            if attributes is not None:
                attributes = replace(attributes, normals=None, tangents=None)
        source, every = stand_in.mesh.triangles, range(len(stand_in.place))
        own = [source, *(self._of_primitives(every, one) for one in levels)]
        return [referenced_only(positions, one, attributes) for one in own]

    def elsewhere(self, levels: Sequence[np.ndarray]) -> np.ndarray:
        """Bounds on distances where meshes are shown in other places than here, float64 [L].

        In a file of several scenes, and where a mesh has a size here alone, that is all of them: what lies beside a
        mesh here need not lie beside it there.
        """
        found, left = np.zeros(len(levels)), self.stand_in.not_here(len(self.scene.accessors.header.get("scenes", [])))
        if not left:
            return found
        number, inside, row = self._inside()
        for mesh, ways in left.items():
            parts = [k for k, (other, _) in enumerate(self.stand_in.place) if other == mesh]
            source, *own = [self._of_primitives(parts, one) for one in (self.stand_in.mesh.triangles, *levels)]
            surface = Surface(self.stand_in.place, number, row, inside, source, own)
            found = np.maximum(found, distances_alone(self.scene, surface, ways))
        return found

    def rounding(self) -> float:
        """By how much rounded files move surfaces at most where the scene shows them: half of a step along each axis.

        A skin moves a vertex by means of its joints' matrices, targets add rounded positions times their weights. Nodes
        and weights of skins are rounded, too, which moves most what is far from the middle.
        """
        header, accessors, most = self.scene.accessors.header, self.scene.accessors, 0.0
        brief = replace(accessors, views=replace(accessors.views, header=with_brief_nodes(header)))
        rounded = self._with_rounded_weights(brief)
        new, (number, inside, _) = poses(replace(self.scene, accessors=brief)), self._inside()
        for mesh, ways in poses(self.scene).items():
            primitives = [p for p in header["meshes"][mesh]["primitives"] if "POSITION" in p["attributes"]]
            own = [k for k, place in enumerate(self.stand_in.place) if mesh in dict(self.stand_in.alike(place))]
            points = [accessors.scale(p["attributes"]["POSITION"]) for p in primitives]
            # As files have them: half a digit more may be a step twice as large.
            points.append(inside[np.isin(number, own)].astype(np.float32))
            half, every = position_step(points) / 2, np.concatenate(points).astype(np.float64)
            middle = (every.min(axis=0) + every.max(axis=0)) / 2 if len(every) else np.zeros(3)
            targets = [
                accessors.scale(t["POSITION"]) for p in primitives for t in p.get("targets", []) if "POSITION" in t
            ]
            aside = max([_farthest(one) for one in targets], default=0.0)
            for old, now in zip(ways, new[mesh], strict=True):
                weights = sum(map(abs, old.weights))
                matrices = now.matrices if now.skin is None else joint_matrices(brief, now.skin)
                longest = float(np.linalg.norm(matrices[:, :3, :3], 2, axis=(1, 2)).max())
                radius = _farthest(every - middle) + aside * weights
                # One after the other, as files may leave weights as they are.
                steps = [(accessors, old), (brief, now), (rounded, now)]
                shown = [_shown(of, primitives, way) for of, way in steps]
                gone = [
                    sum(_moved(after - before, middle, radius) for before, after in pairwise(states))
                    for states in zip(*shown, strict=True)
                ]
                most = max(most, math.sqrt(3) * half * longest * (1 + weights) + max(gone, default=0.0))
        return most

    def _with_rounded_weights(self, accessors: Accessors) -> Accessors:
        """``accessors`` with weights of skins as rounded files have them."""
        named = [p["attributes"] for mesh in accessors.header.get("meshes", []) for p in mesh["primitives"]]
        single = {one["WEIGHTS_0"] for one in named if "WEIGHTS_0" in one and "WEIGHTS_1" not in one}
        weights = {number: rounded_weights(accessors.array(number)) for number in single}
        return replace(accessors, unpacked=accessors.unpacked | weights)

    def _of_primitives(self, parts: Sequence[int], triangles: np.ndarray) -> np.ndarray:
        """The ``triangles`` that these primitives have; a primitive left without any keeps its first."""
        stand_in, number = self.stand_in, self.stand_in.number(self.of_source[triangles[:, 0]])
        lost = [k for k in parts if k not in number]
        first = [stand_in.vertex[stand_in.begin[k] + stand_in.last(k)] for k in lost]
        return np.concatenate([triangles[np.isin(number, parts)], *first])

    def _inside(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Each vertex's primitive, by number, its place there, float64 [V, 3], and the vertex it is like."""
        number = self.stand_in.number(self.of_source)
        points = self.stand_in.inside(self.of_source, self.positions.astype(np.float64))
        return number, points, self.stand_in.row[self.of_source] - self.stand_in.begin[number]

    def by_place(self, triangles: np.ndarray, *, every: bool = False) -> dict[Place, np.ndarray]:
        """`StandIn.by_place` of ``triangles`` int64 [F, 3] of these vertices."""
        return self.stand_in.by_place(triangles, self.of_source, every=every)

    def moved(self) -> Moved:
        """All vertices that are not the scene's own."""
        own = self.stand_in.moved(self.positions, self.of_source)
        grown = len(self._fixed) - len(self.stand_in.row)
        return own._replace(values=self._values, fitted=np.arange(len(own.rows)) >= grown)


def _farthest(points: np.ndarray) -> float:
    """How far points [n, 3] are from 0 at most."""
    return float(np.linalg.norm(points.astype(np.float64), axis=1).max(initial=0))


def _shown(accessors: Accessors, primitives: Sequence[Mapping[str, Any]], pose: Pose) -> list[np.ndarray]:
    """Matrices [n, 4, 4] that show a mesh in a pose: its own, or those of all vertices of each primitive."""
    if pose.skin is None:
        return [pose.matrices]
    joints, where = joint_matrices(accessors, pose.skin), accessors.views.where
    counts = [len(accessors.array(primitive["attributes"]["POSITION"])) for primitive in primitives]
    return [
        skinned(joints, influences(accessors, primitive, where), count, where)
        for primitive, count in zip(primitives, counts, strict=True)
    ]


def _moved(change: np.ndarray, middle: np.ndarray, radius: float) -> float:
    """How far matrices that change by these [n, 4, 4] move points in a sphere at most."""
    turned = np.linalg.norm(change[:, :3, :3], axis=(1, 2)) * radius
    return float((turned + np.linalg.norm(change[:, :3, :3] @ middle + change[:, :3, 3], axis=1)).max(initial=0))


def _numbers_of(source: VertexAttributes | None) -> dict[str, np.ndarray]:
    """What is fitted of the attributes of a mesh, float64 [V, k]; colours are from 0 to 1."""
    names = () if source is None else sorted(set(source.names) - {"material"})
    return {name: getattr(source, name).astype(np.float64) / (255 if name == "colors" else 1) for name in names}


def _fitted_attributes(
    source: VertexAttributes, fit: Refit, values: Mapping[str, np.ndarray], given: Mapping[str, np.ndarray]
) -> VertexAttributes:
    """The attributes of the vertices of a level that moved, of fitted ``values``; ``given`` are those before."""
    own, fitted = source.take(fit.vertices[fit.moved]), {}
    for name, old in given.items():
        valid = _valid(_CALLED[name], values[name], fit.begin.values(old), fit.triangles)[fit.moved]
        fitted[name] = np.rint(255 * valid).astype(np.uint8) if name == "colors" else valid.astype(np.float32)
    return replace(own, **fitted)


def _valid(name: str, values: np.ndarray, old: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Fitted ``values`` [n, k] of an attribute as the format wants them, those of ``old`` where that cannot be."""
    values = values.copy()
    if name in ("NORMAL", "TANGENT"):
        values[:, 3:] = old[:, 3:]  # the side of the bitangent
        length = np.linalg.norm(values[:, :3], axis=1, keepdims=True)
        unit = np.divide(values[:, :3], length, out=old[:, :3].copy(), where=length > _SHORT)
        values[:, :3] = np.where(old[:, :3].any(axis=1, keepdims=True), unit, 0)
    elif name.startswith("COLOR_"):
        values = values.clip(0, 1)
    elif name.startswith("TEXCOORD_"):
        # A texture must not be mirrored.
        turned = triangles[_side(values[triangles]) != _side(old[triangles])]
        values[turned] = old[turned]
    return values


def _side(uv: np.ndarray) -> np.ndarray:
    first, second = uv[:, 1] - uv[:, 0], uv[:, 2] - uv[:, 0]
    return np.sign(first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0])
