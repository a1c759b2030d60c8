"""What importing a package with lazy exports gives, and what it does not load."""

from __future__ import annotations

import importlib.util
import inspect
import subprocess
import sys
from types import ModuleType

import pytest

import hra
import hra.camera
import hra.domains.meshes
import hra.domains.textures
import hra.domains.tokens
import hra.files.images
import hra.kernels
import hra.residency

LAZY = [
    hra,
    hra.camera,
    hra.domains.meshes,
    hra.domains.textures,
    hra.domains.tokens,
    hra.files.images,
    hra.kernels,
    hra.residency,
]
PACKAGES = pytest.mark.parametrize("package", LAZY, ids=lambda package: package.__name__)
HEAVY = {"numpy", "numba", "networkx", "OpenImageIO", "PIL", "moderngl", "scipy", "torch", "warp"}


def printed(code: str) -> str:
    """What ``code`` prints in a fresh interpreter."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


@PACKAGES
def test_importing_the_package_loads_nothing_heavy(package: ModuleType) -> None:
    assert not set(printed(f"import sys, {package.__name__}\nprint(*sys.modules)").split()) & HEAVY


def test_the_list_of_commands_loads_nothing_heavy() -> None:
    code = "import atexit, sys; from hra.cli import main\natexit.register(lambda: print('\\n', *sys.modules))\n"
    said = printed(f"{code}sys.argv = ['hra', '--help']; main()")
    assert "hra.cli.doctor" in said.splitlines()[-1].split()
    assert not set(said.splitlines()[-1].split()) & HEAVY


def test_commands_tell_threads_that_wait_to_sleep_before_numpy_is_imported(monkeypatch) -> None:
    monkeypatch.delenv("OPENBLAS_THREAD_TIMEOUT", raising=False)
    monkeypatch.setenv("OMP_WAIT_POLICY", "ACTIVE")  # what the user says stays
    code = (
        "import os, sys; from hra.cli import main\n"
        "class See:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'numpy': print('seen', *map(os.getenv, ['OPENBLAS_THREAD_TIMEOUT', 'OMP_WAIT_POLICY']))\n"
    )
    said = printed(f"{code}sys.meta_path.insert(0, See()); sys.argv = ['hra', 'doctor']; main()")
    assert "seen 4 ACTIVE" in said.splitlines()


def test_no_garbage_is_searched_for_while_a_command_is_imported() -> None:
    """Searches took a thirtieth of short commands, and found next to nothing."""
    code = (
        "import gc, sys; from hra.cli import main\n"
        "searches = []; gc.callbacks.append(lambda *what: searches.append(what))\n"
        "sys.argv = 'hra mesh lods none.glb -o none --ratios .5'.split()\n"
        "try: main()\n"
        "except SystemExit: import hra.domains.meshes.lods.scene_lod\n"
        "print(len(searches))"
    )
    assert printed(code) == "0"


@PACKAGES
def test_every_name_of_the_stub_resolves(package: ModuleType) -> None:
    assert len(dir(package)) > 2
    assert all(getattr(package, name) is not None for name in dir(package))


@PACKAGES
def test_no_name_is_that_of_a_module(package: ModuleType) -> None:
    # Importing hra.residency.evaluate, say, would replace the function by the module.
    others = [name for name in dir(package) if not isinstance(getattr(package, name), ModuleType)]
    assert [name for name in others if importlib.util.find_spec(f"{package.__name__}.{name}")] == []


@pytest.fixture(scope="module")
def changing() -> list[str]:
    """Names that mean something else at another time, in a process that begins each package anew."""
    code = (
        "import importlib, sys\n"
        f"for path in {[package.__name__ for package in LAZY]}:\n"
        "    for one in [each for each in sys.modules if each.partition('.')[0] == 'hra']:\n"
        "        del sys.modules[one]\n"
        "    package = importlib.import_module(path)\n"
        "    for name in dir(package):\n"
        "        first = getattr(package, name)\n"
        "        importlib.import_module(getattr(first, '__module__', 'hra'))\n"
        "        exec(f'from {path} import {name} as second')\n"
        "        if not (first is getattr(package, name) is second):\n"
        "            print(path, name)\n"
    )
    return printed(code).splitlines()


@PACKAGES
def test_a_name_means_the_same_however_often_and_however_it_is_reached(
    package: ModuleType, changing: list[str]
) -> None:
    assert [line for line in changing if line.split()[0] == package.__name__] == []


@PACKAGES
def test_only_the_samples_are_a_module(package: ModuleType) -> None:
    modules = [name for name in dir(package) if inspect.ismodule(getattr(package, name))]
    assert modules == (["samples"] if package is hra else [])


@PACKAGES
def test_an_unknown_name_is_an_attribute_error(package: ModuleType) -> None:
    with pytest.raises(AttributeError, match="nothing"):
        _ = package.nothing
