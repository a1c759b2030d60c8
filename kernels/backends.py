"""Finding a backend by name: the four built in, and third-party ones from the entry point group ``hra.backends``.

"auto" is numba on the host, which beats Warp's CPU code by far, and warp on a CUDA device; docs/kernels.md has times.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Protocol

from hra.errors import BackendUnavailable
from hra.kernels.arrays import on_host
from hra.kernels.pyramids.levels.layout import Layout
from hra.kernels.pyramids.levels.reductions import Reduce

BUILT_IN = {
    "reference": "hra.kernels.pyramids.levels.reference",
    "numba": "hra.kernels.pyramids.levels.numba_backend",
    "warp": "hra.kernels.pyramids.levels.warp_backend",
    "gl": "hra.kernels.pyramids.levels.gl_backend",
}


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

        With ``against`` [K], any value that is on the same side of it as the extremum ``FINER`` levels below.
        """
        ...


def load_backend(name: str) -> Any:
    """The backend called ``name``, imported on first use; raises :class:`BackendUnavailable` with the reason."""
    try:
        if name in BUILT_IN:
            return import_module(BUILT_IN[name])
        found = list(entry_points(group="hra.backends", name=name))
        if found:
            return found[0].load()
    except Exception as error:  # a broken driver or library may raise anything at import
        reason = f"the backend {name!r} cannot be loaded: {type(error).__name__}: {error}"
        raise BackendUnavailable(reason, where="argument backend", fix="use backend='auto'") from error
    known = ", ".join(["auto", *BUILT_IN])
    raise BackendUnavailable(f"there is no backend {name!r}", where="argument backend", fix=f"one of {known}")


def choose_backend(name: str, array: Any) -> Any:
    """The backend called ``name``; "auto" is the fastest one that loads for the device of the adopted ``array``."""
    return load_backend(backend_name(name, array))


def backend_name(name: str, array: Any, fastest: str = "numba") -> str:
    """The name itself, or for "auto": warp on a CUDA device, and on the host the ``fastest`` or else the reference."""
    if name != "auto":
        return name
    if not on_host(array):
        return "warp"
    try:
        load_backend(fastest)
    except BackendUnavailable:
        return "reference"
    return fastest
