"""``hra doctor``: what this machine can run."""

from __future__ import annotations

import platform
import re
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Any

from hra import __version__
from hra.cli import groups
from hra.console import JsonOption, running, show, write_json
from hra.errors import HraError
from hra.plugins import GROUPS, available, failures

# A requirement as a package's metadata have it: its name, its own extras, and the extra that asks for it.
_REQUIREMENT = re.compile(r"([\w.-]+)(?:\[([\w,-]+)\])?[^;]*(?:;.*extra == ['\"]([\w-]+)['\"])?")
_MISSING = "not installed"
_FOR_DEVELOPERS = {"all", "docs", "fuzz", "test"}


def doctor(json_file: JsonOption = None) -> None:
    """Show versions, devices and backends, each backend checked by a small computation."""
    with running("checking backends"):
        record = report()
    write_json(json_file, record)
    for title, section in record.items():
        show(title, section.items() or [("none", "")])


def report() -> dict[str, dict[str, Any]]:
    """Versions, backends and OpenGL of this machine as plain data."""
    extras = packages_by_extra()
    versions = {name: _version(name) for name in sorted(set().union(*extras.values()))}
    return {
        "system": {"hra": __version__, "python": platform.python_version(), "platform": platform.platform()},
        "packages": versions,
        "extras": {extra: _whole(extra, packages, versions) for extra, packages in sorted(extras.items()) if extra},
        "backends": _backends(),
        "opengl": _opengl(),
        "plug-ins": {group: ", ".join(sorted(available(group))) or "none" for group in GROUPS},
        "plug-ins that do not load": _broken(),
    }


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
