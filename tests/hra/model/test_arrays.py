"""Arrays at the border: what is read, what is refused, and that nothing is aliased."""

from __future__ import annotations

import io
import subprocess
import sys
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.errors import ArrayError, HraError
from hra.model.arrays import (
    ReadOnlyArrays,
    frozen,
    group,
    indices,
    number_in,
    numbers,
    offsets_of,
    own,
    to_numpy,
    whole_in,
)


@pytest.mark.parametrize("values", [[1, 2], (1, 2), np.array([1, 2], np.float16), range(1, 3), np.array([1, 2], ">i4")])
def test_numbers_become_a_fresh_float64_vector(values):
    vector = numbers("cost", values)
    assert vector.dtype == np.float64
    assert vector.tolist() == [1, 2]
    assert vector is not values


def test_numbers_are_copied_even_where_the_type_fits():
    values = np.array([1.0, 2])
    vector = numbers("cost", values)
    values[0] = 9
    assert vector.tolist() == [1, 2]


@pytest.mark.parametrize(
    "values",
    [[[1, 2]], 5, "12", ["1", "2"], [1 + 2j], [True, False], [None, 1], [[1], [1, 2]], {"a": 1}, None, {1, 2}],
    ids=repr,
)
def test_what_is_no_vector_of_numbers_is_refused(values):
    with pytest.raises(ArrayError):
        numbers("cost", values)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_named_by_index(bad):
    with pytest.raises(ArrayError) as caught:
        numbers("cost", [1, 2, bad, bad])
    assert caught.value.where == "cost[2]"


def test_a_wrong_length_names_both():
    with pytest.raises(ArrayError, match="cost has 2 values, expected 3"):
        numbers("cost", [1, 2], 3)
    with pytest.raises(ArrayError, match="parent has 2 values, expected 3"):
        indices("parent", [1, 2], 0, 5, 3)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64, ">i2"])
def test_indices_become_int32(dtype):
    vector = indices("parent", np.array([0, 3], dtype), -1, 4)
    assert vector.dtype == np.int32
    assert vector.tolist() == [0, 3]


def test_bytes_are_in_the_order_of_this_machine():
    for values in (np.arange(3, dtype=">f4"), np.arange(3, dtype="<i8"), np.arange(3, dtype=">u2")):
        assert to_numpy(values).dtype.isnative and to_numpy(values).tolist() == [0, 1, 2]


def test_indices_beyond_int32_do_not_wrap():
    assert indices("keys", [1, 2**32 + 1], 0, 2**62).tolist() == [1, 2**32 + 1]


@pytest.mark.parametrize("bad", [-2, 4, 2**31, 2**32, 2**62])
def test_an_index_out_of_range_is_named_and_never_wraps(bad):
    with pytest.raises(ArrayError, match=r"parent\[1\]") as caught:
        indices("parent", np.array([0, bad], np.int64), -1, 4)
    assert caught.value.fix == "use -1 .. 3"
    if bad == 2**62:
        with pytest.raises(ArrayError):
            indices("parent", np.array([0, 2**64 - 1], np.uint64), -1, 4)


@pytest.mark.parametrize("values", [[True, False], [[0, 1]], 3, ["0"]], ids=repr)
def test_what_is_no_vector_of_integers_is_refused(values):
    with pytest.raises(ArrayError, match="vector of integers"):
        indices("parent", values, -1, 4)


def test_nothing_is_a_vector_of_indices():
    assert indices("parent", [], -1, 0).dtype == np.int32


def test_object_arrays_are_refused_wherever_they_come_from():
    for values in (np.array([None, 1]), [None, 1], [object()]):
        with pytest.raises(ArrayError, match="object"):
            to_numpy(values)


