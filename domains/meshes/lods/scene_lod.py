"""Levels of detail of a glTF scene: its nodes, names, materials and animations stay, its meshes get fewer triangles.

All meshes are simplified as one stand-in, so that triangles go where the scene needs them. Each mesh is in it once, in
the place where it is shown largest, and its errors count as often as the scene shows it. Borders between primitives and
between numbered features stay where they are.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hra.allocating.allocation import Allocation
from hra.camera import Camera
from hra.domains.meshes.allocator import MeshAllocator
from hra.domains.meshes.building.builder import built
from hra.domains.meshes.distances.surface import surface_area
from hra.domains.meshes.files.gltf_packing import COMPRESSIONS, Compression, repacked
from hra.domains.meshes.files.gltf_scene import GltfScene, Moved, Place
from hra.domains.meshes.lods.chains import level_counts, monotone_bounds, nested_cuts, sphere_around
from hra.domains.meshes.lods.discrete_lod import DiscreteLOD
from hra.domains.meshes.lods.scene_vertices import SceneVertices
from hra.domains.meshes.lods.stand_in import StandIn
from hra.domains.meshes.mesh.cluster_mesh import ClusterMesh, with_attributes
from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh
from hra.domains.meshes.metrics.surface_error import SurfaceError, all_round_distance
from hra.errors import BudgetTooSmall, FileError, HraError, MeshError, RepairWarning, check_choice, warn, wrong_kind
from hra.files.atomic_write import write_atomically
from hra.files.limits import DEFAULT, Limits
from hra.files.local_files import make_folder, warn_of_older
from hra.files.ply import split_origin
from hra.model.arrays import numbers
from hra.traversals.exact import Exact

if TYPE_CHECKING:
    from hra.domains.meshes.lods.byte_budget import ByteBudget, FittedFile, Shares, ShownImage

# How far animations in files of a number of bytes are off: turns by a quarter of a pixel of 1000 at most.
_STILL = 2.0**-14
# Bytes of a file that are kept for digits of bounds in the header, which change when vertices are fitted.
_DIGITS = 64
# What squared errors of triangles that are gone count in addition, see `_minding_what_is_gone`.
_GONE = 3.0


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
    compression : of the files, see `scene_lod`.

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
    compression: Compression = "none"

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
            plain = self.scene.glb([level], more=self.moved, images=own, **short)
            write_atomically(path, repacked(plain, self.compression, brief_nodes=True))
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
        plain = self.scene.glb(self.levels, notes, self.moved)
        write_atomically(path, repacked(plain, self.compression, brief_nodes=True))


def scene_lod(
    source: str | Path,
    levels: Sequence[float],
    *,
    unit: Literal["triangles", "bytes"] = "triangles",
    keep_textures: bool = False,
    lens: Camera | None = None,
    compression: Compression = "none",
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
    compression : of geometry and animations in files, which viewers with EXT_meshopt_compression read: "meshopt" loses
        nothing; "rounded" takes about two thirds of that, and errors count by how much it moves the surface.
    progress, limits : see `build`.

    Raises
    ------
    HraError : levels that are no numbers, do not fall, or are not above 0; another unit, lens or compression.
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
    check_choice("unit", unit, ("triangles", "bytes"))
    check_choice("compression", compression, COMPRESSIONS)
    levels = numbers("levels", levels).tolist()
    if unit == "bytes" and (not levels or levels != sorted(set(levels), reverse=True) or levels[-1] < 1):
        what = f"sizes must be at least 1 and fall from fine to coarse, got {levels}"
        raise HraError(what, where="levels", fix="use numbers of bytes such as [2e6, 5e5]")
    if lens is not None and not isinstance(lens, Camera):
        raise wrong_kind("lens", lens, Camera, "make one by hra.Camera.perspective")
    scene = GltfScene.open(source, limits)
    stand_in = StandIn.of(scene, once=unit == "bytes")
    clusters, vertices = _clusters(scene, stand_in, unit, progress)
    if unit == "bytes":
        return _within_bytes(vertices, clusters, levels, lens, keep_textures, compression)
    cuts = _cuts(vertices, clusters, level_counts(levels, clusters.triangle_count + stand_in.left))
    fitted = vertices.refitted([clusters.triangles(cut) for cut in cuts])
    return _levels(vertices, clusters, cuts, fitted, compression)


def _clusters(
    scene: GltfScene, stand_in: StandIn, unit: str, progress: Callable[[int, int], None] | None
) -> tuple[ClusterMesh, SceneVertices]:
    """The clusters of the meshes of a scene, which count as what is shown, and their vertices."""
    # Bounds of clusters decide only what images get: the distances of levels are measured on the levels.
    clusters, of_source = built(stand_in.mesh, certified=unit == "bytes", progress=progress, discrete=True)
    if not np.array_equal(of_source[: len(stand_in.row)], np.arange(len(stand_in.row))):
        raise MeshError("vertices of the scene were merged twice", where=scene.where)
    if unit == "triangles":
        clusters = _minding_what_is_gone(clusters)
    clusters = _as_often_as_shown(clusters, stand_in, of_source)
    return clusters, SceneVertices(scene, stand_in, clusters, of_source)


def _cuts(vertices: SceneVertices, clusters: ClusterMesh, counts: list[int]) -> list[np.ndarray]:
    """Cuts of at most ``counts`` triangles, each a refinement of the next; those of meshes left as they are count."""
    stand_in, least, asked = vertices.stand_in, clusters.root_triangle_count, counts[-1]
    spare = np.full(len(counts), stand_in.left)
    while True:
        counts = [max(count, int(least + spare[-1])) for count in counts]
        with _weighed_unevenly():
            cuts = nested_cuts(clusters, [max(n, least) for n in (np.array(counts) - spare).tolist()])
        totals = [stand_in.count(vertices.by_place(clusters.triangles(cut))) for cut in cuts]
        # Primitives whose triangles are all gone keep one, for which there must be room.
        over = np.maximum(np.array(totals) - counts, 0)
        if not over.any() or spare.max() >= stand_in.left + len(stand_in.place):
            if asked < counts[-1]:
                what = f"{asked} triangles were asked for, and the coarsest level has {totals[-1]}"
                warn(f"{vertices.scene.where}: {what}")
            return cuts
        spare += over


def _levels(
    vertices: SceneVertices,
    clusters: ClusterMesh,
    cuts: Sequence[np.ndarray],
    levels: Sequence[np.ndarray],
    compression: Compression,
    images: tuple[Mapping[int, bytes], ...] = (),
    shares: tuple[Shares, ...] = (),
) -> SceneLOD:
    """``levels`` of triangles [F, 3], made of ``cuts``, with what is known of them."""
    chosen = tuple(vertices.by_place(level, every=bool(shares)) for level in levels)
    counts = tuple(vertices.stand_in.count(level) for level in chosen)
    chain = _chain(vertices, levels, cuts, clusters)
    if compression == "rounded":
        farther = vertices.rounding()
        chain = replace(chain, errors=chain.errors + farther, radius=chain.radius + farther)
    return SceneLOD(vertices.scene, chosen, counts, chain, vertices.moved(), images, shares, compression)


@contextmanager
def _weighed_unevenly() -> Iterator[None]:
    """Say nothing of coarser clusters that count less than finer ones, and are then taken for as much.

    They have less of what is gone, or of a mesh that is shown often.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the metric is not monotone", RepairWarning)
        yield


