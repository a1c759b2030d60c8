"""Old import names of packages."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from hra.files.images import as_image
from hra.moved import NAMES, PACKAGES


@pytest.mark.parametrize(("old", "new"), PACKAGES.items())
def test_an_old_name_gives_what_stands_at_the_new_place_and_warns(old: str, new: str) -> None:
    sys.modules.pop(old, None)
    with pytest.warns(DeprecationWarning, match=f"{old} is {new} now"):
        module = importlib.import_module(old)
    real = importlib.import_module(new)
    assert set(dir(module)) >= set(real.__all__) and real.__all__
    assert all(getattr(module, name) is getattr(real, name) for name in real.__all__)


@pytest.mark.parametrize(("package", "old"), [(package, old) for package, names in NAMES.items() for old in names])
def test_an_old_name_in_a_package_gives_the_new_one_and_warns(package: str, old: str) -> None:
    module, new = importlib.import_module(package), NAMES[package][old]
    with pytest.warns(DeprecationWarning, match=f"{package}.{old} is {package}.{new} now"):
        found = getattr(module, old)
    assert found is getattr(module, new)
    assert old not in module.__all__ and new in module.__all__


def test_what_a_package_never_had_is_not_found_either() -> None:
    with pytest.raises(AttributeError):
        _ = importlib.import_module("hra.residency").never


def test_modules_below_an_old_name_are_found() -> None:
    sys.modules.pop("hra.images.arrays", None)
    with pytest.warns(DeprecationWarning, match=r"hra\.images\.arrays is hra\.files\.images\.arrays now"):
        module = importlib.import_module("hra.images.arrays")
    assert module.as_image is as_image


def test_importing_by_name_warns_where_the_import_stands() -> None:
    code = "from hra.images import load_image\n"
    done = subprocess.run([sys.executable, "-W", "always", "-c", code], capture_output=True, text=True, check=True)
    assert "DeprecationWarning: hra.images is hra.files.images now" in done.stderr


def test_what_never_existed_is_not_found() -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("hra.pictures")
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("hra.images.nothing")
