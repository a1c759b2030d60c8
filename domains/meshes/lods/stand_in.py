"""All meshes of a glTF scene that are simplified, as one, and where each of its triangles is in the file.

What moves vertices counts as attributes do. A skin moves a vertex p to the sum of M_j w_j p over its joints j, morph
targets by the sum of theirs: both are linear in numbers that every vertex has. Random signs for all joints and targets
make a few poses of them, in which a level should match the source; such projections keep lengths (Johnson and
Lindenstrauss 1984), so that no joint is forgotten.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np

from hra.domains.meshes.files.gltf_coordinates import coordinate_sets, coordinates_of, layout_of, texture_infos
from hra.domains.meshes.files.gltf_nodes import moved
from hra.domains.meshes.files.gltf_poses import influences, joint_matrices, joint_pivots, skinned, transformed
from hra.domains.meshes.files.gltf_primitives import is_blended
from hra.domains.meshes.files.gltf_scene import GltfScene, Moved, Place
from hra.domains.meshes.files.parsed import Parsed, joined_parts, vertex_attributes
from hra.domains.meshes.lods.at_rest import Pose, poses
from hra.domains.meshes.mesh.materials import Material
from hra.domains.meshes.mesh.meshopt import vertex_cache_order
from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh
from hra.domains.meshes.mesh.weld import first_occurrences, row_numbers, without_degenerate
from hra.errors import MeshError, warn

# In how many poses a level shall be like the source; the simplifier takes 32 numbers of a vertex at most.
_POSES = 4
# How far joints move what hangs on them, in extents of the mesh.
_REACH = 0.25
# Levels have edges of about this many of the source's.
_EDGES = 2.0
# What distances in poses count beside those at rest: with 1, joints take triangles that all poses need elsewhere.
_POSED = 0.1
# Numbers of vertices times this are different, and weigh nothing.
_MARK = 2.0**-44
# Of normals and tangents that were rounded differently the ends are at most so far apart: one and a half degrees.
_ROUNDED = 0.026
_FEATURE = ("_FEATURE_ID_", "_BATCHID")


@dataclass(frozen=True, eq=False)
class StandIn:
    """All meshes of a scene that are simplified, as one.

    Attributes
    ----------
    mesh : its vertices are distinct; origin : float64 [3], what was subtracted from their positions.
    row : int64 [V], the row of each vertex among those of all primitives.
    vertex : int64 [rows], the vertex of each row; alike ones share it.
    place, begin, matrix : of each primitive its place, its first row, and the matrix [4, 4] that puts it here.
    pose, ways : of each primitive the pose that is shown largest, and of each mesh all poses.
    shown : how much of its surface the scene shows, in units of what is in here.
    source, whole : its triangles, and those of them that have three corners; left : how many triangles are not in here.
    blended : whether the order of its triangles shows.
    copies : of each mesh in here those that hold the same, and are not in here themselves.
    """

    mesh: TriangleMesh
    origin: np.ndarray
    row: np.ndarray
    vertex: np.ndarray
    place: list[Place]
    begin: np.ndarray
    matrix: list[np.ndarray]
    pose: list[Pose]
    ways: Mapping[int, Sequence[Pose]]
    shown: np.ndarray
    source: list[np.ndarray]
    whole: list[np.ndarray]
    left: int
    copies: Mapping[int, Sequence[int]]
    blended: list[bool]

    @classmethod
    def of(cls, scene: GltfScene, *, once: bool = False) -> StandIn:
        """All of a scene that can be simplified; ``once``: meshes that hold the same are one.

        Raises
        ------
        MeshError : nothing can be.

        Warns
        -----
        RepairWarning : a mesh is left as it is.
        """
        ways = poses(scene)
        placed, areas_of = _placements(scene, ways)
        taken, copies, left = _taken(scene, placed, _alike(scene, placed) if once else {})
        if not taken:
            fix = "points and lines, and meshes that are left as they are, cannot be simplified"
            raise MeshError("the scene shows no triangles that can be simplified", where=scene.where, fix=fix)
        place, source = list(taken), list(taken.values())
        pose, matrix = [placed[mesh][0] for mesh, _ in place], [placed[mesh][1] for mesh, _ in place]
        parts = [_part(scene, one, triangles, placed[one[0]][1]) for one, triangles in taken.items()]
        mesh, origin, first, number = _welded(joined_parts(parts, scene.where))
        begin = np.cumsum([0, *(len(part.positions) for part in parts)])[:-1]
        return cls(
            mesh=mesh,
            origin=origin,
            row=first,
            vertex=number,
            place=place,
            begin=begin,
            matrix=matrix,
            pose=pose,
            ways={one: [way for other in (one, *copies.get(one, ())) for way in ways[other]] for one, _ in place},
            shown=_shown(place, placed, areas_of, copies),
            source=source,
            whole=_proper(mesh, source),
            left=left,
            copies=copies,
            blended=[
                any(is_blended(scene.header, scene.primitive((m, k))) for m in (mesh, *copies.get(mesh, ())))
                for mesh, k in place
            ],
        )

    def alike(self, place: Place) -> list[Place]:
        """A primitive in here, and those of other meshes that hold the same."""
        return [(mesh, place[1]) for mesh in (place[0], *self.copies.get(place[0], ()))]

    def frame(self, k: int) -> np.ndarray:
        """The matrix float64 [4, 4] that puts primitive k here, posed as it is at rest."""
        return self.matrix[k] if self.pose[k].skin is None else np.eye(4)

    def not_here(self, scenes: int) -> dict[int, list[Pose]]:
        """The poses of each mesh shown in other places than here; all poses if there are several ``scenes``."""
        frame, found = [self.frame(k) for k in range(len(self.place))], {}
        together = scenes < 2 and all(pose.shows(one).any() for pose, one in zip(self.pose, frame, strict=True))
        for k, (mesh, _) in enumerate(self.place):
            here = self.pose[k][:2] if together else None
            ways = [pose for pose in self.ways[mesh] if pose[:2] != here or not pose.shows(frame[k]).all()]
            found |= {mesh: ways} if ways else {}
        return found

    def by_place(self, triangles: np.ndarray, of_source: np.ndarray, *, every: bool = False) -> dict[Place, np.ndarray]:
        """``triangles`` [F, 3] of vertices here as those of each primitive that has fewer than in the source.

        Parameters
        ----------
        of_source : int64, the vertex here that each is like; the first are these themselves.
        every : those of all primitives, so that nothing is written that no triangle uses, and vertices that are alike
            are written once.
        """
        rows = self.row[of_source[triangles]]
        number = np.searchsorted(self.begin, rows[:, 0], side="right") - 1
        ends = np.append(self.begin, len(self.vertex))
        # What was enlarged is numbered on from the primitive's own vertices.
        rows = rows - self.begin[number][:, None]
        more = triangles.astype(np.int64) - len(self.row)
        rows = np.where(more >= 0, np.diff(ends)[number][:, None] + more, rows)
        found = {}
        for k, place in enumerate(self.place):
            own = rows[number == k]
            if 0 < len(own) < len(self.whole[k]):
                own = own[:, ::-1] if np.linalg.det(self.matrix[k][:3, :3]) < 0 else own
                own = own if self.blended[k] else vertex_cache_order(own, int(own.max()) + 1)
            else:  # surfaces that coincide are drawn in the source's order
                own = self.whole[k] if len(own) else self.last(k)
            if every and len(own) == len(self.whole[k]):
                own = self.row[self.vertex[self.begin[k] + own]] - self.begin[k]
            if every or len(own) < len(self.source[k]):
                found |= dict.fromkeys(self.alike(place), own)
        return found

    def last(self, k: int) -> np.ndarray:
        """The triangle int64 [1, 3] that stays of primitive ``k`` where all are gone: without any it would be none."""
        return (self.whole[k] if len(self.whole[k]) else self.source[k])[:1]

    def moved(self, positions: np.ndarray, of_source: np.ndarray) -> Moved:
        """Where the vertices that are enlarged are in their primitives."""
        vertex = of_source[len(self.row) :]
        rows = self.row[vertex]
        points = self.inside(vertex, positions[len(self.row) :].astype(np.float64))
        return Moved(rows - self.begin[self.number(vertex)], points, {}, np.zeros(len(rows), bool))

    def number(self, vertices: np.ndarray) -> np.ndarray:
        """The primitive of each of the vertices."""
        return np.searchsorted(self.begin, self.row[vertices], side="right") - 1

    def inside(self, vertices: np.ndarray, points: np.ndarray) -> np.ndarray:
        """``points`` float64 [n, 3] of the mesh here, those of ``vertices``, in the space of their primitives."""
        inverse = np.linalg.inv(np.stack(self.matrix))[self.number(vertices)]
        return transformed(points + self.origin, inverse)

    def outside(self, vertices: np.ndarray, points: np.ndarray) -> np.ndarray:
        """The other way round."""
        matrix = np.stack(self.matrix)[self.number(vertices)]
        return transformed(points, matrix) - self.origin

    def count(self, level: Mapping[Place, np.ndarray]) -> int:
        """The triangles of all primitives, those that are left as they are included."""
        whole = zip(self.place, self.source, strict=True)
        counts = {place: len(level.get(place, source)) for place, source in whole}
        return self.left + sum(count * len(self.alike(place)) for place, count in counts.items())


def _taken(
    scene: GltfScene, placed: Mapping[int, tuple[Pose, np.ndarray]], first_of: Mapping[int, int]
) -> tuple[dict[Place, np.ndarray], dict[int, list[int]], int]:
    """The primitives that are simplified, with their triangles; copies of their meshes; how many triangles are left.

    Of meshes that hold the same, the one that ``first_of`` names is simplified, if it can be.
    """
    drawn = {number: _triangles(scene, number, primitives) for number, primitives in scene.drawn().items()}
    can = {number for number, own in drawn.items() if number in placed and own and _may_lose(scene, number, own)}
    taken: dict[Place, np.ndarray] = {}
    copies: dict[int, list[int]] = {}
    left = 0
    for number, own in drawn.items():
        first = first_of.get(number, number)
        if number not in can:
            left += sum(map(len, own.values()))
        elif first != number and first in can:
            copies.setdefault(first, []).append(number)
        else:
            taken |= own
    return taken, copies, left


def _triangles(scene: GltfScene, mesh: int, primitives: Sequence[int]) -> dict[Place, np.ndarray]:
    """The triangles of those ``primitives`` of a mesh that have any."""
    found = {(mesh, k): scene.triangles((mesh, k)) for k in primitives}
    return {place: triangles for place, triangles in found.items() if len(triangles)}


def _shown(
    places: Sequence[Place],
    placed: Mapping[int, tuple[Pose, np.ndarray]],
    areas_of: Mapping[int, float],
    copies: Mapping[int, Sequence[int]],
) -> np.ndarray:
    """How much the scene shows of the surface of each primitive, in units of where it is largest, float64 [P]."""
    found = []
    for mesh, _ in places:
        of_all = sum(areas_of[other] for other in placed if other == mesh or other in copies.get(mesh, ()))
        found.append(of_all / _enlargement(placed[mesh][1]) if of_all > 0 else 1.0)
    return np.array(found)


def _welded(joined: Parsed) -> tuple[TriangleMesh, np.ndarray, np.ndarray, np.ndarray]:
    """A mesh of distinct vertices, what was subtracted from them, the first row of each, and the vertex of each row."""
    low, high = joined.positions.min(axis=0), joined.positions.max(axis=0)
    # A scene around its origin keeps it, so that the numbers are those of the file.
    origin = np.where((low <= 0) & (high >= 0), 0.0, (low + high) / 2)
    positions = (joined.positions - origin).astype(np.float32)
    number, count = row_numbers(positions, joined.attributes)
    first = first_occurrences(number, count)
    attributes = None if joined.attributes is None else joined.attributes.take(first)
    mesh = TriangleMesh(positions[first] + np.float32(0), number[joined.triangles], attributes)
    return mesh, origin, first, number


def _proper(mesh: TriangleMesh, source: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Those triangles of each primitive that have three corners; ``mesh`` holds them one primitive after the other."""
    corners = mesh.position_of[mesh.triangles]
    proper = (corners != np.roll(corners, 1, axis=1)).all(axis=1)
    ends = np.cumsum([len(one) for one in source])[:-1]
    return [one[kept] for one, kept in zip(source, np.split(proper, ends), strict=True)]


