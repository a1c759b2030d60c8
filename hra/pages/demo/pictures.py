"""Pictures of the report: meshes by the painter's algorithm, curves, image grids. Needs matplotlib, no OpenGL."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from hra.camera import Camera

# Colours that stay apart for colour-blind readers (Okabe and Ito 2008).
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")

_POINTS = 72  # to an inch


def title_size(width: float) -> float:
    """Points of a title's type on a figure of ``width`` inches that a screen of 390 pixels still shows readably."""
    return 1.6 * width


def png(figure: Figure) -> bytes:
    """The figure as PNG bytes."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, bbox_inches="tight", facecolor="white")
    return buffer.getvalue()


def draw_mesh(axes: Axes, positions: np.ndarray, triangles: np.ndarray, colours: np.ndarray, camera: Camera) -> None:
    """Front faces from far to near with flat shading.

    Parameters
    ----------
    positions : [V, 3]; triangles : int [F, 3]; colours : [F, 3] in 0 .. 1.
    """
    corners = positions[triangles].astype(np.float64)
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-30)
    to_eye = camera.position - corners.mean(axis=1)
    distance = np.linalg.norm(to_eye, axis=1)
    facing = np.einsum("ij,ij->i", normal, to_eye) / distance
    pixels = camera.project(corners.reshape(-1, 3)).pixels.reshape(-1, 3, 2)
    front = np.flatnonzero(facing > 0)
    order = front[np.argsort(-distance[front])]
    shaded = np.clip(colours[order] * (0.35 + 0.65 * facing[order, None]), 0, 1)
    axes.add_collection(PolyCollection(list(pixels[order]), facecolors=shaded, edgecolors=shaded, linewidths=0.2))
    width, height = camera.viewport
    axes.set(xlim=(0, width), ylim=(height, 0), aspect="equal")
    axes.axis("off")


def distinct_colours(count: int) -> np.ndarray:
    """``count`` random bright colours [count, 3], the same ones every time."""
    return np.random.default_rng(1).uniform(0.25, 1.0, (count, 3))


def images(panels: Sequence[tuple[str, np.ndarray]], columns: int, width: float = 5.5) -> Figure:
    """Images [H, W, 3] under their titles in rows of ``columns``, each ``width`` inches wide."""
    rows, size = -(-len(panels) // columns), title_size(columns * width)
    # A letter is about half as wide as it is high.
    titles = [textwrap.fill(title, int(width * _POINTS / (0.55 * size))) for title, _ in panels]
    lines = max(title.count("\n") + 1 for title in titles)
    height = width * max(image.shape[0] / image.shape[1] for _, image in panels) + lines * 1.4 * size / _POINTS
    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False).flat
    for axes, title, (_, image) in zip(grid, titles, panels, strict=True):
        axes.imshow(image if image.dtype == np.uint8 else np.clip(image, 0, 1))
        axes.set_title(title, fontsize=size)
        axes.axis("off")
    return figure


def curves(lines: Mapping[str, tuple[Any, Any]], xlabel: str, ylabel: str, *, log: bool = False) -> Figure:
    """Named lines (x, y) in one diagram; ``log`` for both axes."""
    figure = Figure(figsize=(6, 3.6), layout="constrained")
    axes = figure.subplots()
    for (name, (x, y)), colour in zip(lines.items(), PALETTE, strict=False):
        axes.plot(x, y, label=name, color=colour, marker="o", markersize=3)
    axes.set(xlabel=xlabel, ylabel=ylabel)
    if log:
        axes.set(xscale="log", yscale="log")
    axes.grid(alpha=0.3)
    axes.legend()
    return figure
