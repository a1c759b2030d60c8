"""What tests of models share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture
def without_gradients() -> Iterator[None]:
    """For tests that only read what models answer."""
    torch = pytest.importorskip("torch")
    with torch.no_grad():
        yield
