"""What importing a package with lazy exports gives, and what it does not load."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import hra.domains.meshes
import hra.domains.textures
import hra.domains.tokens
import hra.residency

PACKAGES = pytest.mark.parametrize(
    "package",
    [hra.domains.meshes, hra.domains.textures, hra.domains.tokens, hra.residency],
    ids=lambda package: package.__name__,
)


@PACKAGES
def test_importing_the_package_loads_nothing_heavy(package: ModuleType) -> None:
    code = f"import sys, {package.__name__}\nprint(*sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not set(printed.split()) & {"numpy", "numba", "networkx", "OpenImageIO", "PIL", "moderngl", "torch", "warp"}


@PACKAGES
def test_every_name_resolves_and_type_checkers_see_it(package: ModuleType) -> None:
    names = set(package.__all__)
    assert all(getattr(package, name) is not None for name in names) and names == set(dir(package))
    source = ast.parse(Path(str(package.__file__)).read_text())
    imports = [node for node in ast.walk(source) if isinstance(node, ast.ImportFrom)]
    others = {"annotations", "TYPE_CHECKING", "lazy_exports"}
    assert names == {alias.name for node in imports for alias in node.names} - others


@PACKAGES
def test_no_name_is_that_of_a_module(package: ModuleType) -> None:
    # Importing hra.residency.judge, say, would replace the function by the module.
    assert [name for name in package.__all__ if importlib.util.find_spec(f"{package.__name__}.{name}")] == []


@PACKAGES
def test_an_unknown_name_is_an_attribute_error(package: ModuleType) -> None:
    with pytest.raises(AttributeError, match="nothing"):
        _ = package.nothing
