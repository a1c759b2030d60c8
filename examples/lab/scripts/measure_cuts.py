#!/usr/bin/env python
"""Measure cuts of meshes from elsewhere: roots, how much of a certified tolerance is used, what a slow zoom changes.

    python examples/lab/scripts/measure_cuts.py FOLDER [--tables roots,share,zoom] [--half development] [--json FILE]

FOLDER holds mesh files; those of 900 to 60,000 triangles are taken, each shape once. A hash of the name puts each into
the development or the test half. Tables are added to those in the JSON file, if there is one. Nothing of the meshes is
part of the repository. The exit code is 1 if a sample is beyond its bound.

- roots: triangles of the source and of the root, and the CPU time of the build.
- share: `Threshold(4)` of certified bounds in 4 views of 1920 x 1080; the largest distance in pixels of visible samples
  (10,000 points and all vertices of either surface, and each triangle's middle and the middles of its sides) over 4.
- zoom: 30 frames of 640 x 480 from 4 to 1 diagonals away, at one pixel of the estimate. What changes from frame to
  frame is the mean difference of two pictures, lit from the eye, of this frame's surface and the last one's, both seen
  by this frame's camera. The chain is of whole meshes, each half of the one before, drawn by the same tolerance; "held"
  is `Coherent(Threshold(1), hysteresis=1.5)`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np

import hra
from hra.domains import meshes
from hra.errors import HraError, HraWarning
from hra.kernels import raster
from hra_lab.evaluation.meshes.views import draw

_SUFFIXES = (".obj", ".off", ".ply", ".stl", ".glb")
_SIZES = 900, 60_000
_TOLERANCE, _SAMPLES, _FRAMES = 4.0, 10_000, 30
# The last but one rounding of a distance that is computed in another way.
_ROUNDING = 1e-6
_VIEWS = tuple(product((1.0, 2.0), (30.0, 210.0)))


def main() -> int:
    """Print one row for each mesh and table, and what they have in common."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tables", default="roots,share,zoom")
    parser.add_argument("--half", choices=("development", "test"), help="only this one")
    parser.add_argument("--json", type=Path, help="where the rows go as well")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore", HraWarning)  # repairs of hard cases are expected
    rows = [
        _row(name, source, chosen.tables.split(",")) for name, source in sources(chosen.folder, chosen.half, print_rows)
    ]
    if chosen.json:
        known = json.loads(chosen.json.read_text()) if chosen.json.exists() else []
        both = {row["mesh"]: row for row in known}
        both.update({row["mesh"]: {**both.get(row["mesh"], {}), **row} for row in rows})
        chosen.json.write_text(json.dumps(list(both.values()), indent=1) + "\n")
    return _judge(rows)


def print_rows(text: str) -> None:
    """To the standard error, at once."""
    print(text, file=sys.stderr, flush=True)


def sources(folder: Path, half: str | None, tell: Callable[[str], None]) -> Iterator[tuple[str, meshes.TriangleMesh]]:
    """The meshes of a folder by name, each shape once."""
    seen = set()
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() not in _SUFFIXES:
            continue
        try:
            mesh = meshes.load(path, attributes=False)
        except HraError as error:
            tell(f"left out: {path.name}: {error}")
            continue
        extent = np.sort(np.ptp(mesh.bounds, axis=0))
        shape = len(mesh.triangles), *np.round(extent / extent[-1], 3).tolist()
        if not _SIZES[0] <= len(mesh.triangles) <= _SIZES[1] or shape in seen:
            continue
        seen.add(shape)
        if half in (None, half_of(path.name)):
            yield path.name, mesh


def half_of(name: str) -> str:
    """Which half a mesh is in."""
    return ("development", "test")[hashlib.sha256(name.encode()).digest()[0] % 2]


