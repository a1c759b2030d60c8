"""Every name that a public package exports has a runnable example in its docstring, and what it shows is true."""

from __future__ import annotations

import doctest
import importlib
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import hra
import hra.domains.meshes
import hra.domains.textures
import hra.domains.tokens
import hra.testing

PACKAGES = [hra, hra.testing, hra.domains.textures, hra.domains.meshes, hra.domains.tokens]
NEEDS_GL = {"GLFeedback", "Viewer", "hra.domains.meshes.render"}
NEEDS = {"SoftCut": "torch", "ImageNetRelevance": "torchvision"}


def exported() -> Iterator[Any]:
    """A parameter for each exported name."""
    for package in PACKAGES:
        for name in dir(package):
            if not name.startswith("_"):
                gl = {name, f"{package.__name__}.{name}"} & NEEDS_GL
                marks = [pytest.mark.gl] if gl else []
                yield pytest.param(package, name, id=f"{package.__name__}.{name}", marks=marks)


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


@pytest.mark.parametrize(("package", "name"), exported())
def test_the_name_has_an_example_and_it_is_true(
    package: ModuleType, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    monkeypatch.chdir(tmp_path)
    value, text = documented(package, name)
    examples = doctest.DocTestParser().get_doctest(text, {}, name, inspect.getsourcefile(value), 0)
    runnable = [one for one in examples.examples if not one.options.get(doctest.SKIP)]
    assert runnable, f"{package.__name__}.{name} has no runnable example"
    found = doctest.DocTestFinder().find(value, name, globs={})
    for test in found:
        result = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS).run(test, out=sys.stdout.write)
        assert not result.failed, test.name
