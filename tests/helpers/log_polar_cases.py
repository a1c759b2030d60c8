"""What several tests of log polar share."""

from __future__ import annotations

import numpy as np

from hra.domains.tokens.methods.log_polar import LogPolar


def peak_at(row: int, column: int, rows: int = 64, columns: int = 64) -> LogPolar:
    scores = np.full((rows, columns), 0.1)
    scores[row, column] = 1
    return LogPolar(lambda context: scores)
