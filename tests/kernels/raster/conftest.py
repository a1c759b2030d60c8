"""One OpenGL context for all tests of this folder, which all need one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from hra.kernels import raster


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder: the marker says what happens without OpenGL."""
    here = f"{Path(__file__).parent}{os.sep}"
    for item in items:
        if str(item.path).startswith(here):
            item.add_marker(pytest.mark.gl)


@pytest.fixture(scope="module")
def context(_session_context: object) -> Iterator[raster.Context]:
    """The context of a module's tests; asks for the session's first, which skips or fails where there is no OpenGL."""
    with raster.Context() as made:
        yield made
