"""JSON that is not of the form that it should be."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hra.errors import FileError


@contextmanager
def well_formed(where: str) -> Iterator[None]:
    """What goes wrong because a value is missing, or of another type or size, becomes a FileError.

    Every value of a tileset may be anything: this is one test for all of them instead of hundreds.
    """
    try:
        yield
    except (KeyError, IndexError, TypeError, AttributeError, ValueError, OverflowError) as error:
        reason = f"there is no {error}" if isinstance(error, KeyError) else str(error)[:200]
        raise FileError(f"the tileset is malformed: {reason}", where=where, fix="export it again") from error
