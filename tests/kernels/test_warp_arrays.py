"""Devices without enough memory for an array of theirs, and what Warp compiles."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import numpy as np
import pytest

from hra import kernels
from hra.errors import OutOfMemory

wp = pytest.importorskip("warp")
from hra.kernels import warp_arrays  # noqa: E402


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


def _generic_kernels() -> list[Any]:
    """All kernels of the library that take any type."""
    names = [one.name for one in pkgutil.walk_packages(kernels.__path__, f"{kernels.__name__}.") if "warp" in one.name]
    found = [one for name in names for one in vars(importlib.import_module(name)).values()]
    return [one for one in found if isinstance(one, wp.Kernel) and one.is_generic]


def test_every_kernel_of_any_type_names_the_types_that_it_is_for() -> None:
    """Otherwise Warp compiles its module again for every type that comes."""
    found = _generic_kernels()
    assert len(found) > 15
    assert not [one.key for one in found if not one.overloads]


@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.float32])
def test_a_type_that_comes_later_adds_nothing_to_compile(dtype: type) -> None:
    before = {id(one): len(one.overloads) for one in _generic_kernels()}
    image = np.ones((6, 5, 3), dtype)
    for reduce in ("max", "mean", "srgb_mean"):
        kernels.build_pyramid(image, reduce=reduce, backend="warp")
    assert {id(one): len(one.overloads) for one in _generic_kernels()} == before
