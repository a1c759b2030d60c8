"""Numbers of files that no cloud can have: the error names the file, and how many rows have them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from hra.domains.points.cloud.clouds import SplatCloud
from hra.errors import ArrayError

_PARTS = ("positions", "scales", "rotations", "colors", "opacities", "harmonics")


def check_finite(where: str, unit: str, **arrays: Any) -> None:
    """Refuse arrays [P] or [P, ...] of a file whose numbers are not finite as float32.

    Parameters
    ----------
    unit : what the rows are, "points" or "splats". arrays : each by the name that the message has; None is passed over.

    Raises
    ------
    ArrayError : the first array that has such numbers, and in how many rows.
    """
    for name, values in arrays.items():
        with np.errstate(over="ignore"):
            rows = np.isfinite(np.asarray(0.0 if values is None else values, np.float32))
        bad = np.flatnonzero(~rows.reshape(len(rows), -1).all(axis=1)) if rows.ndim else np.zeros(0, int)
        if bad.size:
            what = f"{bad.size:,} of {len(rows):,} {unit} have {name} that are not finite, or too large for float32"
            fix = "remove these rows, or export the file again"
            raise ArrayError(f"{what}: row {bad[0]} is the first", where=where, fix=fix)


def checked_splats(where: str, *parts: Any) -> SplatCloud:
    """The splats of a file; ``parts`` : what `SplatCloud.of` takes, in its order.

    Raises
    ------
    ArrayError : see `check_finite`.
    """
    check_finite(where, "splats", **dict(zip(_PARTS, parts, strict=False)))
    return SplatCloud.of(*parts)


@contextmanager
def naming_file(where: str) -> Iterator[None]:
    """Name the file in errors of arrays that came from it."""
    try:
        yield
    except ArrayError as error:
        if error.where.startswith(where):
            raise
        raise ArrayError(error.what, where=f"{where}: {error.where}", fix=error.fix) from error
