"""Every name that a public package exports has a runnable example in its docstring, and what it shows is true."""

from __future__ import annotations

import doctest
import importlib
import inspect
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import hra
import hra.domains.meshes
import hra.domains.points
import hra.domains.textures
import hra.domains.tiles
import hra.domains.tokens
import hra.files.ply
import hra.integrations.transformers
import hra.testing

PACKAGES = [hra, hra.testing, hra.domains.textures, hra.domains.meshes, hra.domains.tokens]
PACKAGES += [hra.domains.points, hra.domains.tiles, hra.files.ply]
PACKAGES += [hra.integrations.transformers]
NEEDS_GL = {f"hra.domains.{name}" for name in ("textures.GLFeedback", "meshes.Viewer", "meshes.render")}
NEEDS_GL |= {f"hra.domains.meshes.{name}" for name in ("FlightFrame", "Renderer", "ViewFrame", "ViewSession", "fly")}
NEEDS = {"SoftCut": "torch", "ImageNetRelevance": "efficientnet_lite_pytorch"}


def exported() -> list[Any]:
    """A parameter for each exported name."""
    names = [(package, name) for package in PACKAGES for name in dir(package) if not name.startswith("_")]
    return [pytest.param(*one, id=".".join((one[0].__name__, one[1])), marks=marks_of(*one)) for one in names]


def marks_of(package: ModuleType, name: str) -> list[pytest.MarkDecorator]:
    """What pytest has to know of the example of a name."""
    full = f"{package.__name__}.{name}"
    return [pytest.mark.gl] * (full in NEEDS_GL)


def documented(package: ModuleType, name: str) -> tuple[Any, str]:
    """What the name's documentation stands on, and the documentation: values are described by their type or module."""
    value = getattr(package, name)
    if inspect.ismodule(value) or inspect.isroutine(value) or inspect.isclass(value):
        return value, inspect.getdoc(value) or ""
    if type(value).__module__.startswith("hra"):
        return type(value), inspect.getdoc(type(value)) or ""
    module = defining_module(package, name)
    return module, inspect.getdoc(module) or ""


def defining_module(package: ModuleType, name: str) -> ModuleType:
    """The module that the package's stub names as the source of ``name``."""
    lines = Path(str(package.__file__)).with_name("__init__.pyi").read_text("utf-8").splitlines()
    (path,) = [line.split()[1] for line in lines if line.endswith(f" as {name}")]
    return importlib.import_module(path, package.__name__)


@pytest.fixture(scope="session")
def build_once() -> Any:
    """`meshes.build` that builds each file once: many examples begin with the skull."""
    return cache(hra.domains.meshes.build)


@pytest.mark.parametrize(("package", "name"), exported())
def test_the_name_has_an_example_and_it_is_true(
    package: ModuleType, name: str, build_once: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    monkeypatch.chdir(tmp_path)
    value, text = documented(package, name)
    examples = doctest.DocTestParser().get_doctest(text, {}, name, inspect.getsourcefile(value), 0)
    runnable = [one for one in examples.examples if not one.options.get(doctest.SKIP)]
    assert runnable, f"{package.__name__}.{name} has no runnable example"
    if name != "build":
        monkeypatch.setattr(hra.domains.meshes, "build", build_once)
    found = doctest.DocTestFinder().find(value, name, globs={})
    for test in found:
        result = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS).run(test, out=sys.stdout.write)
        assert not result.failed, test.name


def others() -> list[Any]:
    """The modules with examples that belong to no exported name."""
    root = Path(str(hra.__file__)).parent
    covered = {getattr(documented(*one.values)[0], "__module__", "") for one in exported()}
    found = []
    for package in ("", "domains", "kernels"):
        for path in sorted((root / package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            name = ".".join(("hra", *parts)).removesuffix(".__init__")
            if ">>> " in path.read_text("utf-8") and name not in covered:
                found.append(pytest.param(name, marks=[pytest.mark.gl] if "raster" in name else []))
    return found


@pytest.mark.parametrize("module", others())
def test_all_other_examples_are_true(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = doctest.testmod(importlib.import_module(module))
    assert result.attempted and not result.failed
