"""``hra doctor``: what this machine can run."""

from __future__ import annotations

import platform
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, requires, version
from time import perf_counter, process_time
from typing import Annotated, Any

import typer

from hra import __version__
from hra.cli import groups
from hra.console import JsonOption, running, show, write_json
from hra.errors import HraError
from hra.plugins import GROUPS, available, failures

# A requirement as a package's metadata have it: its name, its own extras, and the extra that asks for it.
_REQUIREMENT = re.compile(r"([\w.-]+)(?:\[([\w,-]+)\])?[^;]*(?:;.*extra == ['\"]([\w-]+)['\"])?")
_MISSING = "not installed"
_FOR_DEVELOPERS = {"all", "docs", "fuzz", "test"}


GpuOption = Annotated[
    bool, typer.Option("--gpu", help="Run every kernel on the GPU (or the host without one) and time it instead.")
]


def doctor(json_file: JsonOption = None, gpu: GpuOption = False) -> None:
    """Show versions, devices and backends, each backend checked by a small computation."""
    with running("running every kernel" if gpu else "checking backends"):
        record = gpu_report() if gpu else report()
    write_json(json_file, record)
    for title, section in record.items():
        show(title, section.items() or [("none", "")])


def report() -> dict[str, dict[str, Any]]:
    """Versions, backends and OpenGL of this machine as plain data."""
    from hra.compiling import shipped_code

    extras = packages_by_extra()
    versions = {name: _version(name) for name in sorted(set().union(*extras.values()))}
    return {
        "system": {
            "hra": __version__,
            "python": platform.python_version(),
            "platform": platform.platform(),
            "compiled code in the package": shipped_code(),
        },
        "packages": versions,
        "extras": {extra: _whole(extra, packages, versions) for extra, packages in sorted(extras.items()) if extra},
        "backends": _backends(),
        "opengl": _opengl(),
        "plug-ins": {group: ", ".join(sorted(available(group))) or "none" for group in GROUPS},
        "plug-ins that do not load": _broken(),
    }


def gpu_report() -> dict[str, dict[str, Any]]:
    """What every kernel gives on Warp's first CUDA device, or on the host, and OpenGL; and times."""
    begin = perf_counter(), process_time()
    device, title, driver = _warp_device()
    cells = _kernel_cells(device)
    states = Counter(cell["state"] for cell in cells.values())
    times = _gpu_times(device)
    return {
        "device": {"name": device, "product": title, "driver": driver, "warp": _version("warp-lang")},
        "opengl": _opengl(),
        "kernels": {name: cell for name, cell in cells.items() if cell["state"] != "refused"},
        "refused": {name: cell["reason"] for name, cell in cells.items() if cell["state"] == "refused"},
        "seconds": times,
        "summary": dict(states)
        | {"seconds": perf_counter() - begin[0], "processor seconds": process_time() - begin[1]},
    }


def _warp_device() -> tuple[str, str, str]:
    """Name, product and driver of Warp's first CUDA device, or of the host."""
    from hra.kernels.backends import load_warp

    try:
        wp = load_warp()
        names = [str(device) for device in wp.get_devices() if device.is_cuda]
        if names:
            return names[0], wp.get_device(names[0]).name, ".".join(map(str, wp.get_cuda_driver_version() or ()))
    except HraError as error:
        return "cpu", f"the host alone: {error.what}", "none"
    return "cpu", platform.processor() or platform.machine(), "none"


def _kernel_cells(device: str) -> dict[str, dict[str, Any]]:
    """What each kernel does on a device and by OpenGL: its state, and the reason where it gives none."""
    import numpy as np

    from hra.kernels.operations import OPERATIONS, Input, run_cell

    image = np.random.default_rng(0).random((2, 61, 90, 3), np.float32)
    cells: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        for backend, place in (("warp", device), ("gl", "cpu")):
            try:
                cell = asdict(run_cell(operation, Input(image, place), backend))
            except Exception as error:  # whatever a broken driver raises is the answer here
                cell = {"state": "failed", "reason": f"{type(error).__name__}: {error}"}
            cells[f"{operation.name} ({backend})"] = cell
    return cells


