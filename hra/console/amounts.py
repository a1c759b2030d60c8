"""Numbers as people write them: ``10k`` triangles, ``2.5M``, ``64MB``, ``1920x1080``."""

from __future__ import annotations

import math

from hra.errors import HraError

_COUNTS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}
_BYTES = {
    **{"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30},
    **{unit: size for unit, size in _COUNTS.items() if unit},
}
_MOST_BYTES = 10**15


def count(text: str) -> float:
    """``10k``, ``2.5M``, ``1e4`` or ``10_000`` as a number; k is 1e3, M is 1e6.

    Raises
    ------
    HraError : no such number.
    """
    try:
        return _number(text, _COUNTS, "kKmMgG")
    except (ValueError, KeyError) as error:
        fix = "write it as 10000, 10k or 2.5M"
        raise HraError(f"{text[:60]!r} is not a number", fix=fix) from error


def whole_count(text: str | int) -> int:
    """As `count`, of things that cannot be divided: ``273`` or ``10k``; an option's default is a number already.

    Raises
    ------
    HraError : no whole number >= 0.
    """
    text = str(text)
    if text.isdecimal() and len(text) < 400:  # every digit counts, of numbers beyond 2**53 too
        return int(text)
    value = count(text)
    if not (math.isfinite(value) and value >= 0 and value == int(value)):
        raise HraError(f"{text[:60]!r} is not a whole number >= 0", fix="write 273 or 10k")
    return int(value)


def byte_count(text: str) -> int:
    """``64MB``, ``512KiB``, ``500k`` or ``4096`` as bytes; MB is 1e6, MiB is 2**20.

    Raises
    ------
    HraError : not a non-negative number with an optional unit.
    """
    try:
        value = _number(text, _BYTES, "bBkKmMgGiI")
    except (ValueError, KeyError) as error:
        fix = "write it as 64MB, 512KiB or 4096"
        raise HraError(f"{text[:60]!r} is not a byte count", fix=fix) from error
    # Bytes are counted in int64, and numbers of bytes are added up.
    if not 0 <= value <= _MOST_BYTES:
        raise HraError(f"{text[:60]!r} is not a byte count", fix="use a number from 0 to 1e15")
    return int(value)


def _number(text: str, units: dict[str, int], letters: str) -> float:
    plain = text.strip()
    number = plain.rstrip(letters)
    return float(number) * units[plain[len(number) :].lower()]


def size(text: str) -> tuple[int, int]:
    """``1920x1080`` as (1920, 1080).

    Raises
    ------
    HraError : not two whole numbers.
    """
    try:
        width, height = (int(part) for part in text.lower().split("x"))
    except ValueError as error:
        fix = "write it as 1920x1080"
        raise HraError(f"{text[:60]!r} is not a size", where="--viewport", fix=fix) from error
    return width, height
