"""``hra doctor``: what this machine can run."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from hra import __version__
from hra.cli import groups
from hra.console import JsonOption, running, show, write_json
from hra.errors import HraError
from hra.plugins import GROUPS, available, failures

_PACKAGES = ("numpy", "numba", "meshoptimizer", "pillow", "scipy", "matplotlib")
_OPTIONAL = ("imgui-bundle", "moderngl", "networkx", "pyvista", "scikit-image", "torch", "trimesh", "warp-lang")


def doctor(json_file: JsonOption = None) -> None:
    """Show versions, devices and backends, each backend checked by a small computation."""
    with running("checking backends"):
        record = report()
    write_json(json_file, record)
    for title, section in record.items():
        show(title, section.items() or [("none", "")])


def report() -> dict[str, dict[str, Any]]:
    """Versions, backends and OpenGL of this machine as plain data."""
    return {
        "system": {"hra": __version__, "python": platform.python_version(), "platform": platform.platform()},
        "packages": {name: _version(name) for name in (*_PACKAGES, *_OPTIONAL)},
        "backends": _backends(),
        "opengl": _opengl(),
        "plug-ins": {group: ", ".join(sorted(available(group))) or "none" for group in GROUPS},
        "plug-ins that do not load": _broken(),
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


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
