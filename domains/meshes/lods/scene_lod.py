"""Levels of detail of a glTF scene: its nodes, names, materials and animations stay, its meshes get fewer triangles.

All meshes are simplified as one stand-in, so that triangles go where the scene needs them. Each mesh is in it once, in
the place where it is shown largest, and its errors count as often as the scene shows it. Borders between primitives and
between numbered features stay where they are.

What moves vertices counts as attributes do. A skin moves a vertex p to the sum of M_j w_j p over its joints j, morph
targets by the sum of theirs: both are linear in numbers that every vertex has. Random signs for all joints and targets
make a few poses of them, in which a level should match the source; such projections keep lengths (Johnson and
Lindenstrauss 1984), so that no joint is forgotten.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hra.allocating.allocation import Allocation
from hra.camera import Camera
from hra.domains.meshes.allocator import MeshAllocator
from hra.domains.meshes.building.builder import built
from hra.domains.meshes.building.settings import Workers, processors
from hra.domains.meshes.distances.surface import surface_area
from hra.domains.meshes.files.gltf_coordinates import coordinate_sets, coordinates_of, layout_of, texture_infos
from hra.domains.meshes.files.gltf_nodes import moved
from hra.domains.meshes.files.gltf_poses import influences, joint_matrices, joint_pivots, skinned, transformed
from hra.domains.meshes.files.gltf_scene import GltfScene, Moved, Place
from hra.domains.meshes.files.parsed import Parsed, joined_parts, vertex_attributes
from hra.domains.meshes.lods.at_rest import Pose, Surface, distances_alone, posed, poses
from hra.domains.meshes.lods.chains import level_counts, monotone_bounds, nested_cuts, sphere_around
from hra.domains.meshes.lods.discrete_lod import DiscreteLOD
from hra.domains.meshes.lods.refitting import Refit, Refitting
from hra.domains.meshes.mesh.attributes import VertexAttributes, concatenate
from hra.domains.meshes.mesh.cluster_mesh import ClusterMesh, with_attributes
from hra.domains.meshes.mesh.materials import Material
from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh, referenced_only
from hra.domains.meshes.mesh.weld import first_occurrences, row_numbers, without_degenerate
from hra.domains.meshes.metrics.surface_error import SurfaceError, all_round_distance
from hra.errors import BudgetTooSmall, FileError, HraError, MeshError, RepairWarning, wrong_kind
from hra.files.atomic_write import write_atomically
from hra.files.limits import DEFAULT, Limits
from hra.files.local_files import make_folder, warn_of_older
from hra.files.ply import split_origin
from hra.model.arrays import numbers
from hra.traversals.exact import Exact

if TYPE_CHECKING:
    from hra.domains.meshes.lods.byte_budget import Shares, ShownImage

# In how many poses a level shall be like the source; the simplifier takes 32 numbers of a vertex at most.
_POSES = 4
# How far joints move what hangs on them, in extents of the mesh.
_REACH = 0.25
# Levels have edges of about this many of the source's.
_EDGES = 2.0
# Numbers of vertices times this are different, and weigh nothing.
_MARK = 2.0**-44
_FEATURE = ("_FEATURE_ID_", "_BATCHID")
# Attributes of vertices that move, and means of directions that say nothing.
_FITTED = ("NORMAL", "TANGENT", "TEXCOORD_", "COLOR_")
_SHORT = 1e-3
# How far animations in files of a number of bytes are off: turns by a quarter of a pixel of 1000 at most.
_STILL = 2.0**-14
# Bytes of a file that are kept for digits of bounds in the header, which change when vertices are fitted.
_DIGITS = 64
# What squared errors of triangles that are gone count in addition, see `_minding_what_is_gone`.
_GONE = 3.0
_CALLED = {"uv": "TEXCOORD_0", "uv2": "TEXCOORD_1", "normals": "NORMAL", "tangents": "TANGENT", "colors": "COLOR_0"}


@dataclass(frozen=True, eq=False)
class SceneLOD:
    """Levels of a glTF scene.

    Attributes
    ----------
    scene : the source.
    levels : fine to coarse, the triangles int64 [F, 3] of each primitive that changes, as numbers of its vertices.
    triangles : of each level, every mesh counted once.
    chain : the same levels as whole meshes in the scene's coordinates, with errors and distances.
    moved : vertices that differ from the source's; levels number them on from those of their primitive.
    images : of each level the files in place of images of the source, by number.
    shares : where the bytes of each level went; nothing for levels that were not limited by bytes.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> meshes.load(hra.samples.path("skull.ply")).export("skull.glb")
    >>> lod = meshes.scene_lod("skull.glb", [0.5, 0.1])
    >>> [path.name for path in lod.export("levels")], lod.export_one("levels.glb")
    (['lod0.glb', 'lod1.glb'], None)
    """

    scene: GltfScene
    levels: tuple[Mapping[Place, np.ndarray], ...]
    triangles: tuple[int, ...]
    chain: DiscreteLOD
    moved: Moved
    images: tuple[Mapping[int, bytes], ...] = ()
    shares: tuple[Shares, ...] = ()

    def export(self, folder: str | Path, stem: str = "lod") -> list[Path]:
        """Write each level as a GLB scene of its own, ``lod0.glb`` the finest; the paths.

        Raises
        ------
        FileError : a file cannot be written; each that is there is whole.

        Warns
        -----
        HraWarning : the folder holds further levels, of an earlier export.
        """
        root = make_folder(folder)
        paths = [root / f"{stem}{number}.glb" for number in range(len(self.levels))]
        images = self.images or ({},) * len(paths)
        short = {"short": True, "tolerance": _STILL} if self.shares else {}
        for level, own, path in zip(self.levels, images, paths, strict=True):
            write_atomically(path, self.scene.glb([level], more=self.moved, images=own, **short))
        warn_of_older(root, stem, ".glb", [path.name for path in paths])
        return paths

    def export_one(self, path: str | Path) -> None:
        """Write all levels to one GLB scene, in which nodes refer to coarser meshes by ``MSFT_lod``.

        Raises
        ------
        FileError : another suffix, or the file cannot be written.
        HraError : levels have images of their own.
        """
        if any(self.images):
            fix = "export a folder, or keep textures"
            raise HraError("one file has one set of images", where="SceneLOD.export_one", fix=fix)
        if Path(path).suffix.lower() != ".glb":
            raise FileError(f"levels are not written as {Path(path).suffix!r}", where=str(path), fix="use .glb")
        errors = self.chain.errors.tolist()
        notes = [{"triangles": count, "error": error} for count, error in zip(self.triangles, errors, strict=True)]
        write_atomically(path, self.scene.glb(self.levels, notes, self.moved))


def scene_lod(
    source: str | Path,
    levels: Sequence[float],
    *,
    unit: Literal["triangles", "bytes"] = "triangles",
    keep_textures: bool = False,
    lens: Camera | None = None,
    progress: Callable[[int, int], None] | None = None,
    limits: Limits = DEFAULT,
) -> SceneLOD:
    """The best triangles for all meshes of a glTF scene together, for each of several numbers of them.

    Nodes, skins, animations, cameras, lights, materials and extensions stay as they are. Each vertex is like one of the
    source, with its joints, weights and morph targets: its position, normal, tangent, texture coordinates and colours
    are fitted to the surface that it stands for (see `Refitting`), but not where numbered features meet. Of many small
    parts alike, such as leaves, some grow in place of others.

    Parameters
    ----------
    source : a ``.glb`` or ``.gltf`` file.
    levels : fine to coarse; up to 1 a share of the source's triangles, above it a number of them. Every mesh counts
        once, however often it is shown, and of each primitive at least one triangle stays.
    unit : "bytes" for levels that are the largest sizes of the files that `SceneLOD.export` writes: PNG, JPEG and WebP
        images get smaller with the triangles, by what either changes in the picture (see `ByteBudget`).
    keep_textures : with "bytes", images stay as they are.
    lens : with "bytes", a camera whose screen shows the whole scene at the finest level; 1920 x 1080 and 60 degrees by
        default. A level of a share of the source's bytes is meant for a picture with that share of the pixels.
    progress, limits : see `build`.

    Raises
    ------
    HraError : levels that are no numbers, do not fall, or are not above 0; another unit or lens.
    BudgetTooSmall : a level in bytes below the coarsest triangles with the smallest images.
    FileError, LimitExceeded, MeshError, MissingExtra, BackendUnavailable : see `load`.

    Warns
    -----
    RepairWarning : a mesh is left as it is, because its vertices mean something by themselves; a level cannot have so
        few triangles.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> meshes.load(hra.samples.path("skull.ply")).export("skull.glb")
    >>> lod = meshes.scene_lod("skull.glb", [0.25, 500])
    >>> lod.triangles[1] <= 500 < lod.triangles[0]
    True
    """
    if unit not in ("triangles", "bytes"):
        raise HraError(f"a unit of {unit!r}", where="unit", fix="use 'triangles' or 'bytes'")
    levels = numbers("levels", levels).tolist()
    if unit == "bytes" and (not levels or levels != sorted(set(levels), reverse=True) or levels[-1] < 1):
        what, fix = f"sizes must fall from fine to coarse, got {levels}", "use numbers of bytes such as [2e6, 5e5]"
        raise HraError(what, where="levels", fix=fix)
    if lens is not None and not isinstance(lens, Camera):
        raise wrong_kind("lens", lens, Camera, "make one by hra.Camera.perspective")
    scene = GltfScene.open(source, limits)
    stand_in = _stand_in(scene, once=unit == "bytes")
    # Bounds of clusters decide only what images get: the distances of levels are measured on the levels.
    clusters, of_source = built(stand_in.mesh, certified=unit == "bytes", progress=progress, discrete=True)
    if unit == "triangles":
        clusters = _minding_what_is_gone(clusters)
    clusters = _as_often_as_shown(clusters, stand_in, of_source)
    if not np.array_equal(of_source[: len(stand_in.row)], np.arange(len(stand_in.row))):
        raise MeshError("vertices of the scene were merged twice", where=scene.where)
    if unit == "bytes":
        return _within_bytes(stand_in, clusters, of_source, scene, levels, keep_textures, lens)
    counts = level_counts(levels, clusters.triangle_count + stand_in.left)
    spare, least = np.full(len(counts), stand_in.left), clusters.root_triangle_count
    while True:
        if counts[-1] < least + spare[-1]:
            what = (
                f"{scene.where}: {counts[-1]} triangles were asked for, and the coarsest level has {least + spare[-1]}"
            )
            warnings.warn(what, RepairWarning, stacklevel=2)
            counts = [max(count, int(least + spare[-1])) for count in counts]
        with _weighed_unevenly():
            cuts = nested_cuts(clusters, [max(n, least) for n in (np.array(counts) - spare).tolist()])
        chosen = tuple(stand_in.by_place(clusters.triangles(cut), of_source) for cut in cuts)
        totals = tuple(stand_in.count(level) for level in chosen)
        # Primitives whose triangles are all gone keep one, for which there must be room.
        over = np.maximum(np.array(totals) - counts, 0)
        if not over.any() or spare.max() >= stand_in.left + len(stand_in.place):
            break
        spare += over
    vertices = _Vertices(scene, stand_in, clusters, of_source)
    fitted = vertices.refitted([clusters.triangles(cut) for cut in cuts])
    chosen = tuple(stand_in.by_place(level, vertices.of_source) for level in fitted)
    return SceneLOD(scene, chosen, totals, _chain(vertices, fitted, cuts, clusters), vertices.moved())


@contextmanager
def _weighed_unevenly() -> Iterator[None]:
    """Say nothing of coarser clusters that count less than finer ones, and are then taken for as much.

    They have less of what is gone, or of a mesh that is shown often.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the metric is not monotone", RepairWarning)
        yield


