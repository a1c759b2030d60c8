from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hra.solvers.picking.determinant import Determinant
from tests.helpers.traversals import cut_of


def plain_determinant(kernel: np.ndarray, count: int) -> list[int]:
    """One by one, what enlarges the determinant most."""
    chosen: list[int] = []
    for _ in range(count):
        left = [i for i in range(len(kernel)) if i not in chosen]
        chosen.append(max(left, key=lambda i: np.linalg.det(kernel[np.ix_([*chosen, i], [*chosen, i])])))
    return sorted(chosen)


@given(st.integers(2, 12), st.integers(0, 2**31), st.data())
@settings(max_examples=60)
def test_the_determinant_is_that_of_the_definition(size, seed, data):
    rng = np.random.default_rng(seed)
    vectors, gains = rng.normal(size=(size, 16)), rng.uniform(0.2, 1, size)
    count = data.draw(st.integers(1, size))
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True) * gains[:, None]
    assert cut_of([(1, Determinant())], count, gains, features=vectors) == plain_determinant(unit @ unit.T, count)


def test_the_determinant_by_hand():
    # Two alike and relevant, one other: the second of the pair adds nothing, so the other comes before it.
    vectors = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert cut_of([(1, Determinant())], 2, [1.0, 0.9, 0.3], features=vectors) == [0, 2]
    assert cut_of([(1, Determinant())], 3, [1.0, 0.9, 0.3], features=vectors) == [0, 1, 2]
