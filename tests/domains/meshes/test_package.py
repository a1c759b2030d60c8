"""The package itself: light to import, and its examples are true."""

from __future__ import annotations

import doctest
import subprocess
import sys

import pytest

from hra.domains import meshes
from hra.domains.meshes import allocator


def test_importing_needs_no_optional_package() -> None:
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['trimesh', 'meshoptimizer', 'scipy', 'PIL', 'torch']));"
        "import hra.domains.meshes"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("module", [meshes, allocator], ids=lambda module: module.__name__)
def test_the_examples_in_docstrings_are_true(module) -> None:
    result = doctest.testmod(module)
    assert result.attempted
    assert not result.failed
