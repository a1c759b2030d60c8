"""Every cell of the table of operations and backends: the reference's answer, or a refusal by name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hra.kernels.operations import BACKENDS, OPERATIONS, Input, Operation, run_cell
from hra.kernels.trees import Tree
from tests.helpers.scripts import ROOT

ROWS = [
    [cell.strip() for cell in line.strip("| ").split(" | ")]
    for line in (ROOT / "docs/kernels.md").read_text("utf-8").partition("<!-- operations -->")[2].splitlines()
    if line.startswith("| ")
]
TABLE = {row[0]: dict(zip(BACKENDS, row[1:], strict=True)) for row in ROWS if len(row) == 1 + len(BACKENDS)}
CELLS = [
    pytest.param(operation, backend, id=f"{operation.name}-{backend}", marks=[pytest.mark.gl] * (backend == "gl"))
    for operation in OPERATIONS
    for backend in BACKENDS[1:]
]


def test_the_table_has_every_operation_and_no_other():
    assert [name for name in TABLE if name not in ("operation", "---")] == [one.name for one in OPERATIONS]


@pytest.mark.parametrize(("operation", "backend"), CELLS)
@settings(max_examples=6, deadline=None)
@given(
    shape=st.tuples(st.integers(1, 3), st.integers(1, 33), st.integers(1, 33), st.integers(1, 4)),
    dtype=st.sampled_from([np.float32, np.float16, np.uint8]),
    seed=st.integers(0, 99),
)
def test_each_cell_is_the_reference_or_a_refusal(operation: Operation, backend: str, shape, dtype, seed):
    values = np.random.default_rng(seed).random(shape, np.float32)
    image = (values * 255).astype(dtype) if dtype is np.uint8 else (2 * values - 1).astype(dtype)
    cell = run_cell(operation, Input(image, seed=seed), backend)
    # OpenGL pyramids lack float16.
    lacks = backend == "gl" and dtype is np.float16 and operation.name.startswith(("build_pyramid", "rect_"))
    assert cell.state == ("refused" if TABLE[operation.name][backend] == "-" or lacks else "ok"), cell.reason
    assert cell.reason or cell.state == "ok"


@pytest.mark.parametrize(("operation", "backend"), [one for one in CELLS if "pyramid" in str(one.id)])
def test_nan_reaches_what_it_reaches_in_the_reference(operation, backend):
    image = np.ones((2, 5, 6, 2), np.float32)
    image[1, 2, 3, 0] = np.nan
    assert run_cell(operation, Input(image), backend).state in ("ok", "refused")


def test_a_wrong_result_is_found():
    def off(given: Input, backend: str) -> list[np.ndarray]:
        return [given.image + (1e-3 if backend == "numba" else 0)]

    image = np.ones((1, 2, 2, 1), np.float32)
    assert run_cell(Operation("exact", off), Input(image), "numba").state == "wrong"
    assert run_cell(Operation("near", off, 2e-3), Input(image), "numba").state == "ok"
    shape = Operation("shape", lambda given, backend: [given.image[: 2 - (backend == "numba")]])
    assert "shapes" in run_cell(shape, Input(np.ones((2, 2, 2, 1), np.float32)), "numba").reason


class AsOnDevice(Input):
    """Arrays of Warp in the host's memory that go the way of a CUDA device's."""

    @property
    def on_host(self) -> bool:
        return False

    def move(self, held: Any) -> Any:
        if not isinstance(held, Tree):
            return held.to("cpu")
        # `Tree.to` gives NumPy arrays for the CPU.
        return replace(held, **{name: wp_of(part) for name, part in vars(held).items() if isinstance(part, np.ndarray)})


def wp_of(array: np.ndarray) -> Any:
    return pytest.importorskip("warp").array(array, device="cpu")


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_device_arrays_stay_and_no_more_than_counts_is_fetched(operation, dtype, monkeypatch):
    wp = pytest.importorskip("warp")
    monkeypatch.setattr(wp.array, "__dlpack_device__", lambda self: (2, 0))
    monkeypatch.setattr(wp, "from_dlpack", lambda array: array)
    for name in ("Stream", "synchronize", "synchronize_device", "synchronize_stream"):
        monkeypatch.setattr(wp, name, None)  # kernels use the caller's stream and wait for nothing
    image = (200 * np.random.default_rng(1).random((2, 33, 20, 3))).astype(dtype)
    given, fetched = AsOnDevice(image), []
    numpy = wp.array.numpy
    monkeypatch.setattr(wp.array, "numpy", lambda self: fetched.append(self.capacity) or numpy(self))
    found = operation.run(given, "warp")
    assert all(isinstance(array, wp.array) for array in found)
    assert sum(fetched) <= 64, fetched
    assert run_cell(operation, given, "warp").state == "ok"
