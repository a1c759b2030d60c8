#!/usr/bin/env python
"""Measure what docs/meshes.md says about built meshes, and print its tables as Markdown.

Run ``python examples/lab/scripts/measure_meshes.py [TABLE ...] [--data FOLDER]``; `make data` fetches the meshes
into data/. The exit code is 1 if a distance exceeds its bound, or a tighter bound draws more triangles. Times are CPU
time.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import trimesh

import hra
from hra.domains import meshes
from hra.errors import HraError, HraWarning
from hra.kernels import raster
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric
from hra_lab.bench.memory import peak_bytes
from hra_lab.evaluation.meshes.image_error import mean_errors
from hra_lab.evaluation.meshes.views import draw
from hra_lab.inputs.mesh_sources import DATA, bumpy, fetch, skull

_SAMPLES = 10_000
# Distances are sums of many float64 products; a share of the mesh's extent.
_ROUNDING = 1e-12
_REPEAT = 5


def main() -> int:
    """Print the tables that were asked for; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"{', '.join(_TABLES)} (default: all)")
    parser.add_argument("--data", type=Path, default=DATA, help="folder that `make data` has filled")
    chosen = parser.parse_args()
    if unknown := set(chosen.tables) - set(_TABLES):
        parser.error(f"no table {', '.join(sorted(unknown))}; there are {', '.join(_TABLES)}")
    warnings.simplefilter("ignore", HraWarning)  # repairs of hard cases are expected
    for name in chosen.tables or _TABLES:
        print(f"## {name}\n")
        try:
            _TABLES[name](chosen.data)
        except HraError as error:
            print(error, file=sys.stderr)
            return 1
        print(flush=True)
    return 0


def hausdorff(data: Path) -> None:
    """Bounds and estimates of the error beside true distances, per level of the skull, and in short of two others."""
    _head("level", "triangles", "source from cut", "cut from source", "bound / larger", "quadric / larger")
    ratios = []
    for level, triangles, lost, added, bound, error in _distances(skull()):
        true = max(lost, added)
        ratios.append(bound / true)
        shown = f"{lost:#.2g}", f"{added:#.2g}", f"{bound / true:.2f}", f"{error / true:.2f}"
        _row(level, f"{triangles:,}", *shown)
    print()
    found = {"skull": ratios}
    for name, mesh in {"armadillo": meshes.load(fetch("armadillo.off", data)), "bumpy sphere 6": bumpy(6)}.items():
        found[name] = [bound / max(lost, added) for _, _, lost, added, bound, _ in _distances(mesh)]
    for name, values in found.items():
        print(f"{name}: bound / larger distance, median {np.median(values):.2f}, largest {max(values):.2f}")


def _distances(source: meshes.TriangleMesh) -> Iterator[tuple[int, int, float, float, float, float]]:
    """Level, triangles, farthest samples of both sides, bound and error of the coarsest mesh of each level.

    All whole steps are checked as well.
    """
    built, rng = meshes.build(source), np.random.default_rng(0)
    hierarchy, points = built.hierarchy, _samples(source, rng)
    whole = built.triangles(np.flatnonzero(hierarchy.removed_by < 0))
    rounding = _ROUNDING * float(np.ptp(built.bounds, axis=0).max())

    def measured(cut: np.ndarray) -> tuple[int, float, float, float, float]:
        triangles = built.triangles(cut)
        lost = float(meshes.nearest_distances(points, built.positions, triangles).max())
        drawn = _samples(meshes.TriangleMesh(built.positions, triangles), rng)
        added = float(meshes.nearest_distances(drawn, built.positions, whole).max())
        bound, error = (float(hierarchy.attribute(name)[cut].max()) for name in ("hausdorff", "error"))
        if max(lost, added) > bound + rounding:
            what = f"a sample of {len(triangles)} triangles is {max(lost, added):g} away, beyond the bound of {bound:g}"
            raise HraError(what)
        return len(triangles), lost, added, bound, error

    offsets, removed = hierarchy.removed_nodes
    made_at = hierarchy.attribute("level")[removed[offsets[:-1]]]
    for level in range(1, int(made_at.max()) + 1):
        yield level, *measured(np.flatnonzero(hierarchy.active_nodes(made_at > level)))
    for step in range(len(hierarchy)):
        cut = np.flatnonzero(hierarchy.active_nodes(np.arange(len(hierarchy)) < step))
        if not (hierarchy.removed_by[cut] == step).all():  # from here on groups are parts of the mesh
            return
        measured(cut)