def _alike(scene: GltfScene, placed: Mapping[int, tuple[Pose, np.ndarray]]) -> dict[int, int]:
    """For each mesh shown, the one shown largest among those with the same vertices and triangles."""
    kinds: dict[Any, list[int]] = {}
    for number in placed:
        entry = scene.accessors.header["meshes"][number]

        def content(accessor: int) -> bytes:
            rows = scene.accessors.array(accessor)
            return str((rows.dtype, rows.shape)).encode() + rows.tobytes()

        parts = []
        for k, primitive in enumerate(entry["primitives"]):
            lists = [primitive["attributes"], *primitive.get("targets", [])]
            data = [(name, blake2b(content(one[name])).digest()) for one in lists for name in sorted(one)]
            indices = scene.triangles((number, k)).tobytes() if primitive.get("mode", 4) >= 4 else b""
            parts.append((data, blake2b(indices).digest(), primitive.get("extensions")))
        skins = {node.get("skin") for node in scene.accessors.header["nodes"] if node.get("mesh") == number}
        kinds.setdefault(repr((parts, sorted(map(repr, skins)))), []).append(number)
    size = {number: abs(np.linalg.det(matrix[:3, :3])) for number, (_, matrix) in placed.items()}
    return {number: max(alike, key=lambda one: size[one]) for alike in kinds.values() for number in alike}


