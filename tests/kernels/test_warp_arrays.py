"""Devices without enough memory for an array of theirs."""

from __future__ import annotations

import pytest

from hra.errors import OutOfMemory

pytest.importorskip("warp")
from hra.kernels import warp_arrays


@pytest.mark.case(92)
@pytest.mark.parametrize("make", [warp_arrays.new, warp_arrays.zeros])
def test_a_device_without_memory_is_a_typed_error(make) -> None:
    # No machine has 2**56 bytes; Warp allocates on the host as it does on CUDA devices, and fails alike.
    with pytest.raises(OutOfMemory, match="too little memory") as error:
        make((2**28, 2**26), warp_arrays.wp.float32, "cpu")
    assert "cpu" in error.value.where and "host" in error.value.fix


def test_other_failures_of_the_library_are_not_called_memory() -> None:
    with pytest.raises(Exception) as error:
        warp_arrays.new(4, warp_arrays.wp.float32, "cuda:7")
    assert not isinstance(error.value, OutOfMemory)
