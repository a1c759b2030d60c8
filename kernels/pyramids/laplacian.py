"""The Laplacian pyramid: what each level of the Gaussian pyramid adds to the next coarser one."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from hra.kernels.arrays import adopt, check_image, give_back
from hra.kernels.backends import implementation
from hra.kernels.pyramids.gaussian import PACKAGE, gaussian_levels
from hra.kernels.pyramids.levels.layout import Layout


@dataclass(frozen=True, eq=False)
class LaplacianPyramid:
    """Band-pass levels and a low-pass rest, in one flat buffer.

    Parameters
    ----------
    data : the flat buffer, float32.
    layout : where the levels lie in it.
    """

    data: Any
    layout: Layout

    @property
    def levels(self) -> tuple[Any, ...]:
        """The bands [..., H, W, C] as views of ``data``, finest first, and last the coarsest Gaussian level."""
        return self.layout.views(self.data)

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shape [..., H, W, C] of every level."""
        return self.layout.shapes

    def reconstruct(self, backend: str = "auto") -> Any:
        """The image [..., H, W, C] float32 that the levels add up to.

        Of unchanged levels, and with the backend that made them, it is the image within 1e-6 of its largest value.

        Raises
        ------
        BackendUnavailable : as :func:`laplacian_pyramid`.
        """
        data = adopt(self.data, "data")
        burt = implementation(PACKAGE, backend, data)
        total = burt.copy(data)
        if self.layout.size:
            # Coarsest first: each level is whole again before it is expanded.
            for coarse, fine in pairwise(reversed(self.layout.stacks(total))):
                burt.add_expanded(coarse, fine, 1.0)
        return self.layout.views(give_back(total, self.data))[0]


def laplacian_pyramid(image: Any, levels: int | None = None, backend: str = "auto") -> LaplacianPyramid:
    """Split an image into band-pass levels, one octave each, and a low-pass rest.

    Level ``l`` is level ``l`` of :func:`gaussian_pyramid` less the next coarser level, expanded: zeros are put between
    its pixels and the result is blurred with twice the same weights, mirrored likewise at the border. The expanded
    level has the finer one's size, odd or even, so the reconstruction is exact for every size.

    Parameters
    ----------
    image, levels, backend : as for :func:`gaussian_pyramid`. With one level there is only the low-pass rest.

    Returns
    -------
    LaplacianPyramid : float32, of the same kind of array and on the same device as the image. Backends agree within
        2e-6 of the image's largest value.

    Raises
    ------
    ArrayError, HraError, BackendUnavailable : as for :func:`gaussian_pyramid`.

    Notes
    -----
    Burt and Adelson 1983, see :func:`gaussian_pyramid`.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.random.default_rng(0).random((5, 7, 1), np.float32)
    >>> bool(np.allclose(laplacian_pyramid(image).reconstruct(), image, rtol=0, atol=1e-6))
    True
    """
    adopted = adopt(image, "image")
    check_image(adopted)
    layout = Layout.of(tuple(adopted.shape), levels)
    burt = implementation(PACKAGE, backend, adopted)
    data = gaussian_levels(adopted, layout, burt)
    if layout.size:
        # Finest first: each level is overwritten after the one below has used it.
        for fine, coarse in pairwise(layout.stacks(data)):
            burt.add_expanded(coarse, fine, -1.0)
    return LaplacianPyramid(give_back(data, image), layout)
