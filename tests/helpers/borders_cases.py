"""What several tests of borders share."""

from __future__ import annotations

import numpy as np
import trimesh

from hra.domains import meshes


def patched_ball(patches: int) -> meshes.TriangleMesh:
    """A rough ball on which some faces are there twice: every edge has an opposite, but around these one too few."""
    ball, rng = trimesh.creation.icosphere(subdivisions=3), np.random.default_rng(0)
    points = np.asarray(ball.vertices) * (1 + 0.1 * rng.normal(size=(len(ball.vertices), 1)))
    faces = np.asarray(ball.faces)
    twice = faces[rng.choice(len(faces), patches, replace=False)]
    return meshes.TriangleMesh(points.astype(np.float32), np.concatenate([faces, twice]).astype(np.uint32))
