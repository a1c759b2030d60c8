from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hra.domains import meshes
from hra.domains.meshes.distances.surface import boundary_chain, inconsistent_edges, surface_area
from hra.domains.meshes.mesh.weld import without_degenerate

triangles = st.integers(1, 60).flatmap(lambda n: arrays(np.int64, (n, 3), elements=st.integers(0, 9)))


@given(triangles)
def test_boundary_chain_agrees_with_counting(faces: np.ndarray) -> None:
    faces = without_degenerate(faces)
    count: Counter[tuple[int, int]] = Counter()
    for a, b, c in faces.tolist():
        for p, q in ((a, b), (b, c), (c, a)):
            count[min(p, q), max(p, q)] += 1 if p < q else -1
    expected = sorted((edge, n) for edge, n in count.items() if n)
    edges, numbers = boundary_chain(faces)
    assert [((a, b), n) for (a, b), n in zip(edges.tolist(), numbers.tolist(), strict=True)] == expected


@given(triangles)
def test_inconsistent_edges_agree_with_counting(faces: np.ndarray) -> None:
    faces = without_degenerate(faces)
    directed = [(f[i], f[(i + 1) % 3]) for f in faces.tolist() for i in range(3)]
    undirected = Counter((min(e), max(e)) for e in directed)
    same_way = Counter(directed)
    assert inconsistent_edges(faces) == sum(n == 2 and undirected[min(e), max(e)] == 2 for e, n in same_way.items())


def test_boundary_chain_sees_a_missing_and_a_doubled_face(bumpy: meshes.TriangleMesh) -> None:
    assert len(boundary_chain(bumpy.triangles)[0]) == 0
    assert len(boundary_chain(bumpy.triangles[1:])[0]) == 3
    # The doubled face's edges each lie between three faces: a set of border edges would not show them.
    assert len(boundary_chain(np.concatenate([bumpy.triangles, bumpy.triangles[:1]]))[0]) == 3


def test_surface_area_agrees_with_trimesh(bumpy: meshes.TriangleMesh) -> None:
    import trimesh

    area = surface_area(bumpy.positions, bumpy.triangles.reshape(-1), np.array([0, 30, 3 * len(bumpy.triangles)]))
    faces = trimesh.Trimesh(bumpy.positions.astype(np.float64), bumpy.triangles, process=False).area_faces
    assert np.allclose(area, [faces[:10].sum(), faces[10:].sum()], rtol=1e-9)