@dataclass(frozen=True, eq=False)
class _Files:
    """The files of levels, as `SceneLOD.export` writes them.

    Attributes
    ----------
    contents : the images of the scene, None for those that are missing.
    """

    vertices: SceneVertices
    clusters: ClusterMesh
    contents: Sequence[bytes | None]
    compression: Compression

    def begun(self, allocation: Allocation, changed: Mapping[bytes, bytes]) -> bytes:
        """The file of a cut before its vertices are fitted, with images in place of others."""
        own = copy(self.vertices)
        return self.written(own, own.begun(self.clusters.triangles(allocation.cut)), self.by_number(changed))

    def written(self, vertices: SceneVertices, triangles: np.ndarray, changed: Mapping[int, bytes]) -> bytes:
        """The file of ``triangles`` int64 [F, 3] of these ``vertices``, with images by number in place of others."""
        level = vertices.by_place(triangles, every=True)
        options = {"images": changed, "short": True, "tolerance": _STILL}
        plain = _silent_glb(vertices.scene, [level], more=vertices.moved(), **options)
        return repacked(plain, self.compression, brief_nodes=True)

    def by_number(self, changed: Mapping[bytes, bytes]) -> dict[int, bytes]:
        """Images in place of others, by the numbers of those."""
        numbered = enumerate(self.contents)
        return {k: changed[content] for k, content in numbered if content is not None and content in changed}


