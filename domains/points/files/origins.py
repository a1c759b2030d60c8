"""What coordinates of clouds count from, axis by axis.

`hra.files.ply.split_origin` looks at the longest axis of a mesh. Axes of a cloud may be of different units: degrees
beside heights in metres, which then decide for the degrees.
"""

from __future__ import annotations

import numpy as np

# Float32 at the far end of an axis rounds up to so many times as much as at the axis' own extent.
_FAR = 2


def axis_origin(places: np.ndarray, corners: np.ndarray) -> tuple[np.ndarray, tuple[float, float, float]]:
    """Places [P, 3] relative to an origin, and the origin; 0 along each axis that float32 tells apart as it is.

    A component is a multiple of a power of two, no longer than the axis' extent, near the middle, so that differences
    are exact; where all numbers of an axis are one, it is that number. Float32 then moves no coordinate by more than
    2**-23 of the extent of its axis. Places without an origin are passed on in their type.

    Parameters
    ----------
    corners : [2, 3], of the box of the places that matter.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains.points.files.origins import axis_origin
    >>> places = np.array([[13.377701, 52.516201, 34.5], [13.377802, 52.516303, 61.25]])
    >>> axis_origin(places, places)[1]
    (13.37774658203125, 52.5162353515625, 0.0)
    """
    kind = places.dtype
    if (kind.itemsize <= 4 and kind.kind == "f") or not np.isfinite(places).all():
        return places, (0.0, 0.0, 0.0)
    low, high = np.asarray(corners, np.float64)
    extent = high - low
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        kept = (places.astype(np.float32) == places).all(axis=0)
        step = 2.0 ** np.floor(np.log2(extent))
        middle = np.where(extent > 0, np.rint((low + high) / 2 / step) * step, low)
    x, y, z = np.where(kept | (np.abs([low, high]).max(axis=0) <= _FAR * extent), 0.0, middle).tolist()
    return (places - np.array([x, y, z]), (x, y, z)) if any((x, y, z)) else (places, (0.0, 0.0, 0.0))