def _gpu_times(device: str) -> dict[str, Any]:
    """Seconds, the best of five, of pyramids and look-ups beside torch's, and of a copy."""
    import numpy as np

    from hra.kernels import build_pyramid, sample
    from hra.kernels.backends import load_warp

    on_host = device == "cpu"
    # A host shows no more with many pixels, and takes long for them.
    side, count = (1024, 10**5) if on_host else (2048, 10**6)
    image = np.random.default_rng(0).random((side, side, 4), np.float32)
    places, levels = np.random.default_rng(1).random((count, 2), np.float32), np.zeros(count, np.float32)
    sent = [array if on_host else load_warp().array(array, device=device) for array in (image, side * places, levels)]
    wait = (lambda: None) if on_host else (lambda: load_warp().synchronize_device(device))
    pyramid = build_pyramid(sent[0])
    times: dict[str, Any] = {
        "pixels": f"{side} x {side} x 4 float32",
        "build_pyramid mean": _best(lambda: build_pyramid(sent[0]), wait),
        f"sample, {count:,} points": _best(lambda: sample(pyramid, sent[1], sent[2]), wait),
    }
    try:
        import torch
    except ImportError:
        return times | {"torch": _MISSING}
    if not on_host and not torch.cuda.is_available():
        return times | {"torch": "cannot use CUDA"}
    pixels = torch.as_tensor(image, device=device).permute(2, 0, 1)[None].contiguous()
    grid = torch.as_tensor(2 * places[None, None] - 1, device=device)
    look_up = torch.nn.functional.grid_sample

    def pool() -> None:
        level = pixels
        while level.shape[-1] > 1:
            level = torch.nn.functional.avg_pool2d(level, 2)

    copy = _best(pixels.clone, wait)
    return times | {
        "torch avg_pool2d": _best(pool, wait),
        f"torch grid_sample, {count:,} points": _best(lambda: look_up(pixels, grid, align_corners=False), wait),
        "torch clone": copy,
        "copy bandwidth, GB/s": 2e-9 * image.nbytes / copy,
    }


def _best(call: Callable[[], Any], wait: Callable[[], Any]) -> float:
    times = []
    for _ in range(6):
        begin = perf_counter()
        call()
        wait()
        times.append(perf_counter() - begin)
    return min(times[1:])


def packages_by_extra() -> dict[str, set[str]]:
    """Packages that each extra brings, those of extras within it included; under "" what hra always needs."""
    found = [match.groups() for line in requires("hra") or () if (match := _REQUIREMENT.match(line))]
    direct = {extra or "" for _, _, extra in found} - _FOR_DEVELOPERS
    within = {
        one: [names.split(",") for name, names, extra in found if name == "hra" and extra == one] for one in direct
    }

    def packages(one: str) -> set[str]:
        own = {name for name, _, extra in found if (extra or "") == one and name != "hra"}
        return own.union(*(packages(name) for names in within[one] for name in names))

    return {one: packages(one) for one in direct}


def _whole(extra: str, packages: set[str], versions: dict[str, str]) -> str:
    missing = sorted(name for name in packages if versions[name] == _MISSING)
    return f"lacks {', '.join(missing)}: pip install 'hra[{extra}]'" if missing else "installed"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return _MISSING


def _broken() -> dict[str, str]:
    """What hra and other packages register and cannot be used: why, and what to do. All of it is imported."""
    found = {group: groups.failures() if group == "hra.commands" else failures(group) for group in GROUPS}
    return {
        f"{group}: {name}": "; ".join(filter(None, (error.what, error.fix)))
        for group, errors in found.items()
        for name, error in errors.items()
    }


def _backends() -> dict[str, str]:
    from hra.kernels import available_backends

    return {
        f"{status.name} ({status.device})": "ok" if status.available else f"unavailable: {status.reason}"
        for status in available_backends()
    }


def _opengl() -> dict[str, str]:
    """Renderer of a context without a window, or why there is none: OpenGL is never needed."""
    from hra.kernels import raster

    try:
        with raster.Context() as context:
            return {"context": "ok", "renderer": context.renderer, "version": context.version}
    except HraError as error:
        return {"context": f"unavailable: {error.what}", "fix": error.fix}
