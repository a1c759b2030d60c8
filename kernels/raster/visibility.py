"""Visibility buffer: for every pixel the nearest draw, its triangle and its depth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.kernels.raster.context import Context
from hra.kernels.raster.draws import DrawList
from hra.kernels.raster.target import Target


@dataclass(frozen=True, eq=False)
class VisibilityImage:
    """A visibility buffer on the host, row 0 at the top.

    Attributes
    ----------
    depth : float32 [H, W], window depth; where nothing was drawn 1, or 0 with reversed depth.
    ids : uint32 [H, W], the draw's number; triangles : uint32 [H, W], the row of the draw list's ``triangles``; `EMPTY`
        where nothing was drawn.
    """

    depth: np.ndarray
    ids: np.ndarray
    triangles: np.ndarray


class VisibilityBuffer(Target):
    """Draws into a visibility buffer; what it holds stays until it is cleared, so passes add up.

    A pixel belongs to a triangle that covers its centre; a centre exactly on the common edge of two belongs to one of
    them. Both sides of a triangle are drawn, and of equal depths the first one drawn wins.

    Parameters, errors and attributes as in :class:`Target`, the image having two channels: number and triangle.

    Notes
    -----
    Burns and Hunt, The Visibility Buffer: A Cache-Friendly Approach to Deferred Shading, JCGT 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.kernels import raster
    >>> with raster.Context() as context:  # doctest: +SKIP
    ...     draws = raster.DrawList(context, [[-1, -1, 0], [3, -1, 0], [-1, 3, 0]], [[0, 1, 2]], ids=[7])
    ...     buffer = raster.VisibilityBuffer(context, (2, 1))
    ...     buffer.draw(draws, np.eye(4))
    ...     buffer.read().ids.tolist()
    [[7, 7]]
    """

    def __init__(self, context: Context, size: tuple[int, int], reversed_depth: bool = False) -> None:
        super().__init__(context, size, 2, reversed_depth)

    def draw(self, draws: DrawList, view_projection: Any, where: Any = None) -> None:
        """Add draws to the buffer.

        Parameters
        ----------
        draws : of the same context.
        view_projection : [4, 4] world to clip space, column vectors: ``camera.projection @ camera.view``.
        where : bool [D], which of the draws; None draws all.

        Raises
        ------
        CameraError, ArrayError : another matrix or mask.
        BackendUnavailable : the context fails.
        """
        with self.context.use():
            program = self.context.program("draws.vert", "visibility.frag", TEXTURED=0)
            self._draw(program, draws, view_projection, where)

    def read(self) -> VisibilityImage:
        """The buffer, copied to the host, when all draws are done."""
        with self.context.use():
            image = self._read_image()
            return VisibilityImage(self._read_depth(), image[..., 0], image[..., 1])
