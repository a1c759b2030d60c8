"""Memory that a process frees and needs again at once, as for one image after the other."""

from __future__ import annotations

import ctypes
from functools import cache

# mallopt(3): parameters and, in bytes, the most that the first one takes on systems with 64 bits.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_LARGEST = 2**25


@cache
def keep_freed_memory() -> bool:
    """Tell the C library to keep up to 64 MiB that were freed; whether it understands (glibc does).

    By default it hands arrays from 128 KiB on back to the system, which then fills each page with zeros when the next
    image needs it: a third of the processor time of an image of 336 x 336 pixels here. It holds for the whole process,
    hence only for processes that do nothing else.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(mallopt(_M_MMAP_THRESHOLD, _LARGEST) and mallopt(_M_TRIM_THRESHOLD, 2 * _LARGEST))
