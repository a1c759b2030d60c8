"""How large a part may be."""

from __future__ import annotations

from hra.errors import HraError

# Measured: what a process holds with everything imported and compiled, and what a point of a part takes at most.
_PROCESS_BYTES, _POINT_BYTES = 240 * 2**20, 320
# Smaller parts would be read and written for ever.
_LEAST = 2**16


def points_of_part(memory: int) -> int:
    """How many points the trees of parts may have within ``memory`` bytes.

    Raises
    ------
    HraError : too little for any part.
    """
    points = (memory - _PROCESS_BYTES) // _POINT_BYTES
    if points < _LEAST:
        least = _PROCESS_BYTES + _LEAST * _POINT_BYTES
        what = f"{memory:,} bytes are too little to build a cloud in parts"
        raise HraError(what, where="memory", fix=f"allow {-(-least // 2**20)} MiB or more")
    return points