def _samples(mesh: meshes.TriangleMesh, rng: np.random.Generator) -> np.ndarray:
    """Points spread over the surface and as many vertices, float64 [S, 3]."""
    used = np.unique(mesh.triangles)
    vertices = mesh.positions[rng.choice(used, min(_SAMPLES, len(used)), replace=False)].astype(np.float64)
    return np.concatenate([meshes.surface_points(mesh, _SAMPLES, rng), vertices])


def thresholds(data: Path) -> None:
    """Triangles and largest displacement of visible samples at one pixel, by the estimate and by the bound."""
    _head("mesh", "triangles", "quadric: drawn", "largest, px", "certified: drawn", "largest, px")
    sources = {
        "skull": skull(),
        "bumpy sphere": bumpy(6),
        **{name: meshes.load(fetch(name, data)) for name in _REAL},
        "two sheets, 1/1000 apart": _thin_sheet(40),
        "20,000 leaf cards of 2 triangles": _leaves(20_000, 1),
        "triangles anywhere": _soup(5_000),
    }
    for name, source in sources.items():
        built, worst, drawn = meshes.build(source), np.zeros(2), np.zeros(2)
        orbit = partial(hra.Camera.orbit, built.bounds, elevation=15)
        places = list(product((1, 4, 16), (30, 120, 210, 300)))
        for (share, azimuth), (k, error) in product(places, enumerate(("quadric", "certified"))):
            camera = orbit(azimuth=azimuth, distance=share * _diagonal(built))
            own = meshes.MeshAllocator(built, meshes.ScreenError(error), hra.Threshold(1.0))
            allocation = own.allocate(camera, np.inf)
            worst[k] = max(worst[k], *_displacements(built, allocation.cut, camera))
            drawn[k] += allocation.cost / len(places)
        if worst[1] > 1 + _ROUNDING:
            raise HraError(f"{name}: a threshold of one pixel is exceeded {worst[1]:.2f}-fold")
        quadric, bound = (f"{value:.2f}" for value in worst)
        _row(name, f"{built.triangle_count:,}", f"{drawn[0]:,.0f}", quadric, f"{drawn[1]:,.0f}", bound)


_REAL = "armadillo.off", "fandisk_large.off", "dog-ribcage.stl", "engine.glb", "parasaurolophus.ply"


def _soup(count: int) -> meshes.TriangleMesh:
    """Triangles that share no vertex."""
    rng = np.random.default_rng(4)
    corners = rng.normal(size=(count, 1, 3)) + 0.1 * rng.normal(size=(count, 3, 3))
    return meshes.from_arrays(corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3))


def _displacements(built: meshes.ClusterMesh, cut: np.ndarray, camera: hra.Camera) -> Iterator[float]:
    """The largest distance in pixels of visible samples of the source from a cut, and of the cut from the source."""
    rng = np.random.default_rng(0)
    source = built.triangles(np.flatnonzero(built.hierarchy.removed_by < 0))
    surfaces = [meshes.TriangleMesh(built.positions, corners) for corners in (source, built.triangles(cut))]
    for sampled, other in (surfaces, surfaces[::-1]):
        points = _samples(sampled, rng)
        points = points[camera.spheres_visible(points, np.zeros(len(points)))]
        distance = meshes.nearest_distances(points, other.positions, other.triangles)
        yield float((distance * camera.pixels_per_unit(points, np.zeros(len(points)))).max(initial=0.0))


def _thin_sheet(cells: int) -> meshes.TriangleMesh:
    """Two waved sheets of opposite winding, one close above the other."""
    u, v = np.meshgrid(*[np.linspace(0, 1, cells + 1)] * 2)
    wave, faces = 0.1 * np.sin(5 * u) * np.cos(4 * v), _grid_faces(np.arange(u.size).reshape(u.shape))
    points = [np.stack([u, v, wave + height], axis=-1).reshape(-1, 3) for height in (0, 1e-3)]
    return meshes.from_arrays(np.concatenate(points), np.concatenate([faces[:, ::-1], faces + u.size]))


