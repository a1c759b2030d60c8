"""What a backend offers: the two operations that every one of them implements, ours and those of other packages."""

from __future__ import annotations

from typing import Any, Protocol

from hra.kernels.pyramids.levels.pyramid import Layout
from hra.kernels.pyramids.levels.reductions import Reduce


class Backend(Protocol):
    """What a backend implements; arguments are checked already.

    Arrays are ``numpy.ndarray`` on the host and ``warp.array`` on a CUDA device, possibly with strides.
    """

    def build_pyramid(self, image: Any, layout: Layout, reduce: Reduce, data: Any | None = None) -> Any:
        """The flat buffer [layout.size] of all levels of ``image``, on the image's device.

        It is ``data`` where that is given. An ``image`` that is its level 0 is there already (`layout.holds`).
        """
        ...

    def rect_reduce(
        self, data: Any, layout: Layout, rects: Any, batch_index: Any | None, reduce: Reduce, against: Any | None = None
    ) -> Any:
        """The conservative extremum [K] within each rectangle; ``batch_index`` None is image 0 for all.

        With ``against`` [K], ``against`` where the extremum ``FINER`` levels below is not beyond it (NaN is not), else
        the `identity`.
        """
        ...
