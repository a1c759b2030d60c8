"""Allocations in files: what comes back, and what is refused."""

from __future__ import annotations

import copy
import io
import json
import os
import pickle
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hra
from hra.allocating.allocation import Allocation
from hra.allocating.allocation_file import checksum
from hra.errors import FileError, HierarchyError, HraError, InvalidBudget, LimitExceeded
from hra.files.limits import DEFAULT, Limits
from hra.files.plain_arrays import save_plain
from tests.helpers.allocators import Plain, Table
from tests.helpers.claims import STATED, is_true, small
from tests.helpers.command import run_hra

pytestmark = pytest.mark.unverified
Arrays = dict[str, np.ndarray]


def saved(folder: Path, seed: int = 1) -> tuple[Allocation, Path]:
    rng = np.random.default_rng(seed)
    instance = small(rng)
    while len(instance.hierarchy) < 3:
        instance = small(rng)
    allocation = instance.allocate([hra.Hull(), hra.Exact(), hra.BestFirst(), hra.Threshold()][seed % 4])
    path = folder / "a.npz"
    allocation.save(path)
    return allocation, path


def contents(path: Path) -> tuple[dict[str, Any], Arrays]:
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    return json.loads(arrays.pop("header").tobytes()), arrays


def rewrite(path: Path, header: dict[str, Any], arrays: Arrays, *, sign: bool = True) -> None:
    """Write a changed file, with a checksum that fits if it is to ``sign``."""
    if sign:
        header = {**header, "checksum": checksum(header, arrays)}
    text = np.frombuffer(json.dumps(header, sort_keys=True).encode(), np.uint8)
    with path.open("wb") as file:
        save_plain(file, {"header": text, **arrays})


@pytest.mark.parametrize("seed", range(24))
def test_what_was_saved_comes_back_and_is_verified(tmp_path, seed):
    allocation, path = saved(tmp_path, seed)
    again = Allocation.load(path)
    assert [getattr(again, name) for name in STATED[:-1]] == [getattr(allocation, name) for name in STATED[:-1]]
    assert (again.status, again.budget, again.price, again.tau) == (
        allocation.status,
        allocation.budget,
        allocation.price,
        allocation.tau,
    )
    assert (again.selected == allocation.selected).all()
    assert (again.certificate.flow == allocation.certificate.flow).all()
    assert (again.problem.peak == allocation.problem.peak).all()
    assert repr(again) == repr(allocation)
    assert hra.verify(again).ok
    again.save(tmp_path / "b.npz")
    assert contents(tmp_path / "b.npz")[0] == contents(path)[0]


def test_files_of_the_first_version_are_read(tmp_path):
    allocation, path = saved(tmp_path)
    header, arrays = contents(path)
    rewrite(path, {**header, "version": 1}, arrays)
    assert repr(Allocation.load(path)) == repr(allocation)


def test_pickles_are_as_small_as_files_and_as_good(tmp_path):
    allocation, path = saved(tmp_path)
    heavy = Allocation(allocation.problem, allocation.solution, 0.0, context=np.ones(10**6))
    pickled = pickle.dumps(heavy)
    assert len(pickled) < path.stat().st_size + 1000
    again = pickle.loads(pickled)
    assert (repr(again), again.context) == (repr(allocation), None)
    assert hra.verify(again).ok
    assert copy.deepcopy(heavy).context is heavy.context


