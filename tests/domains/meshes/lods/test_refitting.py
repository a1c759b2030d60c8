"""Levels whose vertices are fitted to the source are nearer to it, and stay closed, whole and where they are held."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hra.domains import meshes
from hra.domains.meshes.building.geometry import Geometry
from hra.domains.meshes.distances.surface import boundary_chain
from hra.domains.meshes.distances.two_sided import hausdorff_bound
from hra.domains.meshes.lods.refitting import Refit, Refitting
from hra.domains.meshes.mesh.weld import without_degenerate


def sheet(seed: int, side: int = 17, *, height: float = 0.2, seam: bool = False) -> meshes.TriangleMesh:
    """A wavy sheet with texture coordinates and normals; with a seam the left half has others."""
    rng = np.random.default_rng(seed)
    row, column = np.divmod(np.arange(side * side), side)
    x, y = column / (side - 1), row / (side - 1)
    a, b, c, d = rng.uniform(1, 6, 4)
    z = height * np.sin(a * x + c) * np.cos(b * y + d)
    slope = height * np.array([a * np.cos(a * x + c) * np.cos(b * y + d), -b * np.sin(a * x + c) * np.sin(b * y + d)])
    normals = np.column_stack([-slope[0], -slope[1], np.ones(side * side)])
    normals = (normals / np.linalg.norm(normals, axis=1, keepdims=True)).astype(np.float32)
    positions, uv = np.column_stack([x, y, z]).astype(np.float32), np.column_stack([x, y]).astype(np.float32)
    corner = (np.arange(side - 1)[:, None] * side + np.arange(side - 1)).reshape(-1)
    steps = np.array([[0, 1, side], [1, side + 1, side]])
    triangles = (corner[:, None, None] + steps).reshape(-1, 3)
    if seam:
        left = column[triangles].max(axis=1) <= side // 2
        triangles[left] += side * side
        positions, normals, uv = np.tile(positions, (2, 1)), np.tile(normals, (2, 1)), np.concatenate([uv, uv + 3])
        vertices, triangles = np.unique(triangles, return_inverse=True)
        positions, normals, uv = positions[vertices], normals[vertices], uv[vertices]
    attributes = meshes.VertexAttributes(uv=uv, normals=normals)
    return meshes.TriangleMesh(positions, triangles.reshape(-1, 3).astype(np.uint32), attributes)


def coarse(mesh: meshes.TriangleMesh, share: float) -> np.ndarray:
    """Fewer triangles of the mesh's vertices."""
    geometry = Geometry.of(mesh.positions, mesh.attributes)
    flat = np.ascontiguousarray(without_degenerate(mesh.triangles, geometry.position_of).reshape(-1))
    found, _ = geometry.simplify(flat, np.zeros(len(mesh.positions), np.uint8), 3 * int(share * len(mesh.triangles)))
    return found.reshape(-1, 3)


def refit(mesh: meshes.TriangleMesh, triangles: np.ndarray, frozen: np.ndarray | None = None) -> Refit:
    return Refitting(mesh).refitted(triangles, np.zeros(len(mesh.positions), bool) if frozen is None else frozen)


def as_mesh(fit: Refit) -> meshes.TriangleMesh:
    return meshes.TriangleMesh(fit.positions.astype(np.float32), fit.triangles.astype(np.uint32))


def carried(mesh: meshes.TriangleMesh) -> tuple[np.ndarray, np.ndarray]:
    """Texture coordinates and normals."""
    attributes = mesh.attributes
    assert attributes is not None and attributes.uv is not None and attributes.normals is not None
    return attributes.uv, attributes.normals


def squares(one: meshes.TriangleMesh, other: meshes.TriangleMesh) -> float:
    points = meshes.surface_points(one, 4000, np.random.default_rng(0))
    return float(np.square(meshes.nearest_distances(points, other.positions, other.triangles)).mean())


@given(seed=st.integers(0, 2**16), share=st.sampled_from([0.5, 0.2, 0.06]), seam=st.booleans())
@settings(max_examples=15)
def test_no_point_is_farther_than_the_farthest_was(seed: int, share: float, seam: bool) -> None:
    mesh = sheet(seed, seam=seam)
    triangles = coarse(mesh, share)
    before = meshes.TriangleMesh(mesh.positions, triangles)
    fit = refit(mesh, triangles)
    after = as_mesh(fit)
    # Points are looked at, not all of the surface between them.
    assert hausdorff_bound(mesh, after) <= 1.1 * hausdorff_bound(mesh, before) + 1e-6
    assert squares(mesh, after) <= squares(mesh, before) * 1.001 + 1e-12
    # Nothing opens: wedges of one position have one, and what was a border still is one.
    place, first = mesh.position_of[fit.vertices], {}
    for vertex, position in zip(place.tolist(), map(tuple, fit.positions.tolist()), strict=True):
        assert first.setdefault(vertex, position) == position
    assert len(fit.triangles) == len(triangles)
    assert (fit.vertices[fit.triangles] == triangles).all()
    assert (boundary_chain(place[fit.triangles])[0] == boundary_chain(mesh.position_of[triangles])[0]).all()


