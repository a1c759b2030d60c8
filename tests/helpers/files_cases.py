"""What several tests of files share."""

from __future__ import annotations

import io

import numpy as np

COLORS = np.array([[[255, 0, 0], [0, 255, 0]], [[0, 0, 255], [10, 20, 30]], [[255, 255, 255], [0, 0, 0]]], np.uint8)


def encoded(image, kind: str = "PNG", **options) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()
