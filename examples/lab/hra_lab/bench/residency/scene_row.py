"""Geometry and textures of one scene in one pool, beside the best split that is fixed for a whole path."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hra.camera import Camera
from hra.domains import meshes, textures
from hra.pooling.pool import pool
from hra.residency import ForestItems, PagedItems, SharedResidency
from hra_lab.bench.residency.mesh_row import GRID_BITS
from hra_lab.bench.suite import Scale
from hra_lab.inputs.mesh_paths import mesh_path
from hra_lab.inputs.textured_models import TexturedModel

SHARES = (0.05, 0.1, 0.25)
SPLITS = tuple(k / 20 for k in range(1, 20))

View = tuple[Camera, textures.Feedback]


@dataclass(frozen=True)
class SceneResidency:
    """A textured model within pools of 5, 10 and 25 % of all its pages.

    Attributes
    ----------
    model : makes it, from a number of subdivisions for models that are made.
    """

    name: str
    model: Callable[[], TexturedModel]
    small: Callable[[], TexturedModel]
    needs: tuple[str, ...] = ()

    def measure(self, scale: Scale, repeat: int, bandwidth: float) -> dict[str, Any]:
        """The row: ``results`` are mean errors of geometry and textures together, in px2, by pool and split."""
        model = self.model() if scale == "full" else self.small()
        with tempfile.TemporaryDirectory() as folder:
            meshes.build(model.mesh).save(Path(folder) / "a.hra", grid_bits=GRID_BITS)
            scene = Scene.of(model, meshes.open_asset(Path(folder) / "a.hra"))
            path = mesh_path(model.mesh.bounds, 60 if scale == "full" else 4)
            views = [(camera, model.feedback(camera)) for camera in path]
            records = {f"{share:.0%}": scene.compare(views, share) for share in SHARES}
        seconds = float(np.median([one["step_s"] for one in records.values()]))
        quoted = ("one pool", "best fixed split", "half and half", "bound")
        return {
            "name": self.name,
            "n": scene.count,
            "ours_s": seconds,
            "peer": None,
            "peer_s": None,
            "ratio": None,
            "results": {
                f"{size}, {name}": one[name]
                for size, one in records.items()
                for name in quoted
                if one[name] is not None
            },
            "steps_per_s": 1 / max(seconds, 1e-9),
            "pools": records,
        }


@dataclass(frozen=True, eq=False)
class Scene:
    """Geometry and textures of one model.

    Attributes
    ----------
    pages, tiles : the allocators of the two.
    """

    pages: meshes.PageAllocator
    tiles: textures.TextureAllocator

    @classmethod
    def of(cls, model: TexturedModel, asset: meshes.MeshAsset) -> Scene:
        """The scene of a model and its built mesh."""
        return cls(meshes.PageAllocator(asset), textures.TextureAllocator(model.textures))

    @property
    def count(self) -> int:
        """Pages and tiles."""
        return len(self.pages.paged.loads) + self.tiles.textures.hierarchy.node_cost.size

    @property
    def base_bytes(self) -> float:
        """Coarsest pages and mip tails."""
        return self.pages.least_bytes + self.tiles.textures.hierarchy.base_cost

    @property
    def all_bytes(self) -> float:
        """Everything."""
        return self.pages.paged.hierarchy.total_cost + self.tiles.textures.hierarchy.total_cost

    def compare(self, views: Sequence[View], share: float) -> dict[str, Any]:
        """Mean errors over ``views`` within a share of all bytes, by how the bytes are split."""
        budget = max(share * self.all_bytes, self.base_bytes + 2 * self.pages.asset.slot_bytes)
        clock = time.process_time()
        errors, bounds, peak = self.joint(views, budget)
        seconds = (time.process_time() - clock) / len(views)
        splits = {f"{split:.2f}": error for split in SPLITS if (error := self.fixed(views, budget, split)) is not None}
        best = min(splits, key=splits.__getitem__)
        return {
            "bytes": budget,
            "one pool": float(np.mean(errors)),
            "best fixed split": splits[best],
            "half and half": splits.get("0.50"),
            "bound": float(np.mean(bounds)),
            "best geometry share": float(best),
            "splits": splits,
            "peak_bytes": peak,
            "step_s": seconds,
        }

    def joint(self, views: Sequence[View], budget: float) -> tuple[list[float], list[float], int]:
        """What one pool leaves in each frame, what no choice within it undercuts, and the most that it held."""
        shared = pool(self.pages, self.tiles)
        holder = SharedResidency([PagedItems(self.pages.paged), ForestItems(self.tiles.textures.hierarchy)], budget)
        errors, bounds, before = [], [], None
        for view in views:
            before = shared.allocate(view, holder.budget, previous=before)
            frame = holder.advance(before.members)
            geometry, tiles = before.members
            errors.append(self.pages.residual(geometry, frame.members[0].resident) + tiles.residual)
            bounds.append(before.whole.least_residual)
        return errors, bounds, holder.peak_bytes

    def fixed(self, views: Sequence[View], budget: float, split: float) -> float | None:
        """The mean error if geometry always has this share of the bytes; None if one of the two then lacks its base."""
        geometry, rest = split * budget, (1 - split) * budget
        if geometry < self.pages.least_bytes or rest < self.tiles.textures.hierarchy.base_cost:
            return None
        parts = [
            self.pages.allocate(camera, geometry).residual + self.tiles.allocate(seen, rest).residual
            for camera, seen in views
        ]
        return float(np.mean(parts))