class Exported:
    """An array of another library that only speaks DLPack."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self, **keywords: object) -> object:
        return self.array.__dlpack__(**keywords)  # pyright: ignore[reportArgumentType]

    def __dlpack_device__(self) -> object:
        return self.array.__dlpack_device__()


def test_arrays_of_other_libraries_come_in_by_dlpack():
    assert to_numpy(Exported(np.array([1.0, 2]))).tolist() == [1, 2]


@pytest.mark.parametrize("dtype", ["float32", "int64", "float16", "bfloat16"])
def test_torch_tensors_come_in(dtype):
    torch = pytest.importorskip("torch")
    tensor = torch.tensor([1, 2]).to(getattr(torch, dtype))
    assert numbers("cost", tensor).tolist() == [1, 2]
    assert tensor.tolist() == [1, 2]


def test_frozen_is_in_place():
    array = np.zeros(2)
    assert frozen(array) is array
    assert not array.flags.writeable


def test_a_kept_array_is_a_copy_unless_nobody_may_write_to_it():
    array = np.zeros(2)
    kept = own(array)
    array[:] = 1
    assert kept.tolist() == [0, 0] and not kept.flags.writeable and array.flags.writeable
    assert own(kept) is kept


@given(keys=st.lists(st.integers(-1, 5), max_size=20))
def test_group_lists_the_positions_of_every_key(keys):
    offsets, order = group(np.array(keys, np.int32), 6)
    assert offsets.dtype == order.dtype == np.int32
    found = [order[a:b].tolist() for a, b in pairwise(offsets)]
    assert found == [[i for i, k in enumerate(keys) if k == key] for key in range(6)]


@given(counts=st.lists(st.integers(0, 5), max_size=20))
def test_offsets_are_running_sums(counts):
    assert offsets_of(np.array(counts, int)).tolist() == [sum(counts[:i]) for i in range(len(counts) + 1)]


class TestWhatLooksLikeAnArray:
    """Masked, sparse, meta, conjugate and quantized data: unwrapped right, or refused."""

    def test_masked_elements_are_refused_and_unmasked_arrays_unwrapped(self):
        with pytest.raises(ArrayError, match="1 of the 3 elements are masked") as caught:
            numbers("cost", np.ma.array([1.0, np.nan, 3.0], mask=[False, True, False]))
        assert caught.value.where == "element 1" and caught.value.fix
        plain = to_numpy(np.ma.array([1.0, 2.0]))
        assert type(plain) is np.ndarray and plain.tolist() == [1, 2]

    def test_masked_arrays_are_not_imported_to_find_that_there_are_none(self):
        code = (
            "import sys, numpy as np\n"
            "from hra.domains.meshes.mesh.attributes import VertexAttributes\n"
            "VertexAttributes(uv=np.zeros((3, 2), np.float32)); print('numpy.ma' in sys.modules)"
        )
        assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"

    def test_a_masked_cost_does_not_reach_a_hierarchy(self):
        import hra

        with pytest.raises(ArrayError, match="masked"):
            hra.Hierarchy.tree([-1, 0, 0], np.ma.array([1.0, np.nan, 1.0], mask=[False, True, False]))

    @pytest.mark.parametrize("kind", ["coo_array", "csr_array", "dia_matrix", "dok_array"])
    def test_sparse_arrays_of_scipy_are_refused(self, kind: str):
        sparse = pytest.importorskip("scipy.sparse")
        with pytest.raises(ArrayError, match="sparse"):
            to_numpy(getattr(sparse, kind)(np.eye(2)))

    def test_sparse_nested_masked_and_meta_tensors_are_refused(self):
        torch = pytest.importorskip("torch")
        tensors = {
            "sparse_coo": torch.eye(2).to_sparse(),
            "sparse_csr": torch.eye(2).to_sparse_csr(),
            "nested": torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]),
            "masked": torch.masked.masked_tensor(torch.ones(2), torch.tensor([True, False])),
            "meta": torch.empty(2, device="meta"),
        }
        for kind, tensor in tensors.items():
            with pytest.raises(ArrayError, match=kind) as caught:
                numbers("values", tensor)
            assert caught.value.where and caught.value.fix

    def test_conjugate_negated_and_quantized_tensors_are_what_they_stand_for(self):
        torch = pytest.importorskip("torch")
        conjugate = torch.tensor([1 + 2j]).conj()
        assert to_numpy(conjugate).tolist() == [1 - 2j]
        assert to_numpy(conjugate.imag).tolist() == [-2]
        quantized = torch.quantize_per_tensor(torch.tensor([1.0, 2.5]), 0.5, 0, torch.quint8)
        assert numbers("values", quantized).tolist() == [1, 2.5]
        small = torch.tensor([1.5, -2.0])
        assert to_numpy(small.to(torch.float8_e4m3fn)).tolist() == [1.5, -2]
        assert to_numpy(torch.nn.Parameter(small)).tolist() == [1.5, -2]


def test_arrays_stay_read_only_in_pickled_copies():
    import copy
    import pickle

    for clone in (copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))):
        held = clone(Held(frozen(np.arange(3)), {"a": (frozen(np.ones(2)), 5)}))
        assert not held.array.flags.writeable
        assert not held.more["a"][0].flags.writeable
        assert held.more["a"][1] == 5


@dataclass(frozen=True, eq=False)
class Held(ReadOnlyArrays):
    array: np.ndarray
    more: dict


def test_a_number_is_within_its_ends_or_refused():
    for value in (0, 1.0, np.float32(0.5)):
        assert number_in("share", value, 0, 1, ArrayError) is value
    for value, ends in ((np.nan, True), (1.5, True), ("1", True), (None, True), (True, True), (0, False), (1, False)):
        with pytest.raises(ArrayError, match="share must be a number"):
            number_in("share", value, 0, 1, ArrayError, ends=ends)
    with pytest.raises(ArrayError, match="below inf"):
        number_in("weight", np.inf, 0, np.inf, ArrayError, ends=False)


@pytest.mark.parametrize("stream", [io.BytesIO(b"123"), io.StringIO("123")], ids=lambda stream: type(stream).__name__)
def test_streams_are_no_tensors_and_stay_open(stream):
    with pytest.raises(ArrayError, match="Python objects"):
        to_numpy(stream)
    assert stream.read()


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (-1, "of 0 or more, got -1"),
        (2**63, "from 0 to 9223372036854775806, got 'a larger one'"),
        (-(2**70), "of 0 or more, got 'a smaller one'"),
    ],
)
def test_whole_numbers_beyond_an_end_hear_which_end_it_is(value, said):
    with pytest.raises(HraError, match=said):
        whole_in("count", value)
