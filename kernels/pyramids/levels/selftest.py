"""Which backends work on this machine, found out by running each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hra import plugins
from hra.errors import HraError
from hra.kernels.backends import BUILT_IN, load_backend, load_warp, refuse_taken
from hra.kernels.pyramids.levels.pyramid import Layout
from hra.kernels.pyramids.levels.reductions import REDUCTIONS


@dataclass(frozen=True)
class BackendStatus:
    """One backend on one device.

    Parameters
    ----------
    name : what to pass as ``backend=``.
    available : whether it loaded and gave the results of the reference.
    reason : why not; empty if available.
    device : "cpu", "cuda:0", ...
    """

    name: str
    available: bool
    reason: str
    device: str


def available_backends() -> list[BackendStatus]:
    """Test every known backend on every device that it has; the first call may compile kernels for some seconds."""
    names = [*BUILT_IN, *sorted(plugins.available("hra.backends").keys() - set(BUILT_IN))]
    return [_status(name, device) for name in names for device in _devices(name)]


def _devices(name: str) -> list[str]:
    try:
        backend = load_backend(name)
        return backend.devices() if hasattr(backend, "devices") else ["cpu"]
    except Exception:  # the status itself will say why
        return ["cpu"]


def _status(name: str, device: str) -> BackendStatus:
    try:
        refuse_taken(name)
        failed = _failures(load_backend(name), device)
    except HraError as error:
        return BackendStatus(name, False, "; ".join(filter(None, (error.what, error.fix))), device)
    except Exception as error:  # whatever a broken driver raises is the answer here
        return BackendStatus(name, False, f"{type(error).__name__}: {error}", device)
    reason = f"wrong result: {', '.join(failed)}" if failed else ""
    return BackendStatus(name, not failed, reason, device)


def _failures(backend: Any, device: str) -> list[str]:
    image = np.linspace(0, 1, 5 * 3, dtype=np.float32).reshape(5, 3, 1)
    rects = np.array([[0, 0, 2, 4], [1, 1, 1, 1], [2, 2, 1, 1]], np.int32)
    reference, layout = load_backend("reference"), Layout.of(image.shape, None)
    failed = []
    # A backend may state that it has only some, or that some stand for all.
    for reduce in getattr(backend, "SELF_TEST", getattr(backend, "REDUCTIONS", REDUCTIONS)):
        expected = reference.build_pyramid(image, layout, reduce)
        data = backend.build_pyramid(_send(image, device), layout, reduce)
        same = np.allclose(_fetch(data), expected, rtol=1e-6, atol=1e-6)
        if same and reduce in ("max", "min"):
            found = backend.rect_reduce(data, layout, _send(rects, device), None, reduce)
            same = np.array_equal(_fetch(found), reference.rect_reduce(expected, layout, rects, None, reduce))
        failed += [] if same else [reduce]
    return failed


def _send(array: np.ndarray, device: str) -> Any:
    return array if device == "cpu" else load_warp().array(array, device=device)


def _fetch(array: Any) -> np.ndarray:
    return array.numpy() if hasattr(array, "numpy") else np.asarray(array)
