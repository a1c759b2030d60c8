"""Where kernels run: on the host, whose arrays are NumPy's, or on a CUDA device, whose arrays are Warp's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.errors import BackendUnavailable
from hra.kernels.backends import load_backend, load_warp


@dataclass(frozen=True)
class Device:
    """A device by the name that Warp and torch give it: "cpu", "cuda:0" ...; "cuda" is the first of those.

    Raises
    ------
    BackendUnavailable : Warp has no such device here.
    """

    name: str = "cpu"

    def __post_init__(self) -> None:
        if self.name == "cuda":
            object.__setattr__(self, "name", "cuda:0")
        if not self.on_host and self.name not in load_backend("warp").devices():
            known = ", ".join(load_backend("warp").devices())
            raise BackendUnavailable(f"there is no device {self.name!r}", where="device", fix=f"one of {known}")

    @property
    def on_host(self) -> bool:
        """Whether arrays lie in the memory of the processor."""
        return self.name == "cpu"

    @property
    def title(self) -> str:
        """The name, and the product's where it is a graphics card."""
        return self.name if self.on_host else f"{self.name} ({load_warp().get_device(self.name).name})"

    def send(self, array: np.ndarray) -> Any:
        """The array on this device; on the host, itself."""
        return array if self.on_host else load_warp().array(array, device=self.name)

    def fetch(self, array: Any) -> np.ndarray:
        """What `send` or a kernel gave, on the host."""
        return array.numpy() if hasattr(array, "numpy") else np.asarray(array)

    def copy(self, target: Any, source: Any) -> None:
        """Copy between two arrays of this device; does not wait for it."""
        if self.on_host:
            np.copyto(target, source)
        else:
            load_warp().copy(target, source)

    def synchronize(self) -> None:
        """Wait until the device is done, whichever library gave it work: Warp and torch share its primary context."""
        if not self.on_host:
            load_warp().synchronize_device(self.name)


HOST = Device()
