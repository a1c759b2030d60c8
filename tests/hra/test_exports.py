"""What `import hra` gives, and what it does not load."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import hra

ROOT = Path(hra.__file__).parent


def printed(code: str) -> str:
    """What ``code`` prints in a fresh interpreter."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def loaded_by(code: str) -> set[str]:
    return set(printed(f"import sys\n{code}\nprint(*sys.modules)").split())


@pytest.mark.parametrize(
    "code", ["import hra", "import hra.errors", "from hra.errors import HraError", "dir(__import__('hra'))"]
)
def test_importing_the_package_or_its_errors_loads_nothing_heavy(code):
    loaded = loaded_by(code)
    assert {name for name in loaded if name.startswith("hra")} <= {
        "hra",
        "hra.errors",
        "hra.forking",
        "hra.lazy_exports",
    }
    assert not loaded & {"numpy", "numba", "networkx", "warp", "scipy", "torch"}


@pytest.mark.parametrize("name", hra.__all__)
def test_every_exported_name_resolves(name):
    assert getattr(hra, name) is not None
    assert name in dir(hra)


@pytest.mark.parametrize("name", [name for name in hra.__all__ if not name.startswith("_")])
def test_an_exported_name_means_the_same_however_often_and_however_it_is_reached(name):
    code = (
        "import importlib, inspect, hra\n"
        f"first = hra.{name}\n"
        f"importlib.import_module(first.__module__)\n"
        f"from hra import {name} as second\n"
        f"print(first is hra.{name} is second, inspect.ismodule(hra.{name}))"
    )
    assert printed(code) == "True False"


def test_no_export_shares_its_name_with_a_module():
    # Importing hra.pool, say, would replace the function hra.pool by the module.
    assert [name for name in hra.__all__ if importlib.util.find_spec(f"hra.{name}")] == []


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nothing"):
        _ = hra.nothing  # pyright: ignore[reportAttributeAccessIssue]


def test_type_checkers_see_every_lazy_name():
    imports = [
        node for node in ast.walk(ast.parse((ROOT / "__init__.py").read_text())) if isinstance(node, ast.ImportFrom)
    ]
    declared = {
        alias.name
        for node in imports
        if node.module and node.module.startswith("hra.") and node.module not in ("hra.forking", "hra.lazy_exports")
        for alias in node.names
    }
    assert declared == set(hra.__all__) - {"__version__"}
