"""The evaluation of cuts of clouds: real scans and fitted splats, beside other viewers' rules.

Clouds that are compared: vertices of real scans, lit so that their shape shows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hra import samples
from hra.domains import meshes, points
from hra.domains.points import PointCloud
from hra_lab.evaluation.points.comparing import OURS, PEERS, compare
from hra_lab.inputs.mesh_sources import DATA

SPLATS = "splats.ply"
_LIGHTS = (((0.4, -0.6, 0.7), 0.75), ((-0.8, 0.3, 0.2), 0.25))


def lit(path: str | Path) -> PointCloud:
    """The vertices of a mesh file, each as bright as two lights and its own normal make it."""
    mesh = meshes.load(path)
    normals = vertex_normals(mesh.positions.astype(float), mesh.triangles)
    ways = np.array([np.array(way) / np.linalg.norm(way) for way, _ in _LIGHTS])
    brightness = (normals @ ways.T).clip(0) @ np.array([share for _, share in _LIGHTS])
    colors = (0.1 + 0.9 * brightness[:, None] * [1.0, 0.93, 0.8]).clip(0, 1)
    used = np.unique(mesh.triangles)
    return PointCloud(mesh.positions[used], colors[used])


def vertex_normals(positions: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Mean of the triangles' normals by area, unit length [N, 3]."""
    a, b, c = (positions[triangles[:, corner]] for corner in range(3))
    across, normals = np.cross(b - a, c - a), np.zeros_like(positions)
    for corner in range(3):
        for axis in range(3):
            normals[:, axis] += np.bincount(triangles[:, corner], across[:, axis], len(positions))
    return normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)


@dataclass(frozen=True)
class PointSizes:
    """How much of the evaluation to run.

    Attributes
    ----------
    fetched : files of `make data`, left out where they are missing; stride : every so many points of a cloud.
    shares : of the points, the budgets; views : around the cloud; viewport : width and height in pixels.
    """

    fetched: tuple[str, ...] = ("armadillo.off", "range-scan-1.ply", "dragon.ply")
    stride: int = 1
    shares: tuple[float, ...] = (0.01, 0.05, 0.2)
    views: int = 8
    viewport: tuple[int, int] = (512, 512)


FULL = PointSizes()
# Shows that everything runs.
SMALL = PointSizes(fetched=(), stride=10, shares=(0.05, 0.2), views=3, viewport=(96, 96))


def run(sizes: PointSizes, progress: Callable[[str], None], folder: Path = DATA) -> dict[str, Any]:
    """``rows``, one for each cloud, share and method: means over the views; and what was ``skipped`` and why.

    Parameters
    ----------
    folder : that `make data` filled; its ``splats.ply``, if any, is made by ``examples/lab/scripts/fit_splats.py``.
    """
    rows, skipped, counts = [], [], {}
    files = {
        "skull": samples.path("skull.ply"),
        **{Path(name).stem: folder / "meshes" / name for name in sizes.fetched},
    }
    clouds: dict[str, Callable[[], Any]] = {name: lambda path=path: lit(path) for name, path in files.items()}
    if sizes.fetched:
        files["splats"] = folder / SPLATS
        clouds["splats"] = lambda: points.load_points(folder / SPLATS)
    for name, read in clouds.items():
        if not Path(files[name]).exists():
            skipped.append({"cloud": name, "reason": f"no {Path(files[name]).name}"})
            continue
        progress(name)
        cloud = read()
        if sizes.stride > 1:
            cloud = points.PointCloud(cloud.positions[:: sizes.stride], cloud.colors[:: sizes.stride])
        counts[name] = len(cloud)
        rows += _means(name, list(compare(cloud, sizes.shares, sizes.views, sizes.viewport)))
    return {"rows": rows, "skipped": skipped, "counts": counts, "views": sizes.views, "viewport": list(sizes.viewport)}


def _means(cloud: str, records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Means over the views; of ours also the least lead over the best peer of a view, in dB."""
    found = []
    for share, method in dict.fromkeys((record["share"], record["method"]) for record in records):
        own = _of(records, share, method)
        row = {"cloud": cloud, "share": share, "method": method, "count": own[0]["count"]}
        row |= {key: float(np.mean([record[key] for record in own])) for key in ("psnr", "flip", "cpu_s")}
        row["gap"] = None if own[0]["gap"] is None else max(record["gap"] for record in own)
        if method == OURS:
            best = np.max([[record["psnr"] for record in _of(records, share, peer)] for peer in PEERS], axis=0)
            row["least_lead"] = float(np.min(np.array([record["psnr"] for record in own]) - best))
        found.append(row)
    return found


def _of(records: list[dict[str, Any]], share: float, method: str) -> list[dict[str, Any]]:
    return [record for record in records if (record["share"], record["method"]) == (share, method)]
