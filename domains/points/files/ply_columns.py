"""What properties of PLY mean in a cloud of points, and under which names its fields become properties."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hra.domains.points.files.field_names import free_name
from hra.domains.points.files.splat_formats import PACKED
from hra.errors import warn
from hra.files.ply.colors import COLORS

# A file that has all of them, "scale_2" aside, holds splats.
SPLAT = ("opacity", "scale_0", "scale_1", "scale_2", "rot_0", "rot_1", "rot_2", "rot_3", "f_dc_0", "f_dc_1", "f_dc_2")
_OWN = {*"xyz", *COLORS, "radius"}


def field_columns(fields: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """A property for each column of fields, in a type that PLY has, under a name without blanks.

    Warns
    -----
    RepairWarning : a name means something else in PLY, or two become one; doubles round whole numbers.
    """
    named = {name: _names(name, rows) for name, rows in fields.items()}
    wanted = {one for names in named.values() for one in names}
    taken = {*_OWN}
    for group in (set(SPLAT) - {"scale_2"}, set(PACKED)):
        # Without one of the names the file is that of points.
        taken |= {min(group)} if group <= wanted else set()
    # Those that may have their own names have them, whatever comes before.
    kept = {name for name, names in named.items() if names == [name] and name not in taken}
    found: dict[str, np.ndarray] = {}
    for name, rows in fields.items():
        kind = _type(name, rows)
        for one, column in zip(named[name], [rows] if rows.ndim == 1 else list(rows.T), strict=True):
            own = one if name in kept else free_name(one, {*taken, *kept, *found})
            if own != one or not name.split():
                why = "PLY uses the name for something else" if one in taken else "another field has the name"
                why = why if name.split() else "properties of PLY have names"
                what = f"the field {name!r} became the property {own!r}: {why}"
                warn(what[:500])
            found[own] = column.astype(kind)
    return found


def _names(name: str, rows: np.ndarray) -> list[str]:
    short = "_".join(name.split()) or "field"
    return [short] if rows.ndim == 1 else [f"{short}_{k}" for k in range(rows.shape[1])]


def _type(name: str, rows: np.ndarray) -> np.dtype:
    """The type of PLY for the numbers of a field."""
    if rows.dtype.kind == "b":
        return np.dtype(np.uint8)
    if rows.dtype.itemsize <= 4:
        return np.dtype(np.float32) if rows.dtype.kind == "f" else rows.dtype
    if rows.dtype.kind != "f" and ((rows > 2**53).any() or (rows < -(2**53)).any()):
        warn(f"the field {name!r} was rounded to doubles"[:500])
    return np.dtype(np.float64)
