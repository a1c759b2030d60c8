"""One OpenGL context for all tests of this folder, which all need one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hra.kernels import raster


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder: the marker says what happens without OpenGL."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.gl)


@pytest.fixture(scope="module")
def context(_session_context: object) -> Iterator[raster.Context]:
    """The context of a module's tests; asks for the session's first, which skips or fails where there is no OpenGL."""
    with raster.Context() as made:
        yield made
