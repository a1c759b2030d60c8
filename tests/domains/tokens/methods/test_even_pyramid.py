from __future__ import annotations

import numpy as np

from hra.domains import tokens


def test_no_question_changes_it_and_it_leaves_less_error_than_one_that_looks_elsewhere(smooth_noise):
    image = smooth_noise(128, 160)
    even = tokens.EvenPyramid()
    plain, other = (even.allocate((image, query), 30).cut for query in ("", "what is at the top left?"))
    np.testing.assert_array_equal(plain, other)
    asked = tokens.PyramidSampling().allocate((image, "what is at the top left?"), 30)
    shown = [
        each.reconstruct()
        for each in (even.realize(even.allocate((image, ""), 30)), tokens.PyramidSampling().realize(asked))
    ]
    errors = [np.mean((each - image) ** 2) for each in shown]
    assert errors[0] < errors[1]
