"""Allocations in files: arrays in an npz archive without pickle, numbers in a JSON header with a checksum.

A file holds what `hra.verify` needs, and what comes of reading it is an allocation as good as the one that was saved,
except for its context and its metric.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np

from hra.errors import ArrayError, FileError, HierarchyError, HraError
from hra.files.atomic_write import write_atomically
from hra.files.json_text import parse_object
from hra.files.limits import DEFAULT, Limits
from hra.files.local_files import read_regular
from hra.files.plain_arrays import plain_archive, save_plain
from hra.model.arrays import frozen
from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem, check_budget
from hra.model.solution import Solution
from hra.model.topology import Topology
from hra.solvers.duals import Certificate

FORMAT, VERSION = "hra-allocation", 2
# Version 1 was the same, not compressed.
_READ = (1, 2)
_ATTRIBUTE = "node."
_UNREADABLE = (
    KeyError,
    ValueError,
    TypeError,
    ArithmeticError,
    IndexError,
)
# The name of the header among the arrays.
_HEADER = "header"


class Stored(Protocol):
    """What is read of a `hra.Allocation`: stated here, so that its module imports this one and not both each other.

    Cached properties are `Any`: type checkers do not take them for properties.
    """

    @property
    def problem(self) -> Problem: ...  # noqa: D102

    @property
    def solution(self) -> Solution: ...  # noqa: D102

    @property
    def certificate(self) -> Any: ...  # noqa: D102

    @property
    def hierarchy(self) -> Hierarchy: ...  # noqa: D102

    @property
    def selected(self) -> np.ndarray: ...  # noqa: D102

    @property
    def seconds(self) -> float: ...  # noqa: D102

    @property
    def cost(self) -> Any: ...  # noqa: D102

    @property
    def gain(self) -> Any: ...  # noqa: D102

    @property
    def residual(self) -> Any: ...  # noqa: D102

    @property
    def shortfall(self) -> Any: ...  # noqa: D102

    @property
    def upper_bound(self) -> Any: ...  # noqa: D102

    @property
    def max_error(self) -> Any: ...  # noqa: D102

    @property
    def least_max_error(self) -> Any: ...  # noqa: D102

    @property
    def status(self) -> str: ...  # noqa: D102


Made = TypeVar("Made", bound=Stored)


def save(allocation: Stored, path: str | os.PathLike[str]) -> None:
    """Write ``allocation`` with its hierarchy, gains and certificate to ``path``, whole or not at all.

    Node attributes that are not numbers are left out, and so are the context and the metric.

    Raises
    ------
    FileError : the folder is missing or not writable, or the disk is full.
    """
    write_atomically(path, pack(allocation))


def pack(allocation: Stored) -> bytes:
    """The file that `save` writes; pickles hold the same."""
    arrays = _arrays(allocation)
    header = {**_numbers(allocation), "format": FORMAT, "version": VERSION}
    header["checksum"] = checksum(header, arrays)
    arrays[_HEADER] = np.frombuffer(json.dumps(header, sort_keys=True).encode(), np.uint8)
    stream = io.BytesIO()
    save_plain(stream, arrays, compressed=True)
    return stream.getvalue()


def load(
    kind: Callable[[Problem, Solution, float], Made], path: str | os.PathLike[str], limits: Limits = DEFAULT
) -> Made:
    """The allocation in ``path``, which `save` wrote; numbers are those of the file until `hra.verify` checks them.

    Parameters
    ----------
    kind : `hra.Allocation`: makes one of a problem, a solution and seconds.

    Raises
    ------
    FileError : missing, damaged, of another format or of a later version.
    LimitExceeded : larger than ``limits`` allow, before memory is taken.
    """
    return unpack(kind, read_regular(path, limits), str(path), limits)


def unpack(
    kind: Callable[[Problem, Solution, float], Made], content: bytes, where: str, limits: Limits = DEFAULT
) -> Made:
    """The allocation that `pack` made ``content`` of; parameters and errors as for `load`."""
    try:
        header, arrays = _read(content, limits)
        return _allocation(kind, header, arrays)
    except HraError as error:
        raise type(error)(error.what, where=f"{where} {error.where}".strip(), fix=error.fix) from error
    except _UNREADABLE as error:
        fix = "save the allocation again"
        raise FileError(f"this is not an allocation that can be read: {error}", where=where, fix=fix) from error


def _arrays(allocation: Stored) -> dict[str, np.ndarray]:
    hierarchy, problem, solution = allocation.hierarchy, allocation.problem, allocation.solution
    attributes = {_ATTRIBUTE + name: values for name, values in hierarchy.node.items() if values.dtype.kind in "biuf"}
    optional = {
        "node_parent": hierarchy.node_parent,
        "pinned": problem.pinned,
        "previous": problem.previous,
        "share": solution.share,
    }
    return {
        "node_cost": hierarchy.node_cost,
        "added_by": hierarchy.added_by,
        "removed_by": hierarchy.removed_by,
        "edges": hierarchy.edges,
        "gain": problem.gain,
        "peak": problem.peak,
        "selected": allocation.selected,
        "flow": allocation.certificate.flow,
        **attributes,
        **{name: values for name, values in optional.items() if values is not None},
    }


def _numbers(allocation: Stored) -> dict[str, Any]:
    """Everything that is not an array; floats as text, which keeps infinities and every digit."""
    hierarchy, problem, solution = allocation.hierarchy, allocation.problem, allocation.solution
    certificate, unit = allocation.certificate, allocation.certificate.unit
    floats = {
        "budget": problem.budget,
        "least_error": problem.least_error,
        "seconds": allocation.seconds,
        "cost": allocation.cost,
        "gain": allocation.gain,
        "residual": allocation.residual,
        "shortfall": allocation.shortfall,
        "upper_bound": allocation.upper_bound,
        "certificate_price": certificate.price,
        "certificate_shortfall": certificate.shortfall,
        "price": solution.price,
        "tau": solution.tau,
        # It takes time, and is printed of what has a tau alone.
        "least_max_error": None if solution.tau is None else allocation.least_max_error,
    }
    return {
        "cost_unit": hierarchy.cost_unit,
        "error_unit": problem.unit,
        "additive": problem.additive,
        "restricted": solution.restricted,
        "status": allocation.status,
        "certificate_unit": [str(unit.numerator), str(unit.denominator)],
        **{name: None if value is None else repr(float(value)) for name, value in floats.items()},
    }


def checksum(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> str:
    """SHA-256 of the header without its checksum, and of the names, types, shapes and bytes of all other arrays."""
    digest = hashlib.sha256()
    facts = {name: value for name, value in header.items() if name != "checksum"}
    digest.update(json.dumps(facts, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _read(content: bytes, limits: Limits) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    with plain_archive(io.BytesIO(content)) as archive:
        # Archives unpack to no more than their entries state.
        limits.check_archive(archive.unpacked, len(content), "")
        if archive.others:
            raise FileError("an entry is not an array", where=archive.others[0][:60], fix="save the allocation again")
        arrays = {name: archive.array(name) for name in archive.names}
    text = arrays.pop(_HEADER)
    if text.dtype != np.uint8 or text.ndim != 1:
        raise FileError("the header is not text", fix="save the allocation again")
    limits.check("header_bytes", text.size, _HEADER)
    header = parse_object(text.tobytes(), "header of the allocation", _HEADER, limits)
    if header.get("format") != FORMAT:
        raise FileError("this is not the file of an allocation", fix="pass a file that Allocation.save wrote")
    if header.get("version") not in _READ:
        what = f"version {header.get('version')} of the format is not known, only {' and '.join(map(str, _READ))}"
        raise FileError(what, fix="read it with the version of hra that wrote it")
    if header.get("checksum") != checksum(header, arrays):
        raise FileError("the checksum does not match: the file is damaged", fix="save the allocation again")
    return header, arrays


def _allocation(
    kind: Callable[[Problem, Solution, float], Made], header: dict[str, Any], arrays: dict[str, np.ndarray]
) -> Made:
    number = {name: float(value) for name, value in header.items() if isinstance(value, str) and _is_number(value)}
    if type(header["additive"]) is not bool or type(header["restricted"]) is not bool:
        raise FileError("a flag of the header is not true or false", where=_HEADER, fix="save the allocation again")
    if not np.isfinite(number["least_error"]):
        raise FileError("the error that remains is not a number", where=_HEADER, fix="save the allocation again")
    hierarchy, gain, peak = _hierarchy(header, arrays), arrays["gain"], arrays["peak"]
    problem = Problem(
        hierarchy,
        frozen(_check(gain, np.float64, len(hierarchy))),
        number["least_error"],
        check_budget(number["budget"], hierarchy),
        str(header["error_unit"]),
        header["additive"],
        partial(_check, peak, np.float64, len(hierarchy)),
        pinned=_optional(arrays, "pinned", np.bool_, len(hierarchy)),
        previous=_optional(arrays, "previous", np.bool_, len(hierarchy)),
    )
    problem.check()
    solution = Solution(
        _check(arrays["selected"], np.bool_, len(hierarchy)),
        number.get("price"),
        number.get("tau"),
        _optional(arrays, "share", np.float64, len(hierarchy.edges)),
        number["shortfall"],
        restricted=header["restricted"],
    )
    allocation = kind(problem, solution, number["seconds"])
    numerator, denominator = (int(digits[:2000]) for digits in header["certificate_unit"])
    flow = _check(arrays["flow"], np.float64, len(hierarchy.edges))
    proof = Certificate(
        number["certificate_price"], Fraction(numerator, denominator), flow, number["certificate_shortfall"]
    )
    stated = {name: number[name] for name in ("cost", "gain", "residual", "upper_bound")}
    # What the file states stands until somebody verifies it.
    allocation.__dict__.update(stated, certificate=proof, least_max_error=number.get("least_max_error"))
    if allocation.status != header["status"]:
        raise FileError(f"the answer is not {header['status']!r} by its numbers", fix="save the allocation again")
    return allocation


def _hierarchy(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Hierarchy:
    nodes = arrays["node_cost"].size
    added_by, removed_by = (_check(arrays[name], np.int32, nodes) for name in ("added_by", "removed_by"))
    edges, size = arrays["edges"], int(arrays["selected"].size)
    if edges.dtype != np.int32 or edges.ndim != 2 or edges.shape[1] != 2:
        raise FileError("the edges are not int32 [E, 2]", fix="save the allocation again")
    attributes = {name[len(_ATTRIBUTE) :]: values for name, values in arrays.items() if name.startswith(_ATTRIBUTE)}
    try:
        hierarchy = Hierarchy.from_topology(
            _check(arrays["node_cost"], np.float64, nodes),
            Topology(size, added_by, removed_by, edges),
            node_parent=_optional(arrays, "node_parent", np.int32, nodes),
            attributes=attributes,
            cost_unit=str(header["cost_unit"]),
        )
    except (ArrayError, HierarchyError) as error:
        raise FileError(error.what, where=error.where, fix="save the allocation again") from error
    same = ((hierarchy.added_by, added_by), (hierarchy.removed_by, removed_by), (hierarchy.edges, edges))
    if not all(np.array_equal(*pair) for pair in same):
        raise FileError("the refinements are not in level order", fix="save the allocation again")
    return hierarchy


def _optional(arrays: dict[str, np.ndarray], name: str, dtype: Any, size: int) -> np.ndarray | None:
    return _check(arrays[name], dtype, size) if name in arrays else None


def _check(array: np.ndarray, dtype: Any, size: int) -> np.ndarray:
    if array.dtype != dtype or array.shape != (size,):
        what = f"an array is {array.dtype} of shape {array.shape}, expected {np.dtype(dtype)} of ({size},)"
        raise FileError(what, fix="save the allocation again")
    return array


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
