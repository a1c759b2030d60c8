"""Halves to and from float32, bit for bit as NumPy has it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hra.kernels.pyramids.levels.numba_backend import HalfCodec

ALL = np.arange(2**16, dtype=np.uint16).view(np.float16).reshape(2, 8, -1)


def encoded(values: np.ndarray) -> np.ndarray:
    found = np.empty(values.shape, np.float16)
    HalfCodec().encode(values.copy(), found)
    return found


def test_every_half_is_its_value_and_comes_back():
    values = HalfCodec().decode(ALL)
    np.testing.assert_array_equal(values, ALL.astype(np.float32))
    assert np.array_equal(np.signbit(values), np.signbit(ALL))
    back, numbers = encoded(values), ~np.isnan(ALL)
    assert np.array_equal(back.view(np.uint16)[numbers], ALL.view(np.uint16)[numbers])
    assert np.isnan(back[~numbers]).all()


def test_what_lies_between_halves_is_rounded_to_the_nearest_and_ties_to_even():
    finite = np.sort(ALL[np.isfinite(ALL)]).astype(np.float32)
    middle = (finite[1:] + finite[:-1]) / 2
    for values in (middle, *(np.nextafter(middle, np.float32(end)) for end in (np.inf, -np.inf))):
        row = values[None, None]
        np.testing.assert_array_equal(encoded(row).view(np.uint16), row.astype(np.float16).view(np.uint16))


@given(st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=30))
def test_any_float_is_rounded_as_by_numpy(numbers):
    row = np.array(numbers, np.float32)[None, None]
    with np.errstate(over="ignore"):
        expected = row.astype(np.float16)
    np.testing.assert_array_equal(encoded(row).view(np.uint16), expected.view(np.uint16))
