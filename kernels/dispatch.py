"""Finding the implementation of a kernel: packages hold a module per backend, named like those of the pyramids."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from hra.errors import BackendUnavailable
from hra.kernels.arrays import require_host
from hra.kernels.backends import BUILT_IN, backend_name, load_backend

_ALL = ("numba", "warp", "reference")


def implementation(package: str, backend: str, array: Any, offered: tuple[str, ...] = _ALL) -> Any:
    """The module of ``package`` for a backend: ``reference``, ``numba_backend`` or ``warp_backend``.

    Parameters
    ----------
    package : import name.
    backend : "auto" or a name.
    array : adopted; decides the device.
    offered : the backends that the package has, first the fastest on the host.

    Raises
    ------
    BackendUnavailable : the backend is missing, fails at import, cannot read the device, or is not offered (OpenGL and
        those of other packages implement pyramids only).
    """
    name = backend_name(backend, array, offered[0])
    load_backend(name)
    if name not in offered:
        what = f"the backend {name!r} does not implement {package}"
        raise BackendUnavailable(what, where="argument backend", fix=f"one of auto, {', '.join(offered)}")
    if name != "warp":
        require_host(array, name)
    return import_module(f"{package}.{BUILT_IN[name].rpartition('.')[2]}")
