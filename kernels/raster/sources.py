"""The shaders' source texts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files

from hra.kernels.raster.opening import VERSION

_INCLUDE = re.compile(r'^#include "(.+)"$', re.MULTILINE)


def shader_source(name: str, constants: Mapping[str, int]) -> str:
    """The file ``name`` of the folder shaders, with its includes and with ``constants`` as macros."""
    defines = "".join(f"#define {constant} {value}\n" for constant, value in constants.items())
    text = _INCLUDE.sub(lambda found: _read(found[1]), _read(name))
    return f"#version {VERSION} core\n{defines}{text}"


def _read(name: str) -> str:
    return files("hra.kernels.raster").joinpath("shaders", name).read_text("utf-8")
