from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.errors import HraError, LimitExceeded, OutOfMemory
from hra.files.limits import Limits, enough_memory

SIZES = st.integers(0, 10**4)


@given(st.integers(1, 10**4), SIZES)
def test_a_limit_is_kept_to_the_unit(limit: int, amount: int):
    limits = Limits(vertices=limit)
    if amount <= limit:
        limits.check("vertices", amount, "a.obj")
        return
    with pytest.raises(LimitExceeded, match=f"{amount:,} vertices, more than the limit of {limit:,}") as caught:
        limits.check("vertices", amount, "a.obj")
    assert caught.value.where == "a.obj"


@given(SIZES, st.integers(1, 100), st.integers(1, 9), SIZES, SIZES, st.integers(1, 9))
def test_memory_grows_with_the_files(needed: int, fixed: int, per_byte: int, size: int, plain: int, ratio: int):
    limits = Limits(memory_bytes=fixed, memory_per_byte=per_byte, archive_ratio=ratio)
    for more in (0, plain):
        try:
            limits.check_memory(needed, size, "a.glb", more)
            kept = True
        except LimitExceeded:
            kept = False
        assert kept == (needed <= fixed + per_byte * (size + min(more, ratio * size)))


@pytest.mark.parametrize("value", [0, -1, 1.5, "1", True, None])
def test_a_limit_is_a_whole_number_above_0(value):
    with pytest.raises(HraError, match="pixels"):
        Limits(pixels=value)


def test_memory_that_is_not_there_names_what_asked():
    with pytest.raises(OutOfMemory, match="the mesh"), enough_memory("the mesh", "a.ply"):
        raise MemoryError
