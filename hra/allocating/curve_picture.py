"""A curve as notebooks show it."""

from __future__ import annotations

import io

import numpy as np


def curve_png(cost: np.ndarray, residual: np.ndarray) -> bytes | None:
    """What remains against the cost, as PNG; None without Matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    figure, stream = Figure(figsize=(6, 3.5), layout="constrained"), io.BytesIO()
    axes = figure.subplots()
    axes.plot(cost, residual, color="#0072b2")
    axes.set_xlabel("cost")
    axes.set_ylabel("error that remains")
    axes.grid(alpha=0.3)
    figure.savefig(stream, format="png", dpi=100)
    return stream.getvalue()