def _row(name: str, source: meshes.TriangleMesh, tables: list[str]) -> dict[str, Any]:
    began = time.process_time()
    clusters = meshes.build(source, threads=1)
    row = {
        "mesh": name,
        "half": half_of(name),
        "triangles": clusters.triangle_count,
        "closed": meshes.is_closed(source),
        "root": clusters.root_triangle_count,
        "seconds": round(time.process_time() - began, 3),
    }
    if "share" in tables:
        row["views"] = [_used(clusters, distance, azimuth) for distance, azimuth in _VIEWS]
    if "zoom" in tables:
        row["zoom"] = _zoom(source, clusters)
    print_rows(json.dumps(row))
    return row


def _used(clusters: meshes.ClusterMesh, distance: float, azimuth: float) -> dict[str, float]:
    """Largest share of the tolerance that visible samples of either surface use, and what is drawn."""
    diagonal = float(np.linalg.norm(np.ptp(clusters.bounds, axis=0)))
    camera = hra.Camera.orbit(clusters.bounds, azimuth, 15, distance * diagonal, viewport=(1920, 1080))
    drawn = {}
    for error in ("certified", "quadric"):
        allocator = meshes.MeshAllocator(clusters, meshes.ScreenError(error), hra.Threshold(_TOLERANCE))
        allocation = allocator.allocate(camera, np.inf)
        drawn[error] = allocation.cost
        found = max(displacements(clusters, allocation.cut, camera)) / _TOLERANCE
        drawn[f"{error} used"] = round(found, 4)
        drawn[f"{error} stated"] = round(allocation.max_error / _TOLERANCE, 4)
    return drawn


def displacements(clusters: meshes.ClusterMesh, cut: np.ndarray, camera: hra.Camera) -> Iterator[float]:
    """The largest distance in pixels of visible samples of the source from a cut, and of the cut from the source."""
    rng = np.random.default_rng(0)
    whole = clusters.triangles(np.flatnonzero(clusters.hierarchy.removed_by < 0))
    surfaces = [meshes.TriangleMesh(clusters.positions, corners) for corners in (whole, clusters.triangles(cut))]
    for sampled, other in (surfaces, surfaces[::-1]):
        corners = sampled.positions[sampled.triangles].astype(np.float64)
        sides = (corners + np.roll(corners, -1, axis=1)).reshape(-1, 3) / 2
        points = [meshes.surface_points(sampled, _SAMPLES, rng), corners.reshape(-1, 3), sides, corners.mean(axis=1)]
        points = np.unique(np.concatenate(points), axis=0)
        points = points[camera.spheres_visible(points, np.zeros(len(points)))]
        distance = meshes.nearest_distances(points, other.positions, other.triangles)
        yield float((distance * camera.pixels_per_unit(points, np.zeros(len(points)))).max(initial=0.0))


def _zoom(source: meshes.TriangleMesh, clusters: meshes.ClusterMesh) -> dict[str, dict[str, float]]:
    """For each method: the sum and the largest of the changes in percent, the frames that change, triangles drawn."""
    diagonal = float(np.linalg.norm(np.ptp(clusters.bounds, axis=0)))
    cameras = [
        hra.Camera.orbit(clusters.bounds, 30, 10, diagonal * away, viewport=(640, 480))
        for away in np.geomspace(4, 1, _FRAMES)
    ]
    chain = meshes.build_discrete(source)
    quadric = meshes.ScreenError("quadric")
    shown: dict[str, list[meshes.TriangleMesh]] = {"chain": [chain.levels[chain.by_pixels(c, 1.0)] for c in cameras]}
    for name, traversal in _TRAVERSALS.items():
        allocator, last = meshes.MeshAllocator(clusters, quadric, traversal), None
        cuts = []
        for camera in cameras:
            before, last = last, allocator.allocate(camera, np.inf, previous=last)
            same = before is not None and np.array_equal(before.cut, last.cut)
            cuts.append(cuts[-1] if same else clusters.mesh(last.cut))
            if last.max_error > 1.0:
                raise HraError(f"{name} leaves {last.max_error} pixels")
        shown[name] = cuts
    with raster.Context() as context:
        return {name: _changes(context, frames, cameras) for name, frames in shown.items()}