def certified(data: Path) -> None:
    """CPU time of certified builds beside plain ones: the least of several, in turn, on one thread."""
    _head("mesh", "CPU s", "certified", "ratio")
    for name, source in _sources(data, 7).items():
        builds = [partial(meshes.build, source, certified=chosen, threads=1) for chosen in (False, True)]
        plain, bounded = np.min([[_cpu(build) for build in builds] for _ in range(_REPEAT)], axis=0)
        _row(name, f"{plain:.2f}", f"{bounded:.2f}", f"{bounded / plain:.2f}")


def _sources(data: Path, subdivisions: int) -> dict[str, meshes.TriangleMesh]:
    found = {"skull": skull(), "dragon": meshes.load(fetch("dragon.ply", data)), "bumpy sphere": bumpy(subdivisions)}
    return {f"{name}, {len(mesh.triangles):,}": mesh for name, mesh in found.items()}


@dataclass(frozen=True)
class _Nested(ErrorMetric):
    """Thresholds by the bounds that nest around each cluster: its sphere, or the smaller one of sphere and box."""

    boxes: bool

    def evaluate(self, hierarchy: Hierarchy, context: hra.Camera) -> np.ndarray:
        return meshes.ScreenError("quadric").evaluate(hierarchy, context)

    def peak(self, hierarchy: Hierarchy, context: hra.Camera) -> np.ndarray:
        node = hierarchy.node
        pixels = context.visible_pixels_per_unit(node["center"], node["radius"])
        if self.boxes:
            pixels = np.minimum(pixels, context.visible_pixels_per_unit_in_boxes(node["box"]))
        return node["error"] * pixels


def bounds(data: Path) -> None:
    """Triangles at the same threshold by spheres, by spheres and boxes, by the sweep from the source; and certified."""
    names = "mesh", "pixels", "spheres", "spheres and boxes", "as shipped", "saved by boxes", "saved as shipped"
    _head(*names, "certified, as shipped")
    metrics, savings = (_Nested(boxes=False), _Nested(boxes=True), meshes.ScreenError("quadric")), []
    for name, source in _sources(data, 8).items():
        built = meshes.build(source)
        places = product((0.4, 0.6, 0.8, 1.0), (30, 120, 210, 300))
        orbit = partial(hra.Camera.orbit, built.bounds, elevation=15)
        cameras = [orbit(azimuth=azimuth, distance=share * _diagonal(built)) for share, azimuth in places]
        for tolerance in (0.5, 1.0, 2.0, 4.0):
            every = *metrics, meshes.ScreenError("certified")
            cutters = [meshes.MeshAllocator(built, metric, hra.Threshold(tolerance)) for metric in every]
            drawn = np.array([[own.allocate(camera, np.inf).cost for own in cutters] for camera in cameras])
            drawn, certified = drawn[:, :-1], drawn[:, -1].mean()
            if (np.diff(drawn, axis=1) > 0).any():
                raise HraError(f"{name}: a tighter bound draws more triangles at {tolerance} pixels")
            saved = (1 - drawn[:, 1:] / drawn[:, :1]).mean(axis=0)
            savings.append(saved)
            shown = [f"{count:,.0f}" for count in drawn.mean(axis=0)]
            shown += [*map(_percent, saved), f"{certified:,.0f}"]
            _row(name if tolerance == 0.5 else "", f"{tolerance:g}", *shown)
    _row("mean of the three", "", "", "", "", *map(_percent, np.mean(savings, axis=0)), "")


