"""Vertices of a level moved to where its triangles fit the source best, with their attributes.

Points of the source are put on the nearest triangles of the level. A step of least squares moves the vertices so that
these triangles pass through the points, and both are done a few times. From then on other numbers of the source
(normals, texture coordinates, colours) are fitted by the same shares of the same vertices. Distances along the source's
normals count in full, and less across them, where one place is as good as another.

Wedges of one position move as one, so that nothing opens. Borders of charts are curves: points of those of the source
are put on those of the level. Whatever gets worse is undone: triangles that flip, and whatever is farther from the
source, or the source from it, than the farthest point was before.

Hoppe et al., Mesh optimization, 1993; Chen and Medioni, Object modelling by registration of multiple range images,
1992.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hra.compiling import njit
from hra.domains.meshes.building.creases import FACING, Creases
from hra.domains.meshes.distances.box_tree import box_tree, farthest_of_tree, find_feet, nearest_of_tree
from hra.domains.meshes.distances.surface import boundary_chain, triangle_normals
from hra.domains.meshes.lods.corners import ANY, Corners, SourceCharts, means, middles
from hra.domains.meshes.lods.point_fit import OnTriangles, fitted_step
from hra.domains.meshes.mesh import meshopt
from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh

# How often points are put on triangles that have moved, and how many there are for each triangle.
_ROUNDS, _POINTS = 3, 8
# What distances across normals count, and those at seams, which both of their sides move along.
_ACROSS, _SEAM = 0.2, 0.1
# Triangles may turn by this cosine.
_TURN = 0.3
# How often steps of what becomes worse are halved, and then put back, before all are put back.
_HALVED, _BACK = 2, 6
# Triangles and edges are cut into this many parts along each side at most, of which each has a point.
_PARTS = 64
_ORIGIN = np.zeros(3)
_CHUNK = 256
_NOTHING = (
    OnTriangles(np.empty((0, 3), int), np.empty(0, int), np.empty((0, 3)), np.empty((0, 2)), np.empty((0, 3))),
    np.empty((0, 3)),
)


@dataclass(frozen=True, eq=False)
class Refit:
    """A level over vertices of its own.

    Attributes
    ----------
    vertices : int64 [n], the vertex of the source that each is like; triangles : int64 [F, 3].
    positions : float64 [n, 3]; moved : bool [n], all but vertices of the source that are frozen.
    begin : what the level was before.
    """

    vertices: np.ndarray
    triangles: np.ndarray
    positions: np.ndarray
    moved: np.ndarray
    begin: Corners
    _there: OnTriangles
    _here: tuple[np.ndarray, np.ndarray]

    def values(self, source: np.ndarray) -> np.ndarray:
        """Numbers [V, k] of the source's vertices as such of the level's, float64 [n, k].

        None is farther beyond those of the points around it than these are apart, or as those of any vertex are in the
        mean: few points on a narrow part would lead anywhere.
        """
        begin, targets = self.begin.values(source), means(*self._here, source.astype(np.float64))
        low, high = begin.copy(), begin.copy()
        _widen(self._there.corners, self._there.face, targets, low, high)
        apart = high - low
        apart = np.maximum(apart, apart.mean(axis=0))
        return (begin + fitted_step(self._there, targets, begin, self.moved)).clip(low - apart, high + apart)


@dataclass(frozen=True, eq=False)
class _Points:
    """Points of the source.

    Attributes
    ----------
    corners, shares : [S, 3], of which vertices each is which mean; weight : [S], the area that it stands for.
    places, normals : float64 [S, 3], normals are 0 at curves; charts : int64 [S].
    """

    corners: np.ndarray
    shares: np.ndarray
    weight: np.ndarray
    places: np.ndarray
    normals: np.ndarray
    charts: np.ndarray


class Refitting:
    """What refits levels of one source.

    Parameters
    ----------
    source : the vertices of levels are some of its.
    """

    def __init__(self, source: TriangleMesh) -> None:
        self._triangles = source.triangles.astype(np.int64)
        self._place_of = source.position_of.astype(np.int64)
        self._positions = source.positions
        self._first = _first_of_creases(source)
        self._charts = SourceCharts(source, self._first)
        self._origin, self._points, self._chart = self._charts.origin, self._charts.points, self._charts.chart

    def begun(self, triangles: np.ndarray, frozen: np.ndarray) -> Refit:
        """What `refitted` begins with: vertices of the source, and those that charts have to have."""
        own = Corners.of(triangles, self._charts, frozen)
        here = np.empty((0, 3), np.int64), np.empty((0, 3))
        places = self._points[own.vertices] + self._origin
        return Refit(own.vertices, own.triangles, places, own.added, own, _NOTHING[0], here)

    def refitted(self, triangles: np.ndarray, frozen: np.ndarray) -> Refit:
        """A level of ``triangles`` integers [F, 3]; vertices ``frozen`` bool [V] stay, and so does what they share.

        Wedges at the position of a frozen vertex keep it; their attributes are fitted.
        """
        own = Corners.of(triangles, self._charts, frozen)
        vertices, local, chart = own.vertices, own.triangles, own.chart
        _, place = np.unique(self._place_of[vertices], return_inverse=True)
        begin = np.empty((int(place.max()) + 1, 3))
        begin[place] = self._points[vertices]
        free = np.ones(len(begin), bool)
        free[place[frozen[vertices]]] = False
        edge = float(np.sqrt(_areas(begin[place[local]]).mean()))
        feet = [_Feet(self._on_faces(edge**2 / _POINTS), self._sorted(vertices, local), place, chart)]
        # One vertex stands for all that a crease alone tells apart, and for all of a chart that were added here.
        first = np.where(own.added, self._charts.joined[vertices], self._first[vertices])
        keys = 2 * (first * len(self._points) + chart) + own.added
        _, one, which = np.unique(keys, return_index=True, return_inverse=True)
        curves, _ = boundary_chain(one[which][local])
        if len(curves) and edge > 0:
            corners = np.column_stack([curves, curves[:, 1]])
            feet.append(_Feet(self._on_curves(edge), self._sorted(vertices, corners), place, chart))
        there = begin
        if free.any() and edge > 0:
            (points, targets), far = _NOTHING, 0.0
            for turn in range(_ROUNDS):
                for one in feet:
                    one.find(there)
                far = far if turn else _farthest(begin, feet)
                points, targets = (_moved_feet(points, feet), targets) if turn else _on_places(feet)
                there = there + fitted_step(points, targets, there, free)
            there = self._checked(begin, there, feet, far)
        feet[0].find(there)
        found = feet[0].face >= 0
        points, weight = feet[0].points, np.zeros((int(found.sum()), 2))
        weight[:, 0] = points.weight[found]
        on = OnTriangles(feet[0].corners, feet[0].face[found], feet[0].shares[found], weight, np.empty((0, 3)))
        here = points.corners[found], points.shares[found]
        return Refit(vertices, local, there[place] + self._origin, ~frozen[vertices] | own.added, own, on, here)

    def _sorted(self, vertices: np.ndarray, local: np.ndarray) -> np.ndarray:
        """Triangles of ``vertices`` with near ones side by side, as trees need them."""
        flat, positions = np.ascontiguousarray(local.reshape(-1), np.uint32), self._positions[vertices]
        return meshopt.spatial_sort(flat, positions).reshape(-1, 3).astype(np.int64)

    def _checked(self, begin: np.ndarray, there: np.ndarray, feet: Sequence[_Feet], far: float) -> np.ndarray:
        """The places ``there`` with those of what became worse nearer to ``begin``, or as they were.

        Parameters
        ----------
        far : how far a point was from the level at most.
        """
        corners = feet[0].on_places
        normals = triangle_normals(begin[corners])
        tree = box_tree(begin, np.ascontiguousarray(corners.reshape(-1)), _ORIGIN)
        corner_points = self._points[np.unique(self._triangles)]
        most = farthest_of_tree(
            _samples(begin[corners]), *self._charts.tree, farthest_of_tree(corner_points, *tree, far)
        )
        most *= 1 + 1e-9
        worse = np.ones(len(begin), bool)
        for attempt in range(_HALVED + _BACK):
            # Those that have changed since.
            faces = corners[worse[corners].any(axis=1)]
            own = normals[worse[corners].any(axis=1)]
            turned = ((triangle_normals(there[faces]) * own).sum(axis=1) < _TURN) & own.any(axis=1)
            away = self._are_away(there[faces], most)
            worse = np.zeros(len(begin), bool)
            worse[faces[turned | away]] = True
            # Where the triangle that was nearest is back, a point is no farther than it was.
            points = _farther(there, feet, corner_points, most)
            worse[corners[nearest_of_tree(points, *tree)[0]]] = True
            if not worse.any():
                return there
            there = np.where(worse[:, None], begin + (there - begin) * (0.5 if attempt < _HALVED else 0), there)
        return begin

    def _are_away(self, corners: np.ndarray, most: float) -> np.ndarray:
        """Which triangles [n, 3, 3] have a point that is farther than ``most`` from the source, bool [n]."""
        distances = nearest_of_tree(_samples(corners), *self._charts.tree, most)[1]
        return distances.reshape(-1, 7).max(axis=1, initial=0.0) > most

    def _on_faces(self, size: float) -> _Points:
        """Points for about each ``size`` of area."""
        corners = self._points[self._charts.triangles]
        area = _areas(corners)
        parts = np.ceil(np.sqrt(area / size)).clip(0, _PARTS).astype(np.int64) if size > 0 else np.zeros(len(area), int)
        # Of many triangles that are smaller those where the sum of their areas passes a step.
        small = np.flatnonzero(parts == 1)
        steps = np.diff(np.floor(np.cumsum(area[small]) / size), prepend=0) if small.size else np.empty(0)
        parts[small[steps == 0]] = 0
        kinds = np.unique(parts[parts > 0]).tolist()
        inner = {n: middles(n) for n in kinds}
        face = np.concatenate([np.empty(0, np.int64), *(np.repeat(np.flatnonzero(parts == n), n * n) for n in kinds)])
        shares = [np.tile(inner[n], (int((parts == n).sum()), 1)) for n in kinds]
        share = np.concatenate([np.empty((0, 3)), *shares])
        order = np.argsort(face, kind="stable")
        face, share = face[order], share[order]
        weight = area[face] / parts[face] ** 2
        lone = parts[face] == 1
        weight[lone] *= area[small].sum() / max(weight[lone].sum(), 1e-300)
        own = self._charts.triangles[face]
        places = means(own, share, self._points)
        return _Points(own, share, weight, places, triangle_normals(corners)[face], self._chart[own[:, 0]])

    def _on_curves(self, edge: float) -> _Points:
        """Points of the borders of charts, a few for each length ``edge``; they count as strips of this breadth."""
        ends, _ = boundary_chain(self._first[self._triangles])
        open_ends, _ = boundary_chain(self._place_of[self._triangles])
        seam = ~np.isin(_keys(self._place_of[ends]), _keys(open_ends))
        length = np.linalg.norm(self._points[ends[:, 0]] - self._points[ends[:, 1]], axis=1)
        parts = np.ceil(3 * length / edge).clip(1, _PARTS).astype(np.int64)
        number = np.repeat(np.arange(len(ends)), parts)
        at = (np.arange(len(number)) - np.repeat(np.cumsum(parts) - parts, parts) + 0.5) / parts[number]
        corners = np.column_stack([ends, ends[:, 1]])[number]
        share = np.column_stack([1 - at, at, np.zeros(len(at))])
        weight = (length / parts * edge * np.where(seam, _SEAM, 1.0))[number]
        places = means(corners, share, self._points)
        return _Points(corners, share, weight, places, np.zeros((len(at), 3)), self._chart[corners[:, 0]])


class _Feet:
    """Where points are on a level.

    Attributes
    ----------
    corners : int64 [F, 3], its triangles; on_places : the same by the places of their vertices.
    face : int64 [S], the triangle below each point, -1 where none is of its chart; shares : of its corners.
    """

    def __init__(self, points: _Points, corners: np.ndarray, place: np.ndarray, chart: np.ndarray) -> None:
        self.points, self.corners, self.on_places = points, corners, place[corners]
        self._chart = chart[corners[:, 0]]
        asked = np.isin(points.charts, self._chart)
        self._asked = slice(None) if asked.all() else asked
        self.face, self.shares = np.full(len(points.weight), -1), np.zeros((len(points.weight), 3))

    def find(self, places: np.ndarray) -> None:
        """Put the points on triangles at these ``places``."""
        tree = box_tree(places, np.ascontiguousarray(self.on_places.reshape(-1)), _ORIGIN)
        own, asked = self.points, self._asked
        face, shares = self.face[asked], self.shares[asked]
        facing = FACING if own.normals.any() else ANY
        kinds = triangle_normals(places[self.on_places]), self._chart
        find_feet(own.places[asked], own.normals[asked], own.charts[asked], tree, kinds, facing, face, shares)
        self.face[asked], self.shares[asked] = face, shares

    def distances(self, places: np.ndarray) -> np.ndarray:
        """The distance of each point from the triangle below it, infinite where there is none."""
        return _ways(self.on_places, self.face, self.shares, places, self.points.places)


@njit(cache=True, nogil=True)
def _widen(corners, face, targets, low, high):
    """Widen ranges ``low`` to ``high`` [n, k] of vertices by the ``targets`` [S, k] of points on their triangles."""
    for i in range(len(face)):
        for j in range(3):
            v = corners[face[i], j]
            for c in range(targets.shape[1]):
                low[v, c] = min(low[v, c], targets[i, c])
                high[v, c] = max(high[v, c], targets[i, c])


@njit(cache=True, nogil=True)
def _ways(corners, face, shares, places, points):
    """See `_Feet.distances`."""
    found = np.empty(face.size)
    for i in range(face.size):
        square = 0.0 if face[i] >= 0 else np.inf
        if face[i] >= 0:
            a, b, c = corners[face[i], 0], corners[face[i], 1], corners[face[i], 2]
            for axis in range(3):
                on = shares[i, 0] * places[a, axis] + shares[i, 1] * places[b, axis] + shares[i, 2] * places[c, axis]
                square += (on - points[i, axis]) ** 2
        found[i] = np.sqrt(square)
    return found


def _farthest(places: np.ndarray, feet: Sequence[_Feet]) -> float:
    """The largest distance of a point from the level, whichever of its triangles is nearest."""
    tree = box_tree(places, np.ascontiguousarray(feet[0].on_places.reshape(-1)), _ORIGIN)
    most = 0.0
    for one in feet:
        # No nearer triangle is farther than the one of the same chart: the farthest of these come first.
        distances = one.distances(places)
        order = np.argsort(-distances, kind="stable")
        for k in range(0, len(order), _CHUNK):
            chunk = order[k : k + _CHUNK]
            if distances[chunk[0]] <= most:
                break
            most = farthest_of_tree(one.points.places[chunk], *tree, most)
    return most


def _farther(places: np.ndarray, feet: Sequence[_Feet], more: np.ndarray, most: float) -> np.ndarray:
    """The points of ``feet``, and those in ``more`` [n, 3], that are farther than ``most`` from the level [k, 3]."""
    tree = box_tree(places, np.ascontiguousarray(feet[0].on_places.reshape(-1)), _ORIGIN)
    points = np.concatenate([more, *(one.points.places[one.distances(places) > most] for one in feet)])
    return points[nearest_of_tree(points, *tree, most)[1] > most]


def _on_places(feet: Sequence[_Feet]) -> tuple[OnTriangles, np.ndarray]:
    """All points that have a triangle, and where they shall be."""
    parts, targets, count = [], [], 0
    for one in feet:
        found, own = one.face >= 0, one.points
        normals = own.normals[found]
        across = np.where(normals.any(axis=1), _ACROSS, 1.0)
        weight = own.weight[found][:, None] * np.column_stack([across, np.ones(len(across))])
        parts.append(OnTriangles(one.on_places, count + one.face[found], one.shares[found], weight, normals))
        count += len(one.on_places)
        targets.append(own.places[found])
    return OnTriangles(*(np.concatenate(part) for part in zip(*parts, strict=True))), np.concatenate(targets)


def _moved_feet(points: OnTriangles, feet: Sequence[_Feet]) -> OnTriangles:
    """The same points on the triangles that they are on now."""
    begin = np.cumsum([0, *(len(one.on_places) for one in feet)])
    face = [count + one.face[one.face >= 0] for count, one in zip(begin, feet, strict=False)]
    return points._replace(
        face=np.concatenate(face), shares=np.concatenate([one.shares[one.face >= 0] for one in feet])
    )


def _first_of_creases(source: TriangleMesh) -> np.ndarray:
    """The first of the vertices that a crease alone tells apart, int64 [V]."""
    if source.attributes is None:
        return source.position_of.astype(np.int64)
    creases = Creases.of(source.positions, source.attributes)
    return np.arange(len(source.positions)) if creases is None else creases.first.astype(np.int64)


def _samples(corners: np.ndarray) -> np.ndarray:
    """Points of triangles [n, 3, 3]: corners, and the middles of sides and of all, float64 [7 n, 3]."""
    sides = (corners + np.roll(corners, 1, axis=1)) / 2
    return np.concatenate([corners, sides, corners.mean(axis=1, keepdims=True)], axis=1).reshape(-1, 3)


def _keys(edges: np.ndarray) -> np.ndarray:
    return edges.min(axis=1) << 32 | edges.max(axis=1)


def _areas(corners: np.ndarray) -> np.ndarray:
    return np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 2
