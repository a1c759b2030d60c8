from __future__ import annotations

import pickle

import numpy as np
import pytest

import hra


def test_a_copy_says_the_same_and_cannot_be_written_to():
    solution = hra.Solution(np.array([True, False]), price=1.5, share=np.array([0.25]))
    copy = pickle.loads(pickle.dumps(solution))
    assert (copy.selected.tolist(), copy.price, copy.share.tolist()) == ([True, False], 1.5, [0.25])
    with pytest.raises(ValueError, match="read-only"):
        copy.selected[0] = False


def test_what_a_traversal_must_return_is_named():
    class Mask(hra.Traversal):
        def select(self, problem):  # pyright: ignore[reportIncompatibleMethodOverride]
            return problem.gain > 0

    with pytest.raises(hra.HraError, match="Solution"):
        hra.solve(hra.Hierarchy.flat([1, 1]), budget=1, gains=[1.0, 2.0], traversal=Mask())
