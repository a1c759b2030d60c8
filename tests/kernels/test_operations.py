"""Every cell of the table of operations and backends: the reference's answer, or a refusal by name."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hra.errors import ArrayError
from hra.kernels.cut import hull_points, price_search
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


@dataclass(frozen=True, eq=False)
class Watched(Input):
    """Notes which arrays of floats an operation takes, and whether NaN is among them."""

    floats: list[bool] = field(default_factory=list)

    def send(self, array: np.ndarray) -> Any:
        if array.dtype.kind == "f":
            self.floats.append(bool(np.isnan(array).any()))
        return super().send(array)


def images(dtype: type, *, holes: bool = False) -> np.ndarray:
    values = np.random.default_rng(3).random((2, 9, 14, 3)).astype(np.float32)
    if holes:
        values[1, 2, 3, 0] = values[0, 8, 13] = np.nan
    return (255 * values if dtype is np.uint8 else 2 * values - 1).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize(("operation", "backend"), CELLS)
def test_nan_reaches_what_it_reaches_in_the_reference_or_is_refused_by_name(operation, backend, dtype):
    # Whatever floats an operation takes, in the image or beside it: a new one cannot be forgotten here.
    given = Watched(images(dtype, holes=True), holes=True)
    cell = run_cell(operation, given, backend)
    assert cell.state == "ok" or (cell.state == "refused" and cell.reason), cell.reason
    assert any(given.floats) == bool(given.floats)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.uint8])
@pytest.mark.parametrize(("operation", "backend"), CELLS)
def test_nothing_gives_nothing_or_is_refused_by_name(operation, backend, dtype):
    image = images(dtype)
    for part in (image, image[:0], image[:, :0], image[:, :, :0], image[..., :0]):
        cell = run_cell(operation, Input(part, empty=True), backend)
        assert cell.state == "ok" or (cell.state == "refused" and cell.reason), (part.shape, cell.reason)


@pytest.mark.parametrize("backend", ["reference", "warp"])
@pytest.mark.parametrize("bad", [np.nan, -1.0, np.inf])
@pytest.mark.parametrize("choose", [price_search, hull_points])
def test_a_gain_or_capacity_that_is_none_is_refused(choose, bad, backend):
    forest, gain, limit = Input(images(np.float32)).forest(), np.ones((2, 15), np.float32), np.full(2, 9.0)
    extra = [np.ones(15)] if choose is hull_points else []
    gain[1, 4] = bad
    with pytest.raises(ArrayError, match="a gain is negative, infinite or not a number"):
        choose(forest, gain, limit, *extra, backend=backend)
    gain[1, 4], limit[0] = 1, bad
    if bad == np.inf:
        assert choose(forest, gain, limit, *extra, backend=backend).selected[0].all()
    else:
        with pytest.raises(ArrayError, match="a capacity is negative or not a number"):
            choose(forest, gain, limit, *extra, backend=backend)


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