def _placements(
    scene: GltfScene, ways: Mapping[int, Sequence[Pose]]
) -> tuple[dict[int, tuple[Pose, np.ndarray]], dict[int, float]]:
    """The pose and the matrix [4, 4] that show each mesh largest, and its area in all places for 1 in the mesh."""
    found: dict[int, tuple[Pose, np.ndarray]] = {}
    areas_of = dict.fromkeys(ways, 0.0)
    for mesh, own in ways.items():
        most = -1.0
        for pose in own:
            matrices = pose.matrices if pose.skin is None else _skin_placement(scene, mesh, pose.skin)
            sizes = np.abs(np.linalg.det(matrices[:, :3, :3]))
            best = int(np.argmax(sizes))
            areas_of[mesh] += float(_enlargement(matrices).sum())
            if sizes[best] > most:
                most = float(sizes[best])
                # Shown as a point at rest, and perhaps grown by an animation.
                found[mesh] = pose, matrices[best] if most > 0 else np.eye(4)
    return found, areas_of


def _enlargement(matrices: np.ndarray) -> np.ndarray:
    """How much matrices [..., 4, 4] enlarge areas, float64 [...]: the mean of all directions where it is even."""
    return np.abs(np.linalg.det(matrices[..., :3, :3])) ** (2 / 3)


