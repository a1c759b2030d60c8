"""An interior: rooms with doors and things in them, most of which a wall hides from wherever one stands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.camera import Camera
from hra.domains import meshes

_ROOM, _HEIGHT, _DOOR, _THICK = 4.0, 2.5, 1.0, 0.1


@dataclass(frozen=True, eq=False)
class Interior:
    """Rooms in a square, as meshes and where copies of them stand.

    Attributes
    ----------
    placed : pairs of a mesh and placements, as `hra.domains.meshes.Scene` takes them.
    side : rooms along one side.
    """

    placed: tuple[tuple[meshes.ClusterMesh, np.ndarray], ...]
    side: int

    def walk(self, frames: int, seed: int, viewport: tuple[int, int], reversed_depth: bool = False) -> list[Camera]:
        """A walk from room to room that looks around, jumps now and then, and runs into things."""
        random = np.random.default_rng(seed)
        rooms = random.integers(0, self.side, (2 + frames // 15, 2))
        cameras = []
        for k in range(frames):
            at, part = divmod(k, 15)
            begin, end = (_ROOM * (rooms[n] + 0.5) for n in (at, at + 1))
            if at % 3 == 2:  # a cut: the next room at once
                begin = end
            place = begin + (end - begin) * part / 15
            angle, nod = 2 * np.pi * (k / 40 + random.random() * 0.05) + seed, 0.3 * np.sin(k / 9)
            eye = np.array([*place, 1.4 + 0.3 * np.sin(k / 5)])
            target = eye + np.array([np.cos(angle), np.sin(angle), nod])
            lens = {"viewport": viewport, "near": 0.02, "reversed_depth": reversed_depth}
            cameras.append(Camera.perspective(eye, target, up=(0, 0, 1), vertical_fov_degrees=70, **lens))
        return cameras


def interior(side: int = 4, things: int = 3, seed: int = 0, detail: int = 12) -> Interior:
    """``side`` x ``side`` rooms of 4 x 4 units with ``things`` in each.

    Parameters
    ----------
    detail : cells along a wall, and the fineness of the things.
    """
    random = np.random.default_rng(seed)
    wall = meshes.build(panel(detail), cluster_size=32)
    thing = meshes.build(lump(3 * detail, seed), cluster_size=32)
    spots = _ROOM * np.stack(np.meshgrid(np.arange(side), np.arange(side)), -1).reshape(-1, 2)
    centers = np.repeat(spots, things, axis=0) + random.uniform(0.6, _ROOM - 0.6, (side * side * things, 2))
    placed_things = np.tile(np.eye(4), (len(centers), 1, 1))
    placed_things[:, :3, :3] *= random.uniform(0.2, 0.5, (len(centers), 1, 1))
    placed_things[:, :2, 3], placed_things[:, 2, 3] = centers, random.uniform(0.3, 1.6, len(centers))
    return Interior(((wall, np.stack(_walls(side))), (thing, placed_things)), side)


def panel(cells: int) -> meshes.TriangleMesh:
    """The surface of the unit cube, each side of ``cells`` x ``cells`` squares."""
    axis = np.linspace(0, 1, cells + 1)
    u, v = (part.ravel() for part in np.meshgrid(axis, axis, indexing="ij"))
    number = np.arange((cells + 1) ** 2).reshape(cells + 1, cells + 1)
    a, b, c, d = (n.ravel() for n in (number[:-1, :-1], number[1:, :-1], number[:-1, 1:], number[1:, 1:]))
    faces = np.concatenate([np.stack([a, b, d], 1), np.stack([a, d, c], 1)])
    points, triangles = [], []
    for axis_number in range(3):
        for level in (0.0, 1.0):
            order = [(axis_number + k) % 3 for k in range(3)]
            part = np.empty((len(u), 3))
            part[:, order[0]], part[:, order[1]], part[:, order[2]] = level, u, v
            triangles.append((faces if level else faces[:, ::-1]) + len(points) * len(u))
            points.append(part)
    return meshes.from_arrays(*_welded(np.concatenate(points), np.concatenate(triangles)))


def lump(cells: int, seed: int) -> meshes.TriangleMesh:
    """A closed, bumpy ball around the origin of about ``6 cells**2`` pairs of triangles, radius 0.7 to 1.3."""
    cube = panel(cells)
    direction = cube.positions.astype(np.float64) * 2 - 1
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    waves = np.sin(direction @ np.random.default_rng(seed).normal(size=(3, 4)) * 4).mean(axis=1, keepdims=True)
    return meshes.from_arrays(direction * (1 + 0.3 * waves), cube.triangles)


def _welded(points: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    distinct, number = np.unique(points, axis=0, return_inverse=True)
    return distinct, number.reshape(-1)[triangles]


def _walls(side: int) -> list[np.ndarray]:
    """Floor, ceiling, and walls with a door in the middle of each inner one."""
    length = side * _ROOM
    walls = [_box((0, 0, -_THICK), (length, length, 0)), _box((0, 0, _HEIGHT), (length, length, _HEIGHT + _THICK))]
    for line in range(side + 1):
        for room in range(side):
            begin, end, at = room * _ROOM, (room + 1) * _ROOM, line * _ROOM
            gap = 0.0 if line in (0, side) else _DOOR
            middle = (begin + end) / 2
            spans = [(begin, middle - gap / 2), (middle + gap / 2, end)]
            for low, high in spans:
                walls.append(_box((at - _THICK / 2, low, 0), (at + _THICK / 2, high, _HEIGHT)))
                walls.append(_box((low, at - _THICK / 2, 0), (high, at + _THICK / 2, _HEIGHT)))
    return walls


def _box(low: tuple[float, ...], high: tuple[float, ...]) -> np.ndarray:
    placement = np.diag([*np.subtract(high, low), 1.0])
    placement[:3, 3] = low
    return placement
