"""Finding the implementation of a kernel that lies in a file of its own beside the backends of the pyramids."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from hra.errors import BackendUnavailable
from hra.kernels.arrays import require_host
from hra.kernels.backends import BUILT_IN, choose_backend

_NAMES = ("reference", "numba", "warp")


def implementation(family: str, backend: str, array: Any) -> Any:
    """The module ``{family}_{name}`` of the backend that `choose_backend` takes for the adopted ``array``.

    Raises
    ------
    BackendUnavailable : the backend is missing, fails at import, cannot read the device, or implements pyramids only
        (OpenGL, those of other packages).
    """
    chosen = choose_backend(backend, array)
    names = [name for name in _NAMES if BUILT_IN[name] == getattr(chosen, "__name__", None)]
    if not names:
        what = f"the backend {backend!r} implements pyramids only"
        raise BackendUnavailable(what, where="argument backend", fix=f"one of auto, {', '.join(_NAMES)}")
    if names[0] != "warp":
        require_host(array, names[0])
    return import_module(f"{family}_{names[0]}")