def _skin_placement(scene: GltfScene, mesh: int, skin: int) -> np.ndarray:
    """About where and how large a skin shows a mesh at rest, as one even scale and shift, float64 [1, 4, 4].

    Not vertex by vertex: what a pose folds up would look as if it had no area.
    """
    where = f"{scene.where}, meshes[{mesh}]"
    joints = joint_matrices(scene.accessors, skin)
    bound, moved_by = [np.empty((0, 3))], [np.empty((0, 3))]
    for primitive in scene.accessors.header["meshes"][mesh]["primitives"]:
        if "POSITION" in primitive["attributes"]:
            points = scene.accessors.scale(primitive["attributes"]["POSITION"]).astype(np.float64)
            matrices = skinned(joints, influences(scene.accessors, primitive, where), len(points), where)
            bound.append(points)
            moved_by.append(transformed(points, matrices))
    before, after = np.concatenate(bound), np.concatenate(moved_by)
    spread = [float(np.sqrt(np.square(points - points.mean(axis=0)).sum())) for points in (before, after)]
    scale = spread[1] / spread[0] if spread[0] > 0 and spread[1] > 0 else 1.0
    matrix = np.diag([scale, scale, scale, 1.0])
    matrix[:3, 3] = after.mean(axis=0) - scale * before.mean(axis=0)
    return matrix[None]


def _may_lose(scene: GltfScene, mesh: int, primitives: Mapping[Place, np.ndarray]) -> bool:
    """Whether a mesh may lose vertices; else a warning says why not."""
    reason = _kept_whole(scene, mesh, primitives)
    if reason:
        entry = scene.header["meshes"][mesh]
        named = f"meshes[{mesh}] {entry['name']!r}" if "name" in entry else f"meshes[{mesh}]"
        warn(f"{scene.where}, {named}: {reason}, so it is left as it is")
    return not reason