def test_another_process_goes_on_where_one_stopped(tmp_path):
    path = tmp_path / "first.npz"
    code = f"""
import hra
tree = hra.Hierarchy.tree([-1, 0, 0, 1, 1, 2, 2], [1] * 7)
hra.solve(tree, 2, errors=[8.0, 4.0, 3.0, 1.0, 1.0, 1.0, 1.0]).save({str(path)!r})
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    tree = hra.Hierarchy.tree([-1, 0, 0, 1, 1, 2, 2], [1] * 7)
    errors = [8.0, 4.0, 3.0, 1.0, 1.0, 1.0, 1.0]
    second = hra.solve(tree, 3, errors=errors, traversal=hra.Coherent(), previous=Allocation.load(path))
    assert second.churn == 1


def test_a_loaded_allocation_is_adopted_where_its_hierarchy_is(tmp_path):
    tree = hra.Hierarchy.tree([-1, 0, 0], [1, 1, 1], attributes={"error": [4.0, 1.0, 1.0]})
    other = hra.Hierarchy.tree([-1, 0, 0], [1, 1, 1], attributes={"error": [4.0, 1.0, 2.0]})
    mine, theirs = (Plain(hierarchy, Table([4, 1, 1]), hra.Hull()) for hierarchy in (tree, other))
    mine.allocate("somewhere", 2).save(tmp_path / "a.npz")
    found = mine.adopt(Allocation.load(tmp_path / "a.npz"), "somewhere")
    assert found.hierarchy is tree and found.context == "somewhere" and found.metric is mine.metric
    with pytest.raises(HierarchyError, match="another hierarchy"):
        theirs.adopt(found, "somewhere")


def test_sequences_and_pinned_nodes_come_back(tmp_path):
    instance = small(np.random.default_rng(5))
    first = instance.allocate(hra.Hull())
    allocation = Allocation(first.problem, first.solution, 0.0)
    allocation.save(tmp_path / "a.npz")
    assert Allocation.load(tmp_path / "a.npz").churn is None


def test_numeric_attributes_are_kept_and_others_left_out(tmp_path):
    nodes = hra.Hierarchy.flat([1.0, 2.0], attributes={"level": [3, 4], "name": ["a", "b"]})
    from tests.helpers.allocators import allocate

    allocate(nodes, [1.0, 1.0], 2, hra.Hull(), "gain").save(tmp_path / "a.npz")
    node = Allocation.load(tmp_path / "a.npz").hierarchy.node
    assert list(node) == ["level"]
    assert node["level"].tolist() == [3, 4]


HEADER: dict[str, Callable[[Any], Any]] = {
    "cost": lambda value: repr(float(value) + 1),
    "gain": lambda value: repr(float(value) + 1),
    "residual": lambda value: repr(float(value) + 1),
    "upper_bound": lambda value: repr(float(value) / 2 - 1),
    "shortfall": lambda value: repr(float(value) / 2 - 1),
    "budget": lambda value: repr(float(value) / 2),
    "least_error": lambda value: repr(float(value) + 1),
    "status": lambda value: "optimal" if value == "certified" else "certified",
    "certificate_unit": lambda value: ["-1", "1"],
}


@pytest.mark.parametrize("name", HEADER)
@pytest.mark.parametrize("sign", [True, False])
def test_forged_headers_are_refused_or_refuted(tmp_path, name, sign):
    refused = 0
    for seed in range(12):
        _, path = saved(tmp_path, seed)
        header, arrays = contents(path)
        rewrite(path, {**header, name: HEADER[name](header[name])}, arrays, sign=sign)
        try:
            forged = Allocation.load(path)
        except HraError:
            refused += 1
            continue
        assert sign
        assert is_true(forged) == hra.verify(forged).ok
        refused += not hra.verify(forged).ok
    assert refused == 12 or (sign and (refused >= 6 or name == "certificate_unit"))


@pytest.mark.case(38)
@pytest.mark.parametrize("name", ["node_cost", "gain", "selected", "edges", "added_by", "removed_by", "flow", "peak"])
def test_changed_arrays_do_not_match_the_checksum(tmp_path, name):
    for seed in range(12):
        _, path = saved(tmp_path, seed)
        header, arrays = contents(path)
        if not arrays[name].size:
            continue
        changed = arrays[name].copy().reshape(-1)
        changed[0] = not changed[0] if changed.dtype == bool else changed[0] + 1
        rewrite(path, header, {**arrays, name: changed.reshape(arrays[name].shape)}, sign=False)
        with pytest.raises(FileError, match="checksum"):
            Allocation.load(path)


BAD_ARRAYS: dict[str, Callable[[Arrays], Arrays]] = {
    "gain is missing": lambda a: {name: value for name, value in a.items() if name != "gain"},
    "gain of another dtype": lambda a: {**a, "gain": a["gain"].astype(np.float32)},
    "gain of another size": lambda a: {**a, "gain": a["gain"][1:]},
    "gain of another shape": lambda a: {**a, "gain": a["gain"][None]},
    "gain is negative": lambda a: {**a, "gain": a["gain"] - 100},
    "gain is not finite": lambda a: {**a, "gain": a["gain"] * np.nan},
    "costs are negative": lambda a: {**a, "node_cost": a["node_cost"] - 100},
    "costs are not finite": lambda a: {**a, "node_cost": a["node_cost"] + np.inf},
    "selected of another dtype": lambda a: {**a, "selected": a["selected"].astype(np.int8)},
    "selected of another size": lambda a: {**a, "selected": np.append(a["selected"], False)},
    "edges of another shape": lambda a: {**a, "edges": a["edges"].reshape(-1)},
    "edges out of range": lambda a: {**a, "edges": np.array([[0, 99]], np.int32)},
    "edges in a cycle": lambda a: {**a, "edges": np.array([[0, 1], [1, 0]], np.int32)},
    "edges backwards": lambda a: {**a, "edges": np.array([[1, 0]], np.int32)},
    "added by nobody": lambda a: {**a, "added_by": a["added_by"] - 5},
    "removed by nobody": lambda a: {**a, "removed_by": a["removed_by"] + 99},
    "parents of nobody": lambda a: {**a, "node_parent": np.full(a["node_cost"].size, 10**9, np.int32)},
    "parents in a cycle": lambda a: {**a, "node_parent": np.zeros(a["node_cost"].size, np.int32)},
    "flow of another size": lambda a: {**a, "flow": np.append(a["flow"], 1.0)},
    "an attribute of another size": lambda a: {**a, "node.x": np.zeros(99)},
    "pins of another size": lambda a: {**a, "pinned": np.zeros(99, np.bool_)},
}


@pytest.mark.parametrize("kind", BAD_ARRAYS)
def test_arrays_that_fit_nothing_are_refused(tmp_path, kind):
    for seed in (1, 2, 5):
        _, path = saved(tmp_path, seed)
        header, arrays = contents(path)
        rewrite(path, header, BAD_ARRAYS[kind](arrays))
        with pytest.raises(HraError) as refusal:
            Allocation.load(path)
        assert str(path) in str(refusal.value)


def test_a_chain_without_its_edge_is_refused(tmp_path):
    path = tmp_path / "a.npz"
    hra.solve(hra.Hierarchy.tree([-1, 0, 1], [1, 2, 3]), 3, errors=[8.0, 4.0, 1.0]).save(path)
    header, arrays = contents(path)
    assert arrays["edges"].tolist() == [[0, 1]]
    rewrite(path, header, {**arrays, "edges": arrays["edges"][:0], "flow": arrays["flow"][:0]})
    with pytest.raises(FileError, match="before it is added"):
        Allocation.load(path)


BAD_HEADERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a later version": lambda h: {**h, "version": 3},
    "an earlier version": lambda h: {**h, "version": 0},
    "another format": lambda h: {**h, "format": "hra-mesh"},
    "no budget": lambda h: {name: value for name, value in h.items() if name != "budget"},
    "a budget that is not a number": lambda h: {**h, "budget": "many"},
    "a budget that is NaN": lambda h: {**h, "budget": "nan"},
    "a negative budget": lambda h: {**h, "budget": "-1.0"},
    "an error that is NaN": lambda h: {**h, "least_error": "nan"},
    "no unit": lambda h: {**h, "certificate_unit": ["1", "0"]},
    "a unit of words": lambda h: {**h, "certificate_unit": ["one", "two"]},
    "a truth value that is text": lambda h: {**h, "additive": "False"},
    "a truth value that is a number": lambda h: {**h, "restricted": 0},
    "half a unit": lambda h: {**h, "certificate_unit": ["1"]},
    "a list": lambda h: [h],
    "nothing": lambda h: None,
}


@pytest.mark.case(37)
@pytest.mark.parametrize("kind", BAD_HEADERS)
def test_headers_that_say_nothing_are_refused(tmp_path, kind):
    _, path = saved(tmp_path)
    header, arrays = contents(path)
    changed = BAD_HEADERS[kind](header)
    if isinstance(changed, dict):
        rewrite(path, changed, arrays)
    else:
        rewrite(path, changed, arrays, sign=False)
    with pytest.raises(InvalidBudget if kind in ("a budget that is NaN", "a negative budget") else FileError):
        Allocation.load(path)


def _truncated(data: bytes) -> bytes:
    return data[: len(data) // 2]


def _pickled(data: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(stream, "w") as new:
        for entry in old.infolist():
            array = io.BytesIO()
            if entry.filename == "gain.npy":
                np.save(array, np.array([{}], object), allow_pickle=True)
            new.writestr(entry.filename, array.getvalue() or old.read(entry))
    return stream.getvalue()


def _bomb(data: bytes) -> bytes:
    """An archive that would unpack to more than it may."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new, new.open("a.npy", "w") as entry:
        for _ in range(DEFAULT.memory_bytes // 2**24 + 1):
            entry.write(bytes(2**24))
    return stream.getvalue()


def _noise(data: bytes) -> bytes:
    return np.random.default_rng(0).bytes(len(data))


BAD_FILES = {"truncated": _truncated, "pickled": _pickled, "a bomb": _bomb, "noise": _noise}


@pytest.mark.case(26, 36)
@pytest.mark.parametrize("damage", [*BAD_FILES.values(), lambda data: b"", lambda data: b"PK\x05\x06" + bytes(18)])
def test_damaged_files_are_refused(tmp_path, damage):
    _, path = saved(tmp_path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(FileError):
        Allocation.load(path)


def test_a_deep_header_is_refused_before_it_is_parsed(tmp_path):
    _, path = saved(tmp_path)
    _, arrays = contents(path)
    deep = np.frombuffer(b'{"a":' + b"[" * 200_000, np.uint8)
    with path.open("wb") as file:
        save_plain(file, {"header": deep, **arrays})
    with pytest.raises(LimitExceeded, match="json depth"):
        Allocation.load(path)


@pytest.mark.parametrize("name", ["file_bytes", "header_bytes", "json_values", "json_depth"])
def test_limits_are_the_callers(tmp_path, name):
    _, path = saved(tmp_path)
    with pytest.raises(LimitExceeded, match=name.replace("_", " ")) as caught:
        Allocation.load(path, limits=Limits(**{name: 1}))
    assert str(path) in caught.value.where
    assert Allocation.load(path, limits=Limits(memory_bytes=1)).cost >= 0


def test_every_flipped_bit_is_noticed_or_changes_nothing(tmp_path):
    allocation, path = saved(tmp_path)
    data = path.read_bytes()
    rng = np.random.default_rng(0)
    for at in rng.integers(0, len(data), 200).tolist():
        path.write_bytes(data[:at] + bytes([data[at] ^ (1 << int(rng.integers(8)))]) + data[at + 1 :])
        try:
            again = Allocation.load(path)
        except FileError:
            continue
        assert (again.selected == allocation.selected).all()
        assert again.upper_bound == allocation.upper_bound


def test_missing_files_and_folders_are_refused(tmp_path):
    allocation, _ = saved(tmp_path)
    with pytest.raises(FileError):
        Allocation.load(tmp_path / "no.npz")
    with pytest.raises(FileError):
        Allocation.load(tmp_path)
    with pytest.raises(FileError):
        allocation.save(tmp_path / "no" / "a.npz")
    assert sorted(os.listdir(tmp_path)) == ["a.npz"]


def test_the_command_verifies_files(tmp_path, capsys):
    _, path = saved(tmp_path)
    assert run_hra("verify", path, "--json", tmp_path / "v.json") == 0
    record = json.loads((tmp_path / "v.json").read_text())
    assert record["proven"]
    assert not record["refuted"]
    header, arrays = contents(path)
    rewrite(path, {**header, "gain": repr(float(header["gain"]) + 1)}, arrays)
    assert run_hra("verify", path) == 2
    path.write_bytes(b"no archive")
    assert run_hra("verify", path) == 2
