"""Positions are brought near 1 without rounding."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.meshes.building.geometry import Geometry, exactly_scaled
from tests.helpers.seamed_meshes import globe

_NUMBERS = st.builds(lambda digits, power: digits * 2.0**power, st.integers(-(2**24), 2**24), st.integers(-30, 30))


@given(st.lists(st.tuples(_NUMBERS, _NUMBERS, _NUMBERS), min_size=2, max_size=8), _NUMBERS)
def test_differences_are_exact(points: list[tuple[float, float, float]], far: float) -> None:
    positions = np.array(points, np.float32) + np.float32(far)
    unit, scale = exactly_scaled(positions)
    assert unit.dtype == np.float32
    assert np.abs(unit).max() <= 2
    assert np.log2(scale) == round(np.log2(scale))
    for axis in range(3):
        for a, b in zip(range(len(positions)), range(1, len(positions)), strict=False):
            ours = (Fraction(float(unit[b, axis])) - Fraction(float(unit[a, axis]))) * Fraction(scale)
            assert ours == Fraction(float(positions[b, axis])) - Fraction(float(positions[a, axis]))


def test_rounding_to_a_unit_cube_would_merge_vertices() -> None:
    # The two vertices near the origin differ by less than a float32 step at their place in the unit cube.
    positions = np.array([[-1, 0, 0], [1, 0, 0], [0, 1e-9, 0], [0, 2e-9, 0], [0, -1, 0], [0, 1, 0]], np.float32)
    low = positions.min(axis=0).astype(np.float64)
    rounded = ((positions - low) / 2).astype(np.float32)
    assert (rounded[2] == rounded[3]).all()
    unit, _ = exactly_scaled(positions)
    assert (unit[2] != unit[3]).any()


def test_locks_hold_for_all_wedges() -> None:
    mesh = globe()
    geometry = Geometry.of(mesh.positions, mesh.attributes)
    vertices = np.arange(len(mesh.positions))
    assert np.array_equal(geometry.by_position(vertices), mesh.position_of)
    locked = np.zeros(len(vertices), np.uint8)
    locked[mesh.position_of[::5]] = 1
    everywhere = geometry.for_all_wedges(locked)
    for v in np.flatnonzero(everywhere)[:50]:
        assert everywhere[(mesh.positions == mesh.positions[v]).all(axis=1)].all()
    assert geometry.for_all_wedges(locked).sum() > locked.sum()
