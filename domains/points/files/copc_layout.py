"""Where a COPC file keeps what makes it more than a LAZ file.

Source: A. Bell, H. Butler and C. Manning, Cloud Optimized Point Cloud Specification 1.0, Hobu, Inc. (2021).
"""

from __future__ import annotations

import struct

import numpy as np

USER, INFO_ID, HIERARCHY_ID = "copc", 1, 1000
# The record behind the header, and its content: center, half side and spacing of the octree, place and bytes of the
# first page of the hierarchy, least and largest time of points.
RECORD_PLACE, RECORD_HEAD = 375, struct.Struct("<2x16sHH32x")
INFO = struct.Struct("<3d2d2Q2d88x")
# One node, or a further page of nodes where ``points`` is -1.
ENTRY = np.dtype(
    [(name, "<i4") for name in ("level", "x", "y", "z")] + [("place", "<u8"), ("bytes", "<i4"), ("points", "<i4")]
)
PAGE = -1
