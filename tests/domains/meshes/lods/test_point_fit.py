"""Steps of least squares are those of the normal equations."""

from __future__ import annotations

import numpy as np
import pytest

from hra.domains.meshes.lods import point_fit
from hra.domains.meshes.lods.point_fit import OnTriangles, fitted_step


def dense(points: OnTriangles, targets: np.ndarray, begin: np.ndarray, free: np.ndarray) -> np.ndarray:
    """The same step from all equations."""
    count, k = begin.shape
    rows, right = [], []
    corners = points.corners[points.face]
    for i in range(len(corners)):
        mean = np.zeros((k, count, k))
        for c in range(k):
            mean[c, corners[i], c] = points.shares[i]
        off = targets[i] - points.shares[i] @ begin[corners[i]]
        pairs = [(np.eye(k)[c], points.weight[i, 0]) for c in range(k)]
        pairs += [(points.normals[i], points.weight[i, 1])] if len(points.normals) else []
        for direction, weight in pairs:
            rows.append(np.sqrt(weight) * np.einsum("c,cvk->vk", direction, mean).reshape(-1))
            right.append(np.sqrt(weight) * direction @ off)
    mass = np.bincount(corners.reshape(-1), (points.shares * points.weight.sum(1)[:, None]).reshape(-1), count)
    rows += list(np.diag(np.sqrt(np.repeat(point_fit._STAY * mass, k))))
    right += [0.0] * (count * k)
    matrix, open_ = np.array(rows), np.repeat(free & (mass > 0), k)
    step = np.zeros(count * k)
    step[open_] = np.linalg.lstsq(matrix[:, open_], np.array(right), rcond=None)[0]
    return step.reshape(count, k)


@pytest.mark.parametrize("directed", [False, True])
def test_the_step_is_that_of_the_normal_equations(directed: bool) -> None:
    rng = np.random.default_rng(0)
    corners, face = np.array([[0, 1, 2], [1, 2, 3], [2, 3, 4]]), rng.integers(0, 3, 40)
    normals = rng.normal(size=(40, 3))
    normals = normals / np.linalg.norm(normals, axis=1, keepdims=True) if directed else np.empty((0, 3))
    points = OnTriangles(corners, face, rng.dirichlet([1, 1, 1], 40), rng.uniform(0.5, 1, (40, 2)), normals)
    if not directed:
        points.weight[:, 1] = 0
    begin, targets = rng.normal(size=(6, 3)), rng.normal(size=(40, 3))
    free = np.array([True, True, False, True, True, True])
    step = fitted_step(points, targets, begin, free)
    assert np.allclose(step, dense(points, targets, begin, free), atol=1e-3)
    assert not step[2].any() and not step[5].any()  # held, and no point is near


def test_without_points_nothing_moves() -> None:
    no_face, no_point = np.empty((0, 3), np.int64), np.empty(0, np.int64)
    nothing = OnTriangles(no_face, no_point, np.empty((0, 3)), np.empty((0, 2)), np.empty((0, 3)))
    assert not fitted_step(nothing, np.empty((0, 2)), np.ones((4, 2)), np.ones(4, bool)).any()
