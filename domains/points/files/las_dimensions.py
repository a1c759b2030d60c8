"""Which fields of a cloud go into the dimensions that LAS has for their names, and which become extra dimensions.

A dimension of LAS holds whole numbers of a few bits. What would not come back from there as it is becomes an extra
dimension of its own type, under a free name, and is named in a warning.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from hra.domains.points.files.field_names import free_name
from hra.domains.points.files.las_header import RESERVED, WEEK
from hra.errors import warn

# The largest number of each dimension whose least is 0.
_MOST = {
    **{"intensity": 65535, "return_number": 15, "number_of_returns": 15, "classification": 255, "user_data": 255},
    **{"synthetic": 1, "key_point": 1, "withheld": 1, "overlap": 1, "scanner_channel": 3, "scan_direction_flag": 1},
    **{"edge_of_flight_line": 1, "point_source_id": 65535, "nir": 65535},
}
_STANDARD = {*_MOST, "scan_angle", "gps_time"}
_NAME_BYTES = 32
# Extra dimensions: the number of each type in their record; and how many numbers one holds at most.
TYPES = {"u1": 1, "i1": 2, "u2": 3, "i2": 4, "u4": 5, "i4": 6, "u8": 7, "i8": 8, "f4": 9, "f8": 10}
_VECTOR = 3


class Dimensions(NamedTuple):
    """Fields by the names that they have in a LAS file.

    Attributes
    ----------
    standard : those that LAS has a place for, [P]. extra : the others, [P], [P, 2] or [P, 3], in types of extra
        dimensions. adjusted : whether "gps_time" counts from GPS's epoch, not from Sundays.
    """

    standard: dict[str, np.ndarray]
    extra: dict[str, np.ndarray]
    adjusted: bool


def las_dimensions(fields: Mapping[str, np.ndarray]) -> Dimensions:
    """Where each field of a cloud goes.

    Warns
    -----
    RepairWarning : a field gets another name, each with the reason; or doubles round its numbers.
    """
    standard, waiting = {}, {}
    for name, rows in fields.items():
        place = "gps_time" if name == WEEK else name
        why = _misfit(name, place, rows, fields)
        if place in _STANDARD and not why:
            standard[place] = rows
        else:
            waiting[name] = rows, why
    # Those that may have their own names have them, whatever comes before.
    taken = {*RESERVED, *_STANDARD, WEEK, *(name for name, (_, why) in waiting.items() if not why)}
    extra: dict[str, np.ndarray] = {}
    for name, (rows, why) in waiting.items():
        cast = _cast(name, rows)
        split = cast.ndim == 2 and not 1 < cast.shape[1] <= _VECTOR
        columns = {f"{name}_{k}": cast[:, k] for k in range(cast.shape[1])} if split else {name: cast}
        for wanted, column in columns.items():
            reason = why or _unwritable(wanted)
            if not reason and wanted in (extra if wanted == name else {*taken, *extra}):
                reason = "another field has the name"
            own = wanted
            if reason:
                own = free_name(wanted.replace("\0", "_") or "field", {*taken, *extra}, _NAME_BYTES)
                what = f"the field {wanted!r} became the extra dimension {own!r}: {reason}"
                warn(what[:500])
            extra[own] = column
    return Dimensions(standard, extra, "gps_time" in standard and "gps_time" in fields)


def _misfit(name: str, place: str, rows: np.ndarray, fields: Mapping[str, np.ndarray]) -> str:
    """Why a field cannot be written under its name; nothing where it can."""
    if name in RESERVED:
        return "LAS or its readers use the name for something else"
    if name == WEEK and "gps_time" in fields:
        return "LAS has one time of a point, which is that of 'gps_time'"
    if place in _STANDARD:
        return _lost(place, rows)
    return _unwritable(name)


def _unwritable(name: str) -> str:
    if not name or "\0" in name:
        return "LAS cannot write the name"
    return f"names have at most {_NAME_BYTES} bytes" if len(name.encode()) > _NAME_BYTES else ""


def _lost(place: str, rows: np.ndarray) -> str:
    """What the dimension of LAS cannot hold of a field; nothing where it holds all."""
    if rows.ndim != 1:
        return "LAS has one number of a point there"
    if place == "gps_time":
        return "doubles round it" if _rounded(rows) else ""
    if place == "scan_angle":
        # Angles in degrees would be taken for steps.
        if rows.dtype.kind == "f":
            return "LAS has whole steps of .006 degrees there"
        low, high = -32768, 32767
    else:
        low, high = 0, _MOST[place]
    whole = rows.dtype.kind != "f" or bool((np.isfinite(rows) & (rows == np.rint(rows))).all())
    if whole and (rows >= low).all() and (rows <= high).all():
        return ""
    return f"LAS has whole numbers from {low} to {high} there"


def _cast(name: str, rows: np.ndarray) -> np.ndarray:
    """A field in a type that extra dimensions have."""
    known = "u1" if rows.dtype.kind == "b" else rows.dtype.str[1:]
    if known in TYPES:
        return rows.astype("<" + known)
    if _rounded(rows):
        warn(f"the field {name!r} was rounded to doubles"[:500])
    return rows.astype("<f8")


def _rounded(rows: np.ndarray) -> bool:
    """Whether doubles round a field."""
    if rows.dtype.kind in "iu":
        return bool((rows > 2**53).any() or (rows < -(2**53)).any())
    return rows.dtype.itemsize > 8 and not np.array_equal(rows.astype(np.float64), rows, equal_nan=True)