def _silent_glb(scene: GltfScene, levels: Sequence[Mapping[Place, np.ndarray]], **options: Any) -> bytes:
    """`GltfScene.glb`, for files that nobody sees: what it repairs is said when files are written."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RepairWarning)
        return scene.glb(levels, **options)


def _within_bytes(
    vertices: SceneVertices,
    clusters: ClusterMesh,
    limits: Sequence[float],
    lens: Camera | None,
    keep_textures: bool,
    compression: Compression,
) -> SceneLOD:
    """Levels whose files have at most this many bytes, each a refinement of the next coarser one."""
    from hra.domains.meshes.lods.byte_budget import ByteBudget

    scene = vertices.scene
    contents = [scene.image(number) for number in range(len(scene.accessors.header.get("images", [])))]
    files = _Files(vertices, clusters, contents, compression)
    images = [] if keep_textures else _shown(scene, vertices.stand_in, contents)
    near = _nearness(vertices, limits, lens)
    for image in images:  # from nearest first: versions are decoded once, for all who look from farther away
        image.ladder(near[0])
    budget = ByteBudget(MeshAllocator(clusters, SurfaceError(), Exact()), None, images, files.begun)
    fitted = _nested_files(budget, limits, near)
    own = tuple(files.by_number(one.images) for one in fitted)
    levels, shares = _refined(files, fitted, own, limits)
    return _levels(vertices, clusters, [one.allocation.cut for one in fitted], levels, compression, own, shares)


def _nearness(vertices: SceneVertices, limits: Sequence[float], lens: Camera | None) -> list[float]:
    """Pixels of a unit of length in the pictures that files of ``limits`` bytes are meant for."""
    radius = sphere_around([vertices.stand_in.mesh])[1]
    lens = lens or Camera.perspective((0, 0, 1), (0, 0, 0), vertical_fov_degrees=60, viewport=(1920, 1080))
    whole, size = lens.focal_pixels / all_round_distance(lens, radius), len(_silent_glb(vertices.scene, []))
    return [whole * math.sqrt(min(limit / size, 1)) for limit in limits]


def _nested_files(budget: ByteBudget, limits: Sequence[float], near: Sequence[float]) -> list[FittedFile]:
    """The best file of at most each number of bytes, whose cut refines that of the next coarser one."""
    fitted: list[FittedFile] = []
    for limit, per_unit in zip(reversed(limits), reversed(near), strict=True):
        coarser = fitted[0].allocation.cut if fitted else None
        with _weighed_unevenly():
            try:
                one = budget.fit(max(int(limit) - _DIGITS, 1), per_unit, coarser)
            except BudgetTooSmall:
                one = budget.fit(int(limit), per_unit, coarser)
        fitted.insert(0, one)
    return fitted


def _refined(
    files: _Files, fitted: Sequence[FittedFile], images: Sequence[Mapping[int, bytes]], limits: Sequence[float]
) -> tuple[list[np.ndarray], tuple[Shares, ...]]:
    """The triangles of each file with fitted vertices, if it still keeps its limit, and where its bytes go."""
    levels, shares = [], []
    begun = [files.clusters.triangles(one.allocation.cut) for one in fitted]
    parts = zip(fitted, images, limits, begun, files.vertices.refitted(begun), strict=True)
    for one, changed, limit, triangles, better in parts:
        size = len(files.written(files.vertices, better, changed))
        held = size <= limit
        levels.append(better if held else files.vertices.begun(triangles))
        more = size - len(one.content) if held else 0
        shares.append(replace(one.shares, other=one.shares.other + more))
    return levels, tuple(shares)


def _minding_what_is_gone(clusters: ClusterMesh) -> ClusterMesh:
    """The clusters with more area where triangles have less than half of what they stand for.

    Squares of errors are of what is still there: a hand that ends as one sliver has moved by its thickness, but in
    pictures all of it is gone. What is gone counts four times, as if it had moved twice as far.
    """
    area = clusters.hierarchy.attribute("area")
    own = surface_area(clusters.positions, clusters.indices, clusters.offsets)
    return with_attributes(clusters, area=area + _GONE * np.maximum(area - 2 * own, 0))


def _as_often_as_shown(clusters: ClusterMesh, stand_in: StandIn, of_source: np.ndarray) -> ClusterMesh:
    """The clusters with the area that the scene shows of them in all places: a picture has their errors in each."""
    if (stand_in.shown == 1).all():
        return clusters
    of_triangle = stand_in.shown[stand_in.number(of_source[clusters.indices[::3]])]
    sizes = np.diff(clusters.offsets) // 3
    mean = np.add.reduceat(of_triangle, clusters.offsets[:-1] // 3) / sizes
    return with_attributes(clusters, area=clusters.hierarchy.attribute("area") * mean)


def _chain(
    vertices: SceneVertices, levels: Sequence[np.ndarray], cuts: Sequence[np.ndarray], clusters: ClusterMesh
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


def _shown(scene: GltfScene, stand_in: StandIn, contents: Sequence[bytes | None]) -> list[ShownImage]:
    """The images that what is simplified shows, by their content."""
    from hra.domains.meshes.lods.byte_budget import alpha_shown, areas, shown_image

    header, uses = scene.accessors.header, {}
    rows = zip(stand_in.place, stand_in.matrix, stand_in.shown.tolist(), stand_in.source, strict=True)
    for place, matrix, often, triangles in rows:
        primitive = scene.primitive(place)
        points = scene.accessors.scale(primitive["attributes"]["POSITION"]).astype(np.float64) @ matrix[:3, :3].T
        shown = stand_in.alike(place)
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
