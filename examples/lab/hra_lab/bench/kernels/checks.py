"""Whether kernels and their peers computed the right thing; a wrong answer ends the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from hra.errors import HraError
from hra_lab.bench.harness import Gaps


def compare(
    reference: Callable[[Any], Sequence[np.ndarray]], own: float, peers: float
) -> Callable[[Any, Mapping[str, Any]], dict[str, Gaps]]:
    """A judge that compares every output, a list of arrays, with what ``reference`` makes of the same input.

    Parameters
    ----------
    own, peers : largest difference that the library (the first contender) and its peers may have.

    Raises
    ------
    HraError : the judge, for an output of another shape or further away.
    """

    def judge(given: Any, outputs: Mapping[str, Sequence[np.ndarray]]) -> dict[str, Gaps]:
        expected = reference(given)
        for number, (name, output) in enumerate(outputs.items()):
            check_arrays(name, output, expected, peers if number else own)
        return {}

    return judge


def check_arrays(name: str, output: Sequence[np.ndarray], expected: Sequence[np.ndarray], tolerance: float) -> None:
    """Raise `HraError` unless what ``name`` gave has the expected shapes and is within ``tolerance``."""
    require(name, len(output) == len(expected), f"{len(output)} arrays instead of {len(expected)}")
    for index, (found, right) in enumerate(zip(output, expected, strict=True)):
        where = f"array {index}: "
        require(name, found.shape == right.shape, f"{where}shape {found.shape} instead of {right.shape}")
        off = _largest_difference(found, right)
        require(name, off <= tolerance, f"{where}off by {off:.3g}, allowed are {tolerance:.3g}")


def require(name: str, right: bool, what: str) -> None:
    """Raise `HraError` that contender ``name`` is wrong about ``what`` unless ``right``."""
    if not right:
        raise HraError(f"{name} gives a wrong answer: {what}", where="hra bench", fix="report it with the row's name")


def _largest_difference(found: np.ndarray, right: np.ndarray) -> float:
    if found.dtype == np.uint8 or found.dtype == np.bool_:
        found, right = found.astype(np.int16), right.astype(np.int16)
    off = np.zeros_like(right)
    np.subtract(found, right, out=off, where=found != right)  # equal infinities do not differ
    return float(np.abs(off).max(initial=0.0))