def small(data: Path) -> None:
    """Small budgets: what is spent, how far from the best, how a step shows, what views look like; builds."""
    names = "mesh", "triangles", "clusters", "spent, worst of 12", "gap of the residual, worst", "largest step, pixels"
    _head(*names, *(f"depth at {count:,}" for count in _SMALL_BUDGETS), "build, CPU ms", "check, CPU ms")
    with raster.Context() as context:
        for name in _SMALL:
            source = skull() if name == "skull" else meshes.load(_small_file(name, data))
            built = meshes.build(source)
            spent, gap = np.array([_random_cut(built, seed) for seed in range(12)]).T
            views = [f"{1000 * depth:.3g}" for depth in _depths(context, source, built)]
            build, check = (1000 * min(_cpu(work) for _ in range(3)) for work in _build_and_check(source, built))
            shown = f"{100 * spent.min():.1f} %", f"{gap.max():.3f}", f"{100 * _pop(context, built):.2f} %"
            sizes = f"{built.triangle_count:,}", f"{len(built.offsets) - 1:,}"
            _row(Path(name).stem, *sizes, *shown, *views, f"{build:.0f}", f"{check:.0f}")


_SMALL = (
    *("cow.off", "triceratops.off", "mushroom.off", "elk.off", "head.off", "hand.off"),
    *("spider.obj", "skull", "armadillo.off", "camel.off"),
)
_SMALL_BUDGETS = 300, 1000, 3000


def _small_file(name: str, data: Path) -> Path:
    """Everyday assets are among the small models of the packages, scans are meshes."""
    model = data / "models/libcgal-demo/data/meshes" / name
    return model if model.is_file() and not (data / "meshes" / name).is_file() else fetch(name, data)


def _build_and_check(source: meshes.TriangleMesh, built: meshes.ClusterMesh) -> tuple[Callable[[], object], ...]:
    return partial(meshes.build, source, threads=1), partial(meshes.check, built, cuts=20, samples=200)


def _random_cut(built: meshes.ClusterMesh, seed: int) -> tuple[float, float]:
    """Share of a random budget from 300 triangles on that is spent for a random camera, and the gap."""
    rng = np.random.default_rng(seed)
    budget = int(np.exp(rng.uniform(np.log(300), np.log(0.95 * min(built.triangle_count, 16_000)))))
    camera = hra.Camera.orbit(built.bounds, azimuth=rng.uniform(0, 360), elevation=rng.uniform(-30, 30))
    allocation = meshes.MeshAllocator(built).allocate(camera, budget)
    return allocation.cost / budget, allocation.residual_gap


def _view(built: meshes.ClusterMesh, number: int) -> hra.Camera:
    tilt = 20 if number % 2 == 0 else -20
    return hra.Camera.orbit(built.bounds, azimuth=45 * number, elevation=tilt, viewport=(320, 240), reversed_depth=True)


def _depths(context: raster.Context, source: meshes.TriangleMesh, built: meshes.ClusterMesh) -> Iterator[float]:
    """Mean depth error of 8 views at each small budget, as a share of the diagonal; nan beyond the mesh."""
    allocator, cameras = meshes.MeshAllocator(built), [_view(built, number) for number in range(8)]
    truth = [draw(context, source, camera) for camera in cameras]
    for budget in _SMALL_BUDGETS:
        if budget > 0.9 * built.triangle_count:
            yield np.nan
            continue
        cuts = [allocator.realize(allocator.allocate(camera, budget)) for camera in cameras]
        yield mean_errors(context, zip(cuts, cameras, truth, strict=True), _diagonal(built))["depth"]


def _pop(context: raster.Context, built: meshes.ClusterMesh) -> float:
    """The largest share of the pixels that one refinement below 4,000 triangles moves by 1/1000 of the diagonal."""
    hierarchy, camera, worst = built.hierarchy, _view(built, 1), 0.0
    ends = np.flatnonzero(hierarchy.base_cost + np.cumsum(hierarchy.cost) <= 4000)
    for step in np.unique(np.linspace(0, ends[-1], 40).astype(int)):
        order = np.arange(len(hierarchy))
        cuts = (np.flatnonzero(hierarchy.active_nodes(order < count)) for count in (step, step + 1))
        one, other = (draw(context, built.mesh(cut), camera) for cut in cuts)
        moved = np.abs(one.depth - other.depth) > 1e-3 * _diagonal(built)
        worst = max(worst, float(moved.sum() / (one.covered | other.covered).sum()))
    return worst