def _within_bytes(
    stand_in: _StandIn,
    clusters: ClusterMesh,
    of_source: np.ndarray,
    scene: GltfScene,
    levels: Sequence[float],
    keep_textures: bool,
    lens: Camera | None,
) -> SceneLOD:
    """Levels whose files have at most this many bytes, each a refinement of the next coarser one."""
    from hra.domains.meshes.lods.byte_budget import ByteBudget

    contents = [scene.image(number) for number in range(len(scene.accessors.header.get("images", [])))]
    images = [] if keep_textures else _shown(scene, stand_in, contents)
    vertices = _Vertices(scene, stand_in, clusters, of_source)

    def by_number(changed: Mapping[bytes, bytes]) -> dict[int, bytes]:
        return {k: changed[content] for k, content in enumerate(contents) if content is not None and content in changed}

    def encode(allocation: Allocation, changed: Mapping[bytes, bytes]) -> bytes:
        own = copy(vertices)
        return written(own, own.begun(clusters.triangles(allocation.cut)), by_number(changed))

    def written(own: _Vertices, triangles: np.ndarray, changed: Mapping[int, bytes]) -> bytes:
        level = stand_in.by_place(triangles, own.of_source, every=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RepairWarning)
            return scene.glb([level], more=own.moved(), images=changed, short=True, tolerance=_STILL)

    budget = ByteBudget(MeshAllocator(clusters, SurfaceError(), Exact()), None, images, encode)
    radius = sphere_around([stand_in.mesh])[1]
    lens = lens or Camera.perspective((0, 0, 1), (0, 0, 0), vertical_fov_degrees=60, viewport=(1920, 1080))
    whole = lens.focal_pixels / all_round_distance(lens, radius)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RepairWarning)
        size, fitted = len(scene.glb([])), []
    near = [whole * math.sqrt(min(limit / size, 1)) for limit in levels]
    for image in images:  # from nearest first: versions are decoded once, for all who look from farther away
        image.ladder(near[0])
    for limit, per_unit in zip(reversed(levels), reversed(near), strict=True):
        coarser = fitted[0].allocation.cut if fitted else None
        with _weighed_unevenly():
            try:
                one = budget.fit(max(int(limit) - _DIGITS, 1), per_unit, coarser)
            except BudgetTooSmall:
                one = budget.fit(int(limit), per_unit, coarser)
        fitted.insert(0, one)
    own, levels_of, shares = tuple(by_number(one.images) for one in fitted), [], []
    begun = [clusters.triangles(one.allocation.cut) for one in fitted]
    parts = zip(fitted, own, levels, begun, vertices.refitted(begun), strict=True)
    for one, changed, limit, triangles, better in parts:
        size = len(written(vertices, better, changed))
        held = size <= limit
        levels_of.append(better if held else vertices.begun(triangles))
        more = size - len(one.content) if held else 0
        shares.append(replace(one.shares, other=one.shares.other + more))
    cuts = [one.allocation.cut for one in fitted]
    chain = _chain(vertices, levels_of, cuts, clusters)
    chosen = tuple(stand_in.by_place(level, vertices.of_source, every=True) for level in levels_of)
    counts = tuple(stand_in.count(level) for level in chosen)
    return SceneLOD(scene, chosen, counts, chain, vertices.moved(), own, tuple(shares))