def test_most_of_the_distance_goes() -> None:
    mesh = sheet(3, 33)
    triangles = coarse(mesh, 0.1)
    before, fit = meshes.TriangleMesh(mesh.positions, triangles), refit(mesh, triangles)
    assert squares(mesh, as_mesh(fit)) < 0.6 * squares(mesh, before)
    given, _ = carried(mesh)
    uv, wanted = fit.values(given), fit.positions[:, :2]
    assert np.abs(uv - wanted).max() < 0.02  # the texture stays where it is on the surface
    again = refit(mesh, triangles)
    assert (again.positions == fit.positions).all() and (again.values(given) == uv).all()


@pytest.mark.parametrize("shift", [0.0, 0.25])
def test_what_is_flat_stays_flat_and_keeps_its_outline(shift: float) -> None:
    mesh = sheet(5, height=0.0)
    mesh = meshes.TriangleMesh(mesh.positions + np.float32(shift), mesh.triangles, mesh.attributes)
    triangles = coarse(mesh, 0.1)
    fit = refit(mesh, triangles)
    assert (fit.positions[:, 2] == shift).all()
    assert np.abs(fit.positions - mesh.positions[fit.vertices]).max() < 1e-9


def test_what_is_not_simplified_stays() -> None:
    mesh = sheet(7)
    fit = refit(mesh, mesh.triangles)
    assert np.abs(fit.positions - mesh.positions).max() < 1e-9
    _, normals = carried(mesh)
    assert np.abs(fit.values(normals) - normals).max() < 1e-6


def test_frozen_vertices_stay_with_all_that_is_at_their_position() -> None:
    mesh = sheet(11, seam=True)
    triangles = coarse(mesh, 0.2)
    seam = np.bincount(mesh.position_of, minlength=len(mesh.positions))[mesh.position_of] > 1
    frozen = seam & (carried(mesh)[0][:, 0] >= 3)  # one side of it
    assert frozen.any()
    fit = refit(mesh, triangles, frozen)
    assert (fit.positions[seam[fit.vertices]] == mesh.positions[fit.vertices][seam[fit.vertices]]).all()
    assert (fit.moved == ~frozen[fit.vertices]).all()
    assert np.abs(fit.positions - mesh.positions[fit.vertices]).max() > 1e-4


def test_bad_triangles_do_no_harm() -> None:
    mesh = sheet(13)
    points = np.concatenate([mesh.positions, [[5, 5, 5], [5, 5, 6], [5, 5, 7], [9, 9, 9]]]).astype(np.float32)
    last = len(mesh.positions)
    # No area, one position three times, and what a level has lost.
    bad = np.array([[last, last + 1, last + 2], [last + 3] * 3, [0, 0, 1]])
    source = meshes.TriangleMesh(points, np.concatenate([mesh.triangles, bad]).astype(np.uint32))
    for triangles in (coarse(mesh, 0.2), bad[:1], np.concatenate([coarse(mesh, 0.2), bad])):
        fit = refit(source, np.asarray(triangles))
        assert np.isfinite(fit.positions).all() and np.isfinite(fit.values(points)).all()


def test_two_sides_of_one_sheet_do_not_mix() -> None:
    """Points are put on what faces them, so that a thin plate is not pulled flat."""
    top = sheet(17)
    under = top.positions + np.array([0, 0, -0.01], np.float32)
    positions = np.concatenate([top.positions, under])
    triangles = np.concatenate([top.triangles, top.triangles[:, ::-1] + np.uint32(len(under))])
    mesh = meshes.TriangleMesh(positions, np.ascontiguousarray(triangles))
    level = coarse(top, 0.3)
    fit = refit(mesh, np.concatenate([level, level[:, ::-1] + np.uint32(len(under))]))
    half = len(fit.positions) // 2
    assert np.abs(fit.positions[:half] - fit.positions[half:] - [0, 0, 0.01]).max() < 0.005


def test_coordinates_lead_nowhere_far_from_those_around() -> None:
    """A ball with a seam, of which a level has few and long triangles: some have few points at one corner."""
    high, round_ = np.meshgrid(np.linspace(0, 1, 16), np.linspace(0, 1, 21), indexing="ij")
    uv = np.column_stack([round_.reshape(-1), high.reshape(-1)]).astype(np.float32)
    turn, lean = 2 * np.pi * uv[:, 0], np.pi * uv[:, 1]
    size = 1 + 0.2 * np.sin(3 * lean) * np.cos(np.round(turn, 5))
    around = np.sin(lean) * size
    positions = np.column_stack([around * np.cos(turn), around * np.sin(turn), size * np.cos(lean)]).astype(np.float32)
    positions[uv[:, 0] == 1] = positions[uv[:, 0] == 0]
    corner = (np.arange(15)[:, None] * 21 + np.arange(20)).reshape(-1)
    steps = np.array([[0, 21, 1], [1, 21, 22]])
    triangles = (corner[:, None, None] + steps).reshape(-1, 3).astype(np.uint32)
    mesh = meshes.TriangleMesh(positions, triangles, meshes.VertexAttributes(uv=uv))
    for share in np.linspace(0.05, 0.6, 45).tolist():
        found = refit(mesh, coarse(mesh, share)).values(uv)
        assert found.min() >= -1 and found.max() <= 2