def budgets(data: Path) -> None:
    """What is spent of a budget on the dragon, how far from the best it is, and how long it takes."""
    built = meshes.build(fetch("dragon.ply", data))
    _head("traversal", "budget", "used", "largest gap of the residual", "first frame, ms", "next frames, ms")
    asked = (built, 1e5), (built, 6e5), (built.with_cost("bytes"), 2e6)
    for traversal, (mesh, budget) in product((hra.Hull(), hra.Exact()), asked):
        frames, *times = _frames(mesh, traversal, budget)
        used = np.array([frame.utilisation for frame in frames])
        spent = f"{100 * used.min():.2f} to {100 * used.max():.2f} %"
        gap = f"{100 * max(frame.residual_gap for frame in frames):.2g} %"
        name = f"`{type(traversal).__name__}()`"
        _row(name, f"{budget:,.0f} {mesh.hierarchy.cost_unit}", spent, gap, *times)
    _row("`Threshold(1.0)`", "none", "", "", *_frames(built, hra.Threshold(1.0), np.inf)[1:])


def _frames(
    built: meshes.ClusterMesh, traversal: hra.Traversal, budget: float
) -> tuple[list[hra.Allocation], str, str]:
    """What 18 views draw; median times of the first frame of each, and of the next one, turned by 0.2 degrees."""
    allocator, bounds, frames, times = meshes.MeshAllocator(built, traversal=traversal), built.bounds, [], []
    extent = float(np.ptp(bounds, axis=0).max())

    def frame(azimuth: float, distance: float, previous: hra.Allocation | None = None) -> float:
        camera = hra.Camera.orbit(bounds, azimuth=azimuth, elevation=15, distance=distance * extent)
        seconds = _cpu(lambda: frames.append(allocator.allocate(camera, budget, previous=previous)))
        return 1000 * (seconds + _cpu(lambda: frames[-1].cut))

    frame(0, 1)  # loads compiled code
    for azimuth, distance in product(range(0, 360, 60), (0.9, 1.3, 2.0)):
        first = frame(azimuth, distance)
        times.append((first, frame(azimuth + 0.2, distance, frames[-1])))
    first, following = np.median(times, axis=0)
    return frames[1:], f"{first:.1f}", f"{following:.1f}"


def sequences(data: Path) -> None:
    """Changes and error around the skull with a hand-held camera, with and without hysteresis."""
    built = meshes.build(skull())
    orbit = partial(hra.Camera.orbit, built.bounds, distance=0.8 * _diagonal(built), up=(0, 0, 1))
    cameras = [orbit(azimuth=a) for a in np.arange(60) + np.random.default_rng(0).normal(size=60)]
    _head("budget", "traversal", "changes", "mean residual, px2")
    for budget, traversal in product((10_000, 20_000, 25_000), (hra.Hull(), hra.Coherent())):
        allocator, frames = meshes.MeshAllocator(built, traversal=traversal), []
        for camera in cameras:
            frames.append(allocator.allocate(camera, budget, previous=frames[-1] if frames else None))
        residual = np.mean([frame.residual for frame in frames])
        changes = sum(frame.churn or 0 for frame in frames)
        _row(f"{budget:,}", f"`{type(traversal).__name__}()`", changes, f"{residual:.5g}")


