"""The Gaussian and the Laplacian pyramid: blurred copies of half the size, and what each adds to the next coarser one.

The blur is a 5 x 5 binomial, of which every second pixel is taken (Burt and Adelson 1983).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from hra.kernels.backends import adopt, check_image, give_back, implementation
from hra.kernels.pyramids.levels.pyramid import Layout, Pyramid

# The module per backend that implements both steps of Burt and Adelson, REDUCE and EXPAND.
PACKAGE = "hra.kernels.pyramids.burt"
_OFFERED = ("numba", "warp", "reference", "gl")


def gaussian_pyramid(image: Any, levels: int | None = None, backend: str = "auto") -> Pyramid:
    """Blur and halve an image again and again, each level ceil(n / 2) pixels high and wide, down to a single pixel.

    Pixel ``i`` of a level lies on pixel ``2i`` of the finer one and is the mean of pixels ``2i - 2`` to ``2i + 2``
    weighted 1, 4, 6, 4, 1 along each axis. Beyond the border the image is mirrored about its outermost pixels
    (... 2 1 0 1 2 ...). OpenCV's ``pyrDown`` computes the same.

    Parameters
    ----------
    image : [..., H, W, C] float32, float16 or uint8; the last three axes are height, width, channels, the others a
        batch. Any kind of array that :func:`build_pyramid` takes; it is copied. Bytes stay in 0 to 255.
    levels : largest number of levels, level 0 (the image) included; None goes down to 1 x 1.
    backend : "auto", "reference", "numba", "warp" or "gl".

    Returns
    -------
    Pyramid : float32, of the same kind of array and on the same device as the image. Backends agree within 1e-6 of the
        largest value.

    Raises
    ------
    ArrayError : no array, fewer than three axes, or another dtype.
    HraError : ``levels`` below 1.
    BackendUnavailable : the backend is missing, cannot read the device, or has no Gaussian pyramid.

    Notes
    -----
    Burt and Adelson, The Laplacian Pyramid as a Compact Image Code, IEEE Transactions on Communications 31(4), 1983,
    with their parameter a = 3/8.

    Examples
    --------
    >>> import numpy as np
    >>> gaussian_pyramid(np.ones((480, 640, 3), np.float32), levels=3).shapes
    ((480, 640, 3), (240, 320, 3), (120, 160, 3))
    """
    adopted = adopt(image, "image")
    check_image(adopted)
    layout = Layout.of(tuple(adopted.shape), levels)
    data = gaussian_levels(adopted, layout, implementation(PACKAGE, backend, adopted, _OFFERED))
    return Pyramid(give_back(data, image), layout, "gaussian")


def gaussian_levels(image: Any, layout: Layout, burt: Any) -> Any:
    """The flat buffer of all levels, float32, computed by the module ``burt``."""
    data = burt.place(image, layout)
    if layout.size:
        for source, target in pairwise(layout.stacks(data)):
            burt.reduce_level(source, target)
    return data


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
        burt = implementation(PACKAGE, backend, data, _OFFERED)
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
    burt = implementation(PACKAGE, backend, adopted, _OFFERED)
    data = gaussian_levels(adopted, layout, burt)
    if layout.size:
        # Finest first: each level is overwritten after the one below has used it.
        for fine, coarse in pairwise(layout.stacks(data)):
            burt.add_expanded(coarse, fine, -1.0)
    return LaplacianPyramid(give_back(data, image), layout)
