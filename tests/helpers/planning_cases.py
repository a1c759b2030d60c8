"""What several tests of planning share."""

import numpy as np
from hypothesis import strategies as st

import hra
from hra.domains import tiles
from hra.domains.tiles.tileset import Volumes


@st.composite
def tilesets(draw):
    """Up to 40 tiles of random bytes with falling errors, in boxes that lie in those of their parents."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    count = draw(st.integers(1, 40))
    parent = np.array([-1, *(int(rng.integers(0, k)) for k in range(1, count))])
    error, center, half = np.full(count, 10.0), np.zeros((count, 3)), np.full(count, 5.0)
    for k in range(1, count):
        error[k] = error[parent[k]] * rng.choice([0, 0.3, 0.6, 1.0])
        half[k] = half[parent[k]] * rng.uniform(0.3, 0.8)
        center[k] = center[parent[k]] + rng.uniform(-1, 1, 3) * (half[parent[k]] - half[k])
    size = rng.integers(0, 1000, count) * (rng.random(count) < 0.9)
    additive = rng.random(count) < draw(st.sampled_from([0.0, 0.5, 1.0]))
    volumes = Volumes(center, half[:, None, None] * np.eye(3), np.zeros(count))
    names = tuple(f"{k}.glb" for k in range(count))
    return tiles.Tileset(parent, error, size, names, additive, volumes)


def a_camera(distance=12.0, azimuth=0.0):
    return hra.Camera.orbit(np.array([[-5.0] * 3, [5.0] * 3]), azimuth=azimuth, distance=distance, viewport=(640, 480))


def chain(sizes=(10, 20, 40), errors=(8.0, 4.0, 0.0)):
    """One tile below another."""
    count = len(sizes)
    volumes = Volumes(np.zeros((count, 3)), np.tile(np.eye(3), (count, 1, 1)), np.zeros(count))
    parent, names = np.arange(count) - 1, tuple(f"{k}.glb" for k in range(count))
    return tiles.Tileset(parent, np.array(errors), np.array(sizes), names, np.zeros(count, bool), volumes)