def instances(data: Path) -> None:
    """A thousand turned and scaled copies of the skull on a field, under a million triangles."""
    built, rng, count = meshes.build(skull()), np.random.default_rng(0), 1000
    extent = _diagonal(built)
    placements = np.tile(np.eye(4), (count, 1, 1))
    placements[:, :3, :3] = np.linalg.qr(rng.normal(size=(count, 3, 3)))[0] * rng.uniform(0.5, 1.5, (count, 1, 1))
    side, places = int(np.ceil(np.sqrt(count))), np.arange(count)
    placements[:, :3, 3] = np.stack([places % side, places // side, 0 * places], axis=1) * extent
    eye, target = (-extent, -extent, 2 * extent), (side / 2 * extent, side / 2 * extent, 0)
    camera = hra.Camera.perspective(eye, target, up=(0, 0, 1), near=extent / 50)
    meshes.Scene([(built, placements[:1])]).allocate(camera, 10_000)  # compiled code is loaded
    memory = peak_bytes(lambda: meshes.Scene([(built, placements)]).allocate(camera, 1e6))
    scene = meshes.Scene([(built, placements)])
    seconds = np.median([_cpu(lambda: scene.allocate(camera, 1e6)) for _ in range(_REPEAT)])
    whole = scene.allocate(camera, 1e6).whole
    _head("refinements", "used", "gap of the residual", "CPU s", "MB beyond the mesh")
    measured = _percent(whole.residual_gap, 3), f"{seconds:.2f}", "" if memory is None else f"{memory / 1e6:.0f}"
    _row(f"{count * len(built.hierarchy):,}", f"{whole.cost:,.0f}", *measured)


def islands(data: Path) -> None:
    """Roots, levels and largest steps of what edge collapses alone do not simplify."""
    sources = {
        "monastery": meshes.load(fetch("monastery.obj", data), attributes=False),
        "20,000 leaf cards of 2 triangles": _leaves(20_000, 1),
        "10,000 leaves of 8 triangles": _leaves(10_000, 2),
        "10,000 spheres of 80 triangles": _spheres(10_000),
        "faces of 16 x 16 x 16 cubes": _lattice(16),
    }
    _head("mesh", "triangles", "root", "levels", "largest step")
    for name, source in sources.items():
        built = meshes.build(source)
        levels = int(built.hierarchy.attribute("level").max()) + 1
        counts = built.triangle_count, built.root_triangle_count, levels, built.hierarchy.cost.max()
        _row(name, *(f"{count:,.0f}" for count in counts))


def _leaves(count: int, cells: int) -> meshes.TriangleMesh:
    """Bent cards of 2 * cells**2 triangles in a crown, none of which touches another."""
    rng, (u, v) = np.random.default_rng(1), np.meshgrid(*[np.linspace(-1, 1, cells + 1)] * 2)
    card = np.stack([u, v, 0.3 * (1 - u**2)], axis=-1).reshape(-1, 3)
    axes, centers = rng.normal(size=(count, 3, 3)) * 0.01, rng.normal(size=(count, 1, 3)) * 0.3
    return _copies(centers + card @ axes, _grid_faces(np.arange(len(card)).reshape(u.shape)))


def _spheres(count: int) -> meshes.TriangleMesh:
    ball, rng = trimesh.creation.icosphere(subdivisions=1), np.random.default_rng(0)
    centers, radii = rng.uniform(0, 1, (count, 1, 3)), rng.uniform(0.005, 0.02, (count, 1, 1))
    return _copies(centers + radii * np.asarray(ball.vertices), np.asarray(ball.faces))


def _copies(points: np.ndarray, faces: np.ndarray) -> meshes.TriangleMesh:
    """One mesh of copies with ``points`` [B, V, 3]."""
    first = points.shape[1] * np.arange(len(points))[:, None, None]
    return meshes.from_arrays(points.reshape(-1, 3), (faces[None] + first).reshape(-1, 3))


def _lattice(cells: int) -> meshes.TriangleMesh:
    """All faces of a grid of cubes, four in every edge inside, three on its faces."""
    number = np.arange((cells + 1) ** 3).reshape((cells + 1,) * 3)
    faces = [_grid_faces(sheet) for axis in range(3) for sheet in np.moveaxis(number, axis, 0)]
    return meshes.from_arrays(np.stack(np.unravel_index(number.reshape(-1), number.shape), 1), np.concatenate(faces))


def _grid_faces(number: np.ndarray) -> np.ndarray:
    """Two triangles [F, 3] in each cell of a grid of vertices ``number`` [n, m]."""
    a, b, c, d = (part.reshape(-1) for part in (number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1]))
    return np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])


def _diagonal(built: meshes.ClusterMesh) -> float:
    return float(np.linalg.norm(np.ptp(built.bounds, axis=0)))


def _cpu(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def _percent(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f} %"


def _head(*names: str) -> None:
    _row(*names)
    _row(*["---"] * len(names))


def _row(*cells: object) -> None:
    print("|", " | ".join(map(str, cells)), "|", flush=True)


# Memory is measured first: later tables would use what others have freed.
_ORDER = instances, small, hausdorff, thresholds, certified, bounds, budgets, sequences, islands
_TABLES: dict[str, Callable[[Path], None]] = {table.__name__: table for table in _ORDER}

if __name__ == "__main__":
    sys.exit(main())
