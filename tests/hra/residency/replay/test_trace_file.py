from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.errors import FileError, LimitExceeded
from hra.files.limits import Limits
from hra.residency import Trace, load_trace, save_trace
from hra.residency.replay.trace_file import _TYPES

PAGE = Path(__file__).parents[4] / "docs/trace-format.md"


@pytest.fixture
def members(tmp_path: Path, random_trace: Callable[..., Trace]) -> dict[str, bytes]:
    """What a good file holds."""
    save_trace(tmp_path / "good.npz", random_trace(0, parents=True))
    with zipfile.ZipFile(tmp_path / "good.npz") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path: Path, members: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


@given(seed=st.integers(0, 10**6), parents=st.booleans())
def test_a_trace_comes_back(
    tmp_path_factory: pytest.TempPathFactory, random_trace: Callable[..., Trace], seed: int, parents: bool
):
    path = tmp_path_factory.mktemp("trace") / "t.npz"
    trace = random_trace(seed, parents=parents, largest=9)
    save_trace(path, trace)
    again = load_trace(path)
    for name in _TYPES:
        before, after = getattr(trace, name), getattr(again, name)
        assert (before is None) == (after is None)
        assert before is None or np.array_equal(before, np.asarray(after))
    content = path.read_bytes()
    save_trace(path, again)
    assert path.read_bytes() == content


def test_numpy_reads_the_arrays(tmp_path: Path, random_trace: Callable[..., Trace]):
    trace = random_trace(1)
    save_trace(tmp_path / "t.npz", trace)
    with np.load(tmp_path / "t.npz") as arrays:
        assert np.array_equal(arrays["demands"], trace.demands)
        assert json.loads(arrays["header.json"])["format"] == "hra-trace"


def test_the_page_describes_every_array():
    described = dict(re.findall(r"^\| `(\w+)` \| `([<\w]+)` \|", PAGE.read_text(), re.MULTILINE))
    assert described == _TYPES


@pytest.mark.case(23)
def test_every_truncation_is_refused(tmp_path: Path, members: dict[str, bytes]):
    content = write(tmp_path / "t.npz", members).read_bytes()
    for length in range(0, len(content), 37):
        (tmp_path / "t.npz").write_bytes(content[:length])
        with pytest.raises(FileError):
            load_trace(tmp_path / "t.npz")


@pytest.mark.case(38)
@given(position=st.integers(0, 10**6), value=st.integers(0, 255))
def test_a_changed_byte_is_refused_or_harmless(
    tmp_path_factory: pytest.TempPathFactory, random_trace: Callable[..., Trace], position: int, value: int
):
    path = tmp_path_factory.mktemp("trace") / "t.npz"
    save_trace(path, random_trace(2, parents=True))
    content = bytearray(path.read_bytes())
    content[position % len(content)] = value
    path.write_bytes(bytes(content))
    try:
        assert len(load_trace(path)) == 30
    except FileError as error:
        assert str(path) in error.where


HEADERS: dict[str, Any] = {
    "no header": None,
    "no JSON": b"{",
    "deep JSON": b"[" * 100_000,
    "no object": b"[]",
    "other format": {"format": "other"},
    "unknown version": {"version": 2},
    "no arrays": {"arrays": []},
    "missing array": {"arrays": {"frames": 31, "cost": 24}},
    "unknown array": {"arrays": {"frames": 31, "demands": 9, "cost": 24, "more": 1}},
    "longer than it is": {"arrays": {"frames": 31, "demands": 10**12, "cost": 24}},
    "negative length": {"arrays": {"frames": 31, "demands": -1, "cost": 24}},
    "fractional length": {"arrays": {"frames": 31, "demands": 1.5, "cost": 24}},
    "true for a length": {"arrays": {"frames": True, "demands": 1, "cost": 24}},
}


@pytest.mark.case(24, 37)
@pytest.mark.parametrize("change", HEADERS.values(), ids=HEADERS.keys())
def test_lying_headers_are_refused(tmp_path: Path, members: dict[str, bytes], change: Any):
    header = json.loads(members.pop("header.json"))
    if isinstance(change, dict):
        members["header.json"] = json.dumps(header | change).encode()
    elif change is not None:
        members["header.json"] = change
    with pytest.raises(FileError):
        load_trace(write(tmp_path / "t.npz", members))


@pytest.mark.case(36)
def test_a_pickled_array_is_refused(tmp_path: Path, members: dict[str, bytes]):
    harmful = npy(np.array([{"a": 1}], object))
    header = json.loads(members["header.json"])
    header["arrays"]["weights"] = (len(harmful) - 128) // 8
    members |= {"weights.npy": harmful, "header.json": json.dumps(header).encode()}
    with pytest.raises(FileError):
        load_trace(write(tmp_path / "t.npz", members))


def test_another_type_of_the_same_size_is_refused(tmp_path: Path, members: dict[str, bytes]):
    cost = np.load(io.BytesIO(members["cost.npy"]))
    members["cost.npy"] = npy(cost.astype(np.float64))
    with pytest.raises(FileError):
        load_trace(write(tmp_path / "t.npz", members))


def test_arrays_that_are_no_trace_are_refused(tmp_path: Path, members: dict[str, bytes]):
    demands = np.load(io.BytesIO(members["demands.npy"]))
    members["demands.npy"] = npy(np.full_like(demands, 10**6))
    with pytest.raises(FileError) as error:
        load_trace(write(tmp_path / "t.npz", members))
    assert "demands[0]" in error.value.where


@pytest.mark.case(26)
def test_a_bomb_is_refused_before_it_is_read(tmp_path: Path, members: dict[str, bytes]):
    header = json.loads(members["header.json"])
    header["arrays"]["weights"] = 10**6
    members |= {"weights.npy": npy(np.zeros(10**6)), "header.json": json.dumps(header).encode()}
    with pytest.raises(FileError, match="claim"):
        load_trace(write(tmp_path / "t.npz", members, zipfile.ZIP_DEFLATED))


@pytest.mark.case(34)
@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04" + b"\0" * 100])
def test_other_files_are_refused(tmp_path: Path, content: bytes):
    (tmp_path / "t.npz").write_bytes(content)
    with pytest.raises(FileError):
        load_trace(tmp_path / "t.npz")


def test_missing_files_and_folders_are_refused(tmp_path: Path, random_trace: Callable[..., Trace]):
    for path in (tmp_path / "no.npz", tmp_path):
        with pytest.raises(FileError):
            load_trace(path)
    with pytest.raises(FileError):
        save_trace(tmp_path / "no" / "t.npz", random_trace(0))


@pytest.mark.parametrize("name", ["file_bytes", "header_bytes", "json_values", "json_depth"])
def test_limits_are_the_callers(tmp_path: Path, random_trace: Callable[..., Trace], name: str):
    save_trace(tmp_path / "t.npz", random_trace(0))
    with pytest.raises(LimitExceeded, match=name.replace("_", " ")):
        load_trace(tmp_path / "t.npz", limits=Limits(**{name: 1}))


@pytest.mark.parametrize("weights", [None, [1.0, 2.0]])
@pytest.mark.parametrize("parents", [None, [-1, 0]])
def test_what_a_trace_may_lack_may_be_there(tmp_path: Path, weights: Any, parents: Any):
    plain = map(np.array, ([0, 2], [0, 1], [3, 4]))
    save_trace(tmp_path / "t.npz", replace(Trace(*plain), weights=weights, parents=parents))
    back = load_trace(tmp_path / "t.npz")
    assert (back.weights is None, back.parents is None) == (weights is None, parents is None)