_TRAVERSALS = {"cut": hra.Threshold(1.0), "held": hra.Coherent(hra.Threshold(1.0), hysteresis=1.5)}


def _changes(context: raster.Context, frames: list[meshes.TriangleMesh], cameras: list[hra.Camera]) -> dict[str, float]:
    changes = []
    for (before, now), camera in zip(pairwise(frames), cameras[1:], strict=True):
        changes.append(0.0 if before is now else _apart(*(_shaded(context, mesh, camera) for mesh in (before, now))))
    return {
        "sum": round(sum(changes), 4),
        "largest": round(max(changes), 4),
        "frames": int(np.count_nonzero(changes)),
        "triangles": float(np.mean([len(mesh.triangles) for mesh in frames])),
    }


def _shaded(context: raster.Context, mesh: meshes.TriangleMesh, camera: hra.Camera) -> np.ndarray:
    """Cosine between normal and view direction, float64 [H, W]; -1 where there is nothing."""
    view = draw(context, mesh, camera)
    shade = np.abs(view.normal.astype(np.float64) @ camera.view[2, :3])
    return np.where(view.covered, shade, -1.0)


def _apart(one: np.ndarray, other: np.ndarray) -> float:
    """Mean difference over what either covers, percent of the brightest."""
    either = (one >= 0) | (other >= 0)
    return 100 * float(np.abs(np.maximum(one, 0) - np.maximum(other, 0))[either].mean()) if either.any() else 0.0


def _judge(rows: list[dict[str, Any]]) -> int:
    closed = [row["root"] for row in rows if row["closed"]]
    print(f"{len(rows)} meshes, {len(closed)} closed; largest root of a closed one {max(closed, default=0)}, ", end="")
    print(f"{sum(root <= 16 for root in closed)} of at most 16; median of all {np.median([r['root'] for r in rows]):g}")
    # Where all is drawn nothing is left of the tolerance to be used.
    views = [view for row in rows for view in row.get("views", ()) if view["certified stated"]]
    beyond = 0
    for error in ("certified", "quadric") if views else ():
        used = np.array([view[f"{error} used"] for view in views])
        over = int((used > 1 + _ROUNDING).sum())
        beyond += over if error == "certified" else 0
        most = np.median([max(v[f"{error} used"] for v in row["views"]) for row in rows])
        print(f"{error}: of the tolerance used in {len(views)} views median {np.median(used):.2f}, ", end="")
        print(f"largest {used.max():.2f}, beyond {over}; median of each mesh's most {most:.2f}")
    if views:
        ratio = np.median([view["certified"] / view["quadric"] for view in views])
        print(f"triangles, certified over quadric: {ratio:.2f} (median)")
    zooms = [row["zoom"] for row in rows if "zoom" in row and row["zoom"]["chain"]["frames"]]
    for name in zooms[0] if zooms else ():
        sums, largest = (np.array([z[name][k] / z["chain"][k] for z in zooms]) for k in ("sum", "largest"))
        triangles = np.median([z[name]["triangles"] / z["chain"]["triangles"] for z in zooms])
        print(f"zoom, {name}, {len(zooms)} meshes, beside the chain: sum {np.median(sums):.2f} (median), ", end="")
        print(f"{sums.max():.2f} (most), at most the chain's in {(sums <= 1).sum()}; ", end="")
        print(
            f"largest {np.median(largest):.2f}, {largest.max():.2f}, at most a quarter in {(largest <= 0.25).sum()}; ",
            end="",
        )
        print(f"triangles {triangles:.2f}; frames {np.median([z[name]['frames'] for z in zooms]):g}")
    return int(beyond > 0)


if __name__ == "__main__":
    sys.exit(main())