def _kept_whole(scene: GltfScene, mesh: int, primitives: Mapping[Place, np.ndarray]) -> str:
    """Why a mesh cannot lose vertices, "" if it can."""
    unknown = scene.unknown_geometry(mesh)
    if unknown:
        return f"{', '.join(unknown)} may speak of its vertices"
    for place, triangles in primitives.items():
        primitive = scene.primitive(place)
        features = primitive.get("extensions", {}).get("EXT_mesh_features", {}).get("featureIds", [])
        if any("attribute" not in one and "texture" not in one for one in features if isinstance(one, dict)):
            return "EXT_mesh_features gives each of its vertices a number of its own"
        for name in numbered_features(primitive):
            ids = scene.accessors.array(primitive["attributes"][name])[triangles]
            if (ids != ids[:, :1]).any():
                return f"its triangles have several numbers of {name} each"
        positions = scene.accessors.array(primitive["attributes"]["POSITION"])
        if "targets" in primitive and (np.ptp(positions[triangles], axis=1).max(axis=1) == 0).any():
            return "its morph targets open triangles that have no size"
    return ""


def numbered_features(primitive: Mapping[str, Any]) -> list[str]:
    """The attributes that number features."""
    return sorted(name for name in primitive["attributes"] if name.startswith(_FEATURE))


def _part(scene: GltfScene, place: Place, triangles: np.ndarray, matrix: np.ndarray) -> Parsed:
    """A primitive in the scene's coordinates; each of its features has a material of its own."""
    accessors, primitive = scene.accessors, scene.primitive(place)
    used, where = primitive["attributes"], f"{scene.where}, meshes[{place[0]}].primitives[{place[1]}]"
    positions = accessors.scale(used["POSITION"])
    entry = accessors.header["materials"][primitive["material"]] if "material" in primitive else {}
    names = {"normals": "NORMAL", "colors": "COLOR_0"} | ({"tangents": "TANGENT"} if "NORMAL" in used else {})
    taken = {"POSITION"} | {key for key in names.values() if key in used}
    arrays: dict[str, Any] = {name: accessors.scale(used[key]) for name, key in names.items() if key in used}
    arrays |= {name: _even(positions, arrays[name]) for name in ("normals", "tangents") if name in arrays}
    # Coordinates that no texture is laid out by are kept, and change no picture.
    shown = _shown_sets(scene, primitive, where)
    sets = [found for found in layout_of(entry, coordinate_sets(primitive), where).sets if found.number in shown]
    for name, found in zip(("uv", "uv2"), sets, strict=False):
        arrays[name] = found.applied(accessors.scale(used[f"TEXCOORD_{found.number}"]))
        taken.add(f"TEXCOORD_{found.number}")
    part = Parsed(positions, triangles, vertex_attributes(len(positions), where, **arrays, material=Material()))
    part = moved(part, matrix[None])
    if part.attributes is None:
        raise MeshError("a primitive has no attributes", where=where)
    kind, count = np.zeros(len(positions), np.int32), 1
    if features := numbered_features(primitive):
        ids = np.concatenate([accessors.array(used[name])[:, :1] for name in features], axis=1)
        kind = np.unique(ids, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int32)
        count = int(kind.max()) + 1
    materials = tuple(Material(f"{place} {number}") for number in range(count))
    others = set(used) - taken
    unseen = {name for name in others if name.startswith(("TEXCOORD_", "TANGENT"))}
    more = _more(scene, primitive, part, others - unseen, where)
    own = {"material": kind, "materials": materials, "more": more, "unseen": _numbered(scene, primitive, unseen)}
    return replace(part, attributes=replace(part.attributes, **own))