def _minding_what_is_gone(clusters: ClusterMesh) -> ClusterMesh:
    """The clusters with more area where triangles have less than half of what they stand for.

    Squares of errors are of what is still there: a hand that ends as one sliver has moved by its thickness, but in
    pictures all of it is gone. What is gone counts four times, as if it had moved twice as far.
    """
    area = clusters.hierarchy.attribute("area")
    own = surface_area(clusters.positions, clusters.indices, clusters.offsets)
    return with_attributes(clusters, area=area + _GONE * np.maximum(area - 2 * own, 0))


def _as_often_as_shown(clusters: ClusterMesh, stand_in: _StandIn, of_source: np.ndarray) -> ClusterMesh:
    """The clusters with the area that the scene shows of them in all places: a picture has their errors in each."""
    if (stand_in.shown == 1).all():
        return clusters
    of_triangle = stand_in.shown[stand_in.number(of_source[clusters.indices[::3]])]
    sizes = np.diff(clusters.offsets) // 3
    mean = np.add.reduceat(of_triangle, clusters.offsets[:-1] // 3) / sizes
    return with_attributes(clusters, area=clusters.hierarchy.attribute("area") * mean)


def _chain(
    vertices: _Vertices, levels: Sequence[np.ndarray], cuts: Sequence[np.ndarray], clusters: ClusterMesh
) -> DiscreteLOD:
    """``levels`` of triangles as meshes, with bounds on how far they are from the source wherever it is shown."""
    source, *meshes = vertices.at_rest(levels)
    distance = np.maximum(monotone_bounds(source, meshes), np.maximum.accumulate(vertices.elsewhere(levels)))
    source, *meshes = _in_place([source, *meshes], vertices.stand_in.origin)
    center, radius = sphere_around([source, *meshes])
    appearance = np.array([clusters.hierarchy.attribute("error")[cut].max() for cut in cuts], np.float64)
    return DiscreteLOD(tuple(meshes), distance, center, radius, True, appearance)


def _in_place(given: Sequence[TriangleMesh], origin: np.ndarray) -> list[TriangleMesh]:
    """Meshes around ``origin`` float64 [3] in the scene's coordinates, with an origin only where `load` takes one."""
    if not origin.any():
        return list(given)
    every, taken = split_origin(np.concatenate([one.positions for one in given]) + origin)
    parts = np.split(every.astype(np.float32), np.cumsum([len(one.positions) for one in given])[:-1])
    return [TriangleMesh(p, one.triangles, one.attributes, taken) for p, one in zip(parts, given, strict=True)]


def _shown(scene: GltfScene, stand_in: _StandIn, contents: Sequence[bytes | None]) -> list[ShownImage]:
    """The images that what is simplified shows, by their content."""
    from hra.domains.meshes.lods.byte_budget import alpha_shown, areas, shown_image

    header, uses = scene.accessors.header, {}
    rows = zip(stand_in.place, stand_in.matrix, stand_in.shown.tolist(), stand_in.source, strict=True)
    for place, matrix, often, triangles in rows:
        primitive = scene.primitive(place)
        points = scene.accessors.scale(primitive["attributes"]["POSITION"]).astype(np.float64) @ matrix[:3, :3].T
        shown = {place, *stand_in.copies.get(place, ())}
        area = areas(points[triangles]) * often / len(shown)
        for name, info in [one for other in sorted(shown) for one in _textures(header, scene.primitive(other))]:
            number = f"TEXCOORD_{info.get('texCoord', 0)}"
            if number not in primitive["attributes"]:
                continue
            uv = scene.accessors.scale(primitive["attributes"][number])[triangles]
            for content in _images(header, info, contents):
                uses.setdefault(content, []).append((name, area, areas(uv) * often / len(shown)))
    # Materials that nothing shows now may be those of another moment.
    with_alpha = {
        content
        for entry in header.get("materials", [])
        for name, info in _textures_of([entry])
        if alpha_shown(name, entry.get("alphaMode", "OPAQUE"))
        for content in _images(header, info, contents)
    }
    found = [shown_image(content, own, content in with_alpha) for content, own in uses.items()]
    return [image for image in found if image is not None]


def _images(header: Mapping[str, Any], info: Mapping[str, Any], contents: Sequence[bytes | None]) -> set[bytes]:
    """The files of a reference to a texture, those of its extensions included."""
    texture = header["textures"][info["index"]]
    sources = [texture, *texture.get("extensions", {}).values()]
    found = {contents[int(one["source"])] for one in sources if "source" in one}
    return {content for content in found if content is not None}


def _textures(header: Mapping[str, Any], primitive: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Names and references of the textures of a primitive's materials, those of its variants included."""
    variants = primitive.get("extensions", {}).get("KHR_materials_variants", {}).get("mappings", [])
    numbers = {one["material"] for one in [primitive, *variants] if "material" in one}
    return _textures_of([header["materials"][int(number)] for number in sorted(numbers)])


def _textures_of(waiting: list[Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Names and references of all textures in materials, which are taken off the list."""
    while waiting:
        entry = waiting.pop()
        for name, value in entry.items():
            if isinstance(value, dict):
                waiting.append(value)
                if name.endswith("Texture") and "index" in value:
                    yield name, value


@dataclass(frozen=True, eq=False)
class _StandIn:
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
    copies : of the places in here those that hold the same, whose meshes are not in here themselves.
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
    copies: Mapping[Place, Sequence[Place]]

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
            own = own[:, ::-1] if np.linalg.det(self.matrix[k][:3, :3]) < 0 else own
            # Surfaces that coincide are drawn in the source's order.
            own = (own if len(own) < len(self.whole[k]) else self.whole[k]) if len(own) else self.last(k)
            if every and len(own) == len(self.whole[k]):
                own = self.row[self.vertex[self.begin[k] + own]] - self.begin[k]
            if every or len(own) < len(self.source[k]):
                found |= {one: own for one in (place, *self.copies.get(place, ()))}
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
        return self.left + sum(count * (1 + len(self.copies.get(place, ()))) for place, count in counts.items())


class _Vertices:
    """The vertices of levels: those of a stand-in, those of parts that grew, and those that were moved."""

    def __init__(self, scene: GltfScene, stand_in: _StandIn, clusters: ClusterMesh, of_source: np.ndarray) -> None:
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
        numbered = np.array([bool(_features(self.scene.primitive(place))) for place in self.stand_in.place])
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

    def moved(self) -> Moved:
        """All vertices that are not the scene's own."""
        own = self.stand_in.moved(self.positions, self.of_source)
        grown = len(self._fixed) - len(self.stand_in.row)
        return own._replace(values=self._values, fitted=np.arange(len(own.rows)) >= grown)


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


def _stand_in(scene: GltfScene, *, once: bool = False) -> _StandIn:
    """``once``: meshes that hold the same are one."""
    ways = poses(scene)
    (placed, areas_of), parts, left = _placements(scene, ways), [], 0
    place, source, matrix, pose, shown = [], [], [], [], []
    first_of, copies = _alike(scene, placed) if once else {}, {}
    for number, primitives in scene.drawn().items():
        own = {(number, k): scene.triangles((number, k)) for k in primitives}
        own = {one: triangles for one, triangles in own.items() if len(triangles)}
        if first_of.get(number, number) != number and not _kept_whole(scene, number, own):
            for _, k in own:
                copies.setdefault((first_of[number], k), []).append((number, k))
            ways[first_of[number]] = [*ways[first_of[number]], *ways[number]]
            continue
        if number in placed and own and (reason := _kept_whole(scene, number, own)):
            entry = scene.header["meshes"][number]
            named = f"meshes[{number}] {entry['name']!r}" if "name" in entry else f"meshes[{number}]"
            what = f"{scene.where}, {named}: {reason}, so it is left as it is"
            warnings.warn(what, RepairWarning, stacklevel=4)
        elif number in placed:
            for one, triangles in own.items():
                parts.append(_part(scene, one, triangles, placed[number][1]))
                place.append(one)
                source.append(triangles)
                pose.append(placed[number][0])
                matrix.append(placed[number][1])
                of_all = sum(areas_of[other] for other in placed if first_of.get(other, other) == number)
                shown.append(of_all / _enlargement(placed[number][1]) if of_all > 0 else 1.0)
            continue
        left += sum(map(len, own.values()))
    if not parts:
        fix = "points and lines, and meshes that are left as they are, cannot be simplified"
        raise MeshError("the scene shows no triangles that can be simplified", where=scene.where, fix=fix)
    begin = np.cumsum([0, *(len(part.positions) for part in parts)])[:-1]
    joined = joined_parts(parts, scene.where)
    low, high = joined.positions.min(axis=0), joined.positions.max(axis=0)
    origin = (low + high) / 2
    # A scene around its origin keeps it, so that the numbers are those of the file.
    origin = np.where((low <= 0) & (high >= 0), 0.0, origin)
    positions = (joined.positions - origin).astype(np.float32)
    number, count = row_numbers(positions, joined.attributes)
    first = first_occurrences(number, count)
    attributes = None if joined.attributes is None else joined.attributes.take(first)
    mesh = TriangleMesh(positions[first] + np.float32(0), number[joined.triangles], attributes)
    corners = mesh.position_of[mesh.triangles]
    proper = (corners != np.roll(corners, 1, axis=1)).all(axis=1)
    ends = np.cumsum([len(one) for one in source])[:-1]
    whole = [one[kept] for one, kept in zip(source, np.split(proper, ends), strict=True)]
    often = np.array(shown)
    return _StandIn(mesh, origin, first, number, place, begin, matrix, pose, ways, often, source, whole, left, copies)


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
        for name in _features(primitive):
            ids = scene.accessors.array(primitive["attributes"][name])[triangles]
            if (ids != ids[:, :1]).any():
                return f"its triangles have several numbers of {name} each"
        positions = scene.accessors.array(primitive["attributes"]["POSITION"])
        if "targets" in primitive and (np.ptp(positions[triangles], axis=1).max(axis=1) == 0).any():
            return "its morph targets open triangles that have no size"
    return ""


def _features(primitive: Mapping[str, Any]) -> list[str]:
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
    if features := _features(primitive):
        ids = np.concatenate([accessors.array(used[name])[:, :1] for name in features], axis=1)
        kind = np.unique(ids, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int32)
        count = int(kind.max()) + 1
    materials = tuple(Material(f"{place} {number}") for number in range(count))
    others = set(used) - taken
    unseen = {name for name in others if name.startswith(("TEXCOORD_", "TANGENT"))}
    more = _more(scene, primitive, part, others - unseen, where)
    own = {"material": kind, "materials": materials, "more": more, "unseen": _numbered(scene, primitive, unseen)}
    return replace(part, attributes=replace(part.attributes, **own))


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
    return np.unique(np.concatenate(flat, axis=1), axis=0, return_inverse=True)[1].reshape(-1)


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
        columns.append(moves * (extent / size / (_EDGES * edge * math.sqrt(_POSES))))
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
