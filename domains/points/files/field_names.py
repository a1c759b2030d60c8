"""Names for fields in files that keep some names for themselves."""

from __future__ import annotations

from collections.abc import Collection


def free_name(wanted: str, taken: Collection[str], most: int = 2**16) -> str:
    """``wanted``, cut to ``most`` bytes; with the first number behind it that makes it none of ``taken``.

    Examples
    --------
    >>> from hra.domains.points.files.field_names import free_name
    >>> free_name("x", {"x", "x_1"}), free_name("temperature", (), 4)
    ('x_2', 'temp')
    """
    found, number = _cut(wanted, most), 0
    while found in taken:
        number += 1
        end = f"_{number}"
        found = _cut(wanted, most - len(end)) + end
    return found


def _cut(name: str, most: int) -> str:
    """Whole characters of no more bytes."""
    return name.encode()[:most].decode(errors="ignore")
