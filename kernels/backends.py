"""Finding a backend by name: the four built in, and third-party ones from the entry point group ``hra.backends``.

Every package of kernels holds a module per backend: ``reference``, ``numba_backend`` and ``warp_backend``. Those of
`hra.kernels.pyramids.levels` are *the* backends: whether one can be used at all is found out by importing it, and only
pyramids have one for OpenGL or of another package.

"auto" is numba on the host, which beats Warp's CPU code by far, and warp on a CUDA device; docs/kernels.md has times.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

import numpy as np

from hra.errors import BackendUnavailable
from hra.kernels.arrays import require_host

_ALL = ("numba", "warp", "reference")
_HOST_ONLY = ("numba", "reference", "gl")

BUILT_IN = {
    "reference": "hra.kernels.pyramids.levels.reference",
    "numba": "hra.kernels.pyramids.levels.numba_backend",
    "warp": "hra.kernels.pyramids.levels.warp_backend",
    "gl": "hra.kernels.pyramids.levels.gl_backend",
}


def load_backend(name: str) -> Any:
    """The backend called ``name``, imported on first use; raises :class:`BackendUnavailable` with the reason."""
    try:
        if name in BUILT_IN:
            return import_module(BUILT_IN[name])
        found = list(entry_points(group="hra.backends", name=name))
        if found:
            return found[0].load()
    except BackendUnavailable:
        raise
    except Exception as error:  # a broken driver or library may raise anything at import
        reason = f"the backend {name!r} cannot be loaded: {type(error).__name__}: {error}"
        raise BackendUnavailable(reason, where="argument backend", fix="use backend='auto'") from error
    known = ", ".join(["auto", *BUILT_IN])
    raise BackendUnavailable(f"the backend {name!r} is unknown", where="argument backend", fix=f"one of {known}")


def choose_backend(name: str, array: Any) -> Any:
    """The backend called ``name``; "auto" is the fastest one that loads for the device of the adopted ``array``.

    Raises
    ------
    BackendUnavailable : the backend is missing, fails at import, or is one of ours that cannot read the device.
    """
    name = backend_name(name, array)
    backend = load_backend(name)
    if name in _HOST_ONLY and not isinstance(array, np.ndarray):
        require_host(array, name)
    return backend


def backend_name(name: str, array: Any, fastest: str = "numba") -> str:
    """The name itself, or for "auto": warp on a CUDA device, and on the host the ``fastest`` or else the reference."""
    if name != "auto":
        return name
    if not isinstance(array, np.ndarray):
        return "warp"
    try:
        load_backend(fastest)
    except BackendUnavailable:
        return "reference"
    return fastest


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