def _even(positions: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """``directions`` [V, k] with those at one of ``positions`` [V, 3] that hardly differ made equal to the first.

    Exporters round the normal of a vertex once for each side of a seam: Blender's differ by thousandths of a degree,
    Draco's by one. As creases they would hold seams that nothing shows.
    """
    number, count = row_numbers(np.asarray(positions, np.float32), None)
    result, waiting = directions.copy(), np.arange(len(directions) if count < len(directions) else 0)
    while len(waiting):
        own = number[waiting]
        found = waiting[first_occurrences(own, count)[own]]
        near = np.linalg.norm(directions[waiting] - directions[found], axis=1) <= _ROUNDED
        result[waiting[near]] = directions[found[near]]
        waiting = waiting[~(near | (found == waiting))]
    return result


def _shown_sets(scene: GltfScene, primitive: Mapping[str, Any], where: str) -> set[int]:
    """The numbers of the sets of texture coordinates that a texture of the primitive's materials is laid out by."""
    mappings = primitive.get("extensions", {}).get("KHR_materials_variants", {}).get("mappings", [])
    materials = [
        scene.accessors.header["materials"][one["material"]] for one in (primitive, *mappings) if "material" in one
    ]
    return {coordinates_of(info, where).number for entry in materials for info in texture_infos(entry).values()}


def _numbered(scene: GltfScene, primitive: Mapping[str, Any], names: set[str]) -> np.ndarray | None:
    """Numbers of vertices, int32 [V], equal where attributes are; None where there are none."""
    rows = [scene.accessors.array(primitive["attributes"][name]) for name in sorted(names)]
    return _equal_rows(rows).astype(np.int32) if rows else None


def _equal_rows(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """The number of each row of arrays [V, k] among the different ones, int64 [V]."""
    flat = [np.ascontiguousarray(array).view(np.uint8).reshape(len(array), -1) for array in arrays]
    rows = np.concatenate(flat, axis=1)
    # Each row is one value: along an axis, rows of a hundred targets compare byte by byte, a hundred times slower.
    return np.unique(rows.view(np.dtype((np.void, rows.shape[1])))[:, 0], return_inverse=True)[1]


def _more(
    scene: GltfScene, primitive: Mapping[str, Any], part: Parsed, others: set[str], where: str
) -> np.ndarray | None:
    """What else tells vertices apart, and what moves them, float32 [V, k]; None for nothing."""
    accessors = scene.accessors
    rows = [accessors.array(primitive["attributes"][name]) for name in sorted(others)]
    rows += [accessors.array(number) for target in primitive.get("targets", []) for number in target.values()]
    if not rows:
        return None
    columns = [_equal_rows(rows)[:, None] * _MARK]
    points = part.positions[without_degenerate(part.triangles)].astype(np.float64)
    edge = float(np.linalg.norm(points[:, 1] - points[:, 0], axis=1).mean()) if len(points) else 0.0
    if not edge > 0:
        return columns[0].astype(np.float32)
    own = scene.accessors.scale(primitive["attributes"]["POSITION"]).astype(np.float64)
    extent, size = float(np.ptp(part.positions, axis=0).max()), float(np.ptp(own, axis=0).max())
    moves = np.zeros((len(own), 3 * _POSES))
    random = np.random.default_rng(0)
    for joint, weights, pivot in _joints(scene, primitive, len(own), where):
        signs = random.choice([-1.0, 1.0], (2, 3 * _POSES))
        turned = np.tile((own - pivot)[joint] * weights[:, None], _POSES) * signs[0]
        moves[joint] += turned + _REACH * size * weights[:, None] * signs[1]
    for target in primitive.get("targets", []):
        if "POSITION" in target:
            signs = random.choice([-1.0, 1.0], 3 * _POSES)
            moves += np.tile(accessors.scale(target["POSITION"]).astype(np.float64), _POSES) * signs
    if moves.any():
        columns.append(moves * (_POSED * extent / size / (_EDGES * edge * math.sqrt(_POSES))))
    return np.concatenate(columns, axis=1).astype(np.float32)


def _joints(
    scene: GltfScene, primitive: Mapping[str, Any], count: int, where: str
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The vertices that each joint moves, how much, and where the joint is in the mesh at rest."""
    mesh = scene.accessors.header["meshes"]
    skins = [
        node["skin"]
        for node in scene.accessors.header.get("nodes", [])
        if "skin" in node and any(one is primitive for one in mesh[node["mesh"]]["primitives"])
    ]
    if not skins:
        return
    parts = [(joints, weights) for joints, weights in influences(scene.accessors, primitive, where)]
    if not parts:
        return
    joints, weights = (np.concatenate(one) for one in zip(*parts, strict=True))
    vertices = np.tile(np.arange(count), len(parts))
    used = np.flatnonzero(weights > 0)
    most = int(joints[used].max(initial=-1))
    # Nodes that no scene shows may have skins of other meshes, which have fewer joints.
    fitting = [skin for skin in skins if most < len(scene.accessors.header["skins"][skin]["joints"])]
    if not fitting:
        return
    pivots = joint_pivots(scene.accessors, fitting[0])
    order = used[np.argsort(joints[used], kind="stable")]
    numbers, begins = np.unique(joints[order], return_index=True)
    for joint, run in zip(numbers, np.split(order, begins[1:]), strict=True):
        # A joint may stand twice at a vertex.
        vertex, place = np.unique(vertices[run], return_inverse=True)
        yield vertex, np.bincount(place, weights[run]), pivots[joint]
